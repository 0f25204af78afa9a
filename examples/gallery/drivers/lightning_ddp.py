"""lightning: `strategy="ddp"` in two processes, with a synchronised log, metric and checkpoint."""

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
    "mpi4py",
    "mpich",
]
RANKS = 2
RTOL = 1e-6


def main():
    import logging
    import os
    import tempfile

    import lightning
    import torch
    import torchmetrics
    from lightning.pytorch.callbacks import ModelCheckpoint
    from torch import nn

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Classifier(lightning.LightningModule):
        def __init__(self, width=16, rate=1e-2):
            super().__init__()
            self.save_hyperparameters()
            # No bias: before a normalisation its gradient is but rounding, which AdamW enlarges.
            first = nn.Linear(6, width, bias=False)
            self.net = nn.Sequential(first, nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 3))
            self.right = torchmetrics.Accuracy(task="multiclass", num_classes=3)
            self.losses, self.told = [], []

        def training_step(self, batch, index):
            loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
            self.losses.append(loss.item())
            self.log("loss", loss, sync_dist=True)
            return loss

        def validation_step(self, batch, index):
            scores = self.net(batch[0])
            self.right.update(scores, batch[1])
            loss = nn.functional.cross_entropy(scores, batch[1])
            self.log("val_loss", loss, sync_dist=True)

        def on_validation_epoch_end(self):
            self.told.append(self.right.compute())
            self.right.reset()

        def configure_optimizers(self):
            optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.rate)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.7)]

    lightning.seed_everything(0, verbose=False)
    data = torch.utils.data.TensorDataset(torch.randn(96, 6), torch.randint(0, 3, (96,)))
    held = torch.utils.data.TensorDataset(torch.randn(40, 6), torch.randint(0, 3, (40,)))
    module = Classifier()
    with tempfile.TemporaryDirectory() as own:
        saved = ModelCheckpoint(os.path.join(own, "kept"), monitor="val_loss")
        trainer = lightning.Trainer(
            max_epochs=3, accelerator="cpu", devices=2, strategy="ddp", sync_batchnorm=False,
            logger=False, enable_progress_bar=False, enable_model_summary=False,
            default_root_dir=own, gradient_clip_val=1.0, accumulate_grad_batches=2,
            callbacks=[saved],
        )  # fmt: skip
        train = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
        tried = torch.utils.data.DataLoader(held, batch_size=8)
        trainer.fit(module, train, tried)
        (told,) = trainer.validate(module, tried, verbose=False)
        best = saved.best_model_score
    everyone = trainer.strategy.all_gather(torch.tensor(module.losses))
    return {
        "ranks": trainer.world_size, "losses": everyone, "right": module.told,
        "validation": told["val_loss"], "best": best,
        "state": [p.detach().norm() for p in module.parameters()],
    }  # fmt: skip
