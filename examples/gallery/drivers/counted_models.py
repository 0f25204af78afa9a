"""thop, fvcore and torchviz: the operations of models counted, and their graphs drawn."""

NEEDS = [
    "thop==0.1.1-2209072238",
    "fvcore==0.1.5.post20221221",
    "yacs==0.1.8",
    "pyyaml==6.0.3",
    "tqdm==4.70.1",
    "termcolor==3.3.0",
    "pillow==13.0.0",
    "tabulate==0.10.0",
    "iopath==0.1.10",
    "portalocker==4.4.2",
    "typing_extensions==4.16.0",
    "torchviz==0.0.3",
    "graphviz==0.21",
    "setuptools==84.2.1",
]


def main():
    import logging

    import thop
    import torch
    import torchviz
    from fvcore.nn import parameter_count
    from torch import nn

    logging.disable(logging.WARNING)
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4),
    )  # fmt: skip
    x = torch.randn(1, 3, 16, 16)
    counted, parameters = thop.profile(net, inputs=(x,), verbose=False)
    drawn = torchviz.make_dot(net(x).sum(), params=dict(net.named_parameters()))
    return {
        "thop": [counted, parameters],
        "parameters": list(parameter_count(net).values()),
        "nodes": drawn.source.count("label") + drawn.source.count("Backward"),
    }
