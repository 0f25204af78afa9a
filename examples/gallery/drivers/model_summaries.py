"""torchinfo and torchsummary: layers, shapes, parameters and multiplications of a model."""

NEEDS = ["torchinfo==1.8.0", "torchsummary==1.5.1"]


def main():
    import torch
    import torchsummary
    from torch import nn
    from torchinfo import summary

    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 169, 10),
    )
    info = summary(net, input_size=(2, 1, 28, 28), verbose=0, depth=2, device="cpu")
    torchsummary.summary(net, (1, 28, 28), device="cpu")
    recurrent = summary(nn.LSTM(8, 16, 2), input_size=(5, 3, 8), verbose=0, device="cpu")
    return {
        "parameters": info.total_params,
        "multiplications": info.total_mult_adds,
        "bytes": info.total_output_bytes,
        "lines": len(str(info).splitlines()),
        "recurrent": [recurrent.total_params, recurrent.total_mult_adds],
    }
