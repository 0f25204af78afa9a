"""lightning: a Fabric loop and a Trainer over a LightningModule."""

NEEDS = [
    "lightning==2.6.6",
    "pytorch-lightning==2.6.6",
    "torchmetrics==1.9.0",
    "lightning-utilities==0.15.3",
    "fsspec==2026.9.0",
    "packaging==26.3",
    "pyyaml==6.0.3",
    "tqdm==4.70.1",
]
RTOL = 1e-3


def main():
    import tempfile

    import lightning as L
    import torch
    from torch import nn

    class Classifier(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 3))
            self.seen = []

        def training_step(self, batch, index):
            x, y = batch
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.log("loss", loss)
            self.seen.append(loss.item())
            return loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-2)

    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(64, 10), torch.randint(0, 3, (64,)))
    loader = torch.utils.data.DataLoader(data, batch_size=16)
    fabric = L.Fabric(accelerator="cpu", devices=1)
    net, optimizer = fabric.setup(
        nn.Linear(10, 3), torch.optim.SGD(nn.Linear(10, 3).parameters(), lr=0.1)
    )
    losses = []
    for x, y in fabric.setup_dataloaders(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        fabric.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    module = Classifier()
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(
            max_epochs=2, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder,
        )  # fmt: skip
        trainer.fit(module, loader)
    return {"fabric": losses, "trainer": module.seen}
