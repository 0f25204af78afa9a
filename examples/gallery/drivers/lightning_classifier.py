"""The module that the drivers of Lightning's Trainer fit, in one process and in two."""

import lightning
import torch
import torchmetrics
from torch import nn


class Classifier(lightning.LightningModule):
    """Three classes of six numbers; its losses and accuracies are kept and logged."""

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
        self.log("val_loss", nn.functional.cross_entropy(scores, batch[1]), sync_dist=True)

    def on_validation_epoch_end(self):
        self.told.append(self.right.compute())
        self.right.reset()

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.rate)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.7)]


def examples(count):
    """Random ones."""
    return torch.utils.data.TensorDataset(torch.randn(count, 6), torch.randint(0, 3, (count,)))
