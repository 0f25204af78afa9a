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
    from lightning.pytorch.callbacks import ModelCheckpoint
    from lightning_classifier import Classifier, examples

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    lightning.seed_everything(0, verbose=False)
    data, held = examples(96), examples(40)
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
