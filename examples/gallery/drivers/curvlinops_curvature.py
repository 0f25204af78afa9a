"""curvlinops: Hessian, Gauss–Newton and Fisher as linear operators, with their spectra."""

NEEDS = [
    "curvlinops-for-pytorch==3.0.1",
    "einops==0.8.2",
    "einconv==0.1.0",
    "linear_operator==0.6.1",
    "jaxtyping==0.3.11",
    "wadler_lindig==0.1.8",
]
RTOL = 2e-3


def main():
    import torch
    from curvlinops import EFLinearOperator, GGNLinearOperator, HessianLinearOperator
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    data = [(torch.randn(10, 6), torch.randint(0, 3, (10,))) for _ in range(2)]
    parameters = dict(net.named_parameters())
    size = sum(p.numel() for p in net.parameters())
    v = torch.randn(size)
    results = {}
    for kind in (HessianLinearOperator, GGNLinearOperator, EFLinearOperator):
        try:
            operator = kind(net, nn.CrossEntropyLoss(), parameters, data)
        except (TypeError, AttributeError, ValueError):
            operator = kind(net, nn.CrossEntropyLoss(), list(net.parameters()), data)
        results[kind.__name__] = operator @ v
    return results
