"""nflows: a masked autoregressive flow and neural spline coupling."""

NEEDS = ["nflows==0.14", "UMNN==1.71"]
RTOL = 1e-3


def main():
    import torch
    from nflows.distributions.normal import StandardNormal
    from nflows.flows.base import Flow
    from nflows.transforms.autoregressive import (
        MaskedAffineAutoregressiveTransform,
        MaskedPiecewiseRationalQuadraticAutoregressiveTransform,
    )
    from nflows.transforms.base import CompositeTransform
    from nflows.transforms.permutations import ReversePermutation

    torch.manual_seed(0)
    parts = []
    for _ in range(3):
        parts.append(ReversePermutation(features=3))
        parts.append(MaskedAffineAutoregressiveTransform(features=3, hidden_features=16))
    parts.append(
        MaskedPiecewiseRationalQuadraticAutoregressiveTransform(
            features=3, hidden_features=16, tails="linear", tail_bound=3.0
        )
    )
    flow = Flow(CompositeTransform(parts), StandardNormal([3]))
    optimizer = torch.optim.SGD(flow.parameters(), lr=1e-2)
    x = torch.randn(64, 3) @ torch.tensor([[1.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.2, 0.0, 1.0]])
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = -flow.log_prob(x).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "sample": flow.sample(4), "noise": flow.transform_to_noise(x[:4])}
