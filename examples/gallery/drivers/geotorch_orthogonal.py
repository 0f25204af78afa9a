"""geotorch: orthogonal, low-rank and positive definite weights by parametrisation."""

NEEDS = ["geotorch==0.4.0"]
RTOL = 1e-3


def main():
    import geotorch
    import torch
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 8))
    geotorch.orthogonal(net[0], "weight")
    geotorch.low_rank(net[2], "weight", rank=4)
    geotorch.positive_definite(net[4], "weight")
    x, y = torch.randn(32, 12), torch.randn(32, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    weight = net[0].weight
    return {
        "losses": losses,
        "orthogonal": (weight @ weight.T - torch.eye(12)).abs().max() < 1e-4,
        "rank": torch.linalg.matrix_rank(net[2].weight),
        "least": torch.linalg.eigvalsh(net[4].weight).min() > 0,
    }
