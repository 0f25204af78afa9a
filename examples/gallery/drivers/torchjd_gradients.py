"""torchjd: several losses at once, their Jacobian gathered into one direction."""

NEEDS = ["torchjd==0.18.0", "quadprog==0.1.14", "qpsolvers==4.13.0"]
RTOL = 2e-3


def main():
    import torch
    from torch import nn
    from torchjd import aggregation, autojac

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
    x, y = torch.randn(12, 6), torch.randn(12, 2)
    results = {}
    for make in (aggregation.Mean, aggregation.MGDA, aggregation.PCGrad, aggregation.AlignedMTL):
        net.zero_grad()
        losses = (net(x) - y).square().mean(0)
        autojac.backward(list(losses))
        autojac.jac_to_grad(net.parameters(), make())
        results[make.__name__] = [p.grad.norm() for p in net.parameters()]
    return results
