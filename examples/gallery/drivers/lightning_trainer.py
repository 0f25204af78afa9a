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
    from lightning_classifier import Classifier, examples

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    lightning.seed_everything(0, verbose=False)
    loader = torch.utils.data.DataLoader(examples(64), batch_size=16)
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
    return {
        "losses": module.losses, "right": module.told, "validation": told["val_loss"],
        "kept": kept,
    }  # fmt: skip
