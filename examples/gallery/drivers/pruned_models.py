"""torch-pruning: channels taken out of a net along its graph."""

NEEDS = ["torch-pruning==1.6.1"]
RTOL = 2e-3


def main():
    import torch
    import torch_pruning
    from torch import nn

    torch.manual_seed(0)

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.conv = nn.Conv2d(width, width, 3, padding=1)
            self.norm = nn.BatchNorm2d(width)

        def forward(self, x):
            return torch.relu(x + self.norm(self.conv(x)))

    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), Block(16), Block(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(16, 4),
    )  # fmt: skip
    x = torch.randn(2, 3, 12, 12)
    before = torch_pruning.utils.count_ops_and_params(net, x)
    pruner = torch_pruning.pruner.MagnitudePruner(
        net,
        x,
        importance=torch_pruning.importance.MagnitudeImportance(p=2),
        pruning_ratio=0.5,
        ignored_layers=[net[5]],
    )
    pruner.step()
    after = torch_pruning.utils.count_ops_and_params(net, x)
    return {"before": before, "after": after, "out": net(x), "width": net[0].out_channels}
