"""torchdyn: a neural differential equation that sorts two moons."""

NEEDS = [
    "torchdyn==1.0.6",
    "torchcde==0.2.5",
    "torchsde==0.2.6",
    "torchdiffeq==0.2.5",
    "trampoline==0.1.2",
    "attrs==26.1.0",
    "pytorch-lightning==2.6.6",
    "lightning-utilities==0.15.3",
    "torchmetrics==1.9.0",
    "torchvision==0.28.0",
    "tqdm==4.70.1",
    "pyyaml==6.0.3",
    "fsspec==2026.9.0",
    "packaging==26.3",
    "typing_extensions==4.16.0",
    "scikit-learn==1.9.1",
    "matplotlib==3.11.2",
]


def main():
    import numpy as np
    import torch
    from torch import nn
    from torchdyn.core import NeuralODE
    from torchdyn.datasets import ToyDataset
    from torchdyn.numerics import odeint

    torch.manual_seed(0)
    np.random.seed(0)  # which the data set draws from
    points, labels = ToyDataset().generate(n_samples=64, noise=1e-1, dataset_type="moons")
    field = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    flow = NeuralODE(field, sensitivity="adjoint", solver="dopri5", atol=1e-3, rtol=1e-3)
    net = nn.Sequential(flow, nn.Linear(2, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    losses = []
    for _ in range(6):
        _, ends = flow(points, torch.linspace(0, 1, 2))
        loss = nn.functional.cross_entropy(net[1](ends[-1]), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    _, path = odeint(lambda t, x: -x, torch.ones(3), torch.linspace(0, 1, 5), solver="rk4")
    return {"losses": losses, "state": [p.norm() for p in net.parameters()], "path": path}
