"""lightning: a module fitted by a Trainer, with callbacks, a schedule and a checkpoint."""

NEEDS = [
    "lightning==2.6.6",
    "pytorch-lightning==2.6.6",
    "lightning-utilities==0.15.3",
    "torchmetrics==1.9.0",
    "tqdm==4.70.1",
    "pyyaml==6.0.3",
    "fsspec==2026.9.0",
    "packaging==26.3",
    "typing_extensions==4.16.0",
]
RTOL = 2e-3


def main():
    import logging
    import tempfile

    import lightning
    import torch
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
    from torch import nn

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Classifier(lightning.LightningModule):
        def __init__(self, width=16, rate=1e-2):
            super().__init__()
            self.save_hyperparameters()
            self.net = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 3))
            self.losses = []

        def training_step(self, batch, index):
            loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
            self.losses.append(loss.item())
            self.log("loss", loss)
            return loss

        def validation_step(self, batch, index):
            self.log("val_loss", nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

        def configure_optimizers(self):
            optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.rate)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.7)]

    lightning.seed_everything(0, verbose=False)
    data = torch.utils.data.TensorDataset(torch.randn(64, 6), torch.randint(0, 3, (64,)))
    loader = torch.utils.data.DataLoader(data, batch_size=16)
    module = Classifier()
    with tempfile.TemporaryDirectory() as folder:
        saved = ModelCheckpoint(folder, monitor="val_loss")
        trainer = lightning.Trainer(
            max_epochs=3, accelerator="cpu", logger=False, enable_progress_bar=False,
            enable_model_summary=False, default_root_dir=folder, gradient_clip_val=1.0,
            accumulate_grad_batches=2, callbacks=[saved, EarlyStopping("val_loss")],
        )  # fmt: skip
        trainer.fit(module, loader, loader)
        again = Classifier.load_from_checkpoint(saved.best_model_path)
        kept = [p.norm() for p in again.parameters()]
        (told,) = trainer.validate(module, loader, verbose=False)
    return {"losses": module.losses, "validation": told["val_loss"], "kept": kept}
