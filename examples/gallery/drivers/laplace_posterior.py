"""laplace-torch: the posterior of a net's weights, its predictions and evidence."""

NEEDS = [
    "laplace-torch==0.3",
    "curvlinops-for-pytorch==3.0.1",
    "backpack-for-pytorch==1.7.1",
    "einops==0.8.2",
    "einconv==0.1.0",
    "unfoldNd==0.2.3",
    "opt_einsum==3.4.0",
    "torchmetrics==1.9.0",
    "lightning-utilities==0.15.3",
    "tqdm==4.70.1",
    "typing_extensions==4.16.0",
    "packaging==26.3",
    "frozendict==2.5.1",
    "einx==0.4.3",
    "loguru==0.7.3",
    "sympy==1.14.0",
    "mpmath==1.3.0",
    "asdfghjkl==0.1a5",
    "linear_operator==0.6.1",
    "jaxtyping==0.3.11",
    "wadler_lindig==0.1.8",
    "requests==2.34.2",
    "urllib3==2.7.0",
    "charset_normalizer==3.4.7",
    "idna==3.13",
    "certifi==2026.5.20",
]
RTOL = 1e-2


def main():
    import torch
    from laplace import Laplace
    from laplace.curvature import BackPackGGN
    from torch import nn

    torch.manual_seed(0)
    x = torch.linspace(-2, 2, 30)[:, None]
    y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=30)
    net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    results = {}
    for weights, structure in (("all", "full"), ("last_layer", "full"), ("all", "diag")):
        posterior = Laplace(
            net, "regression", weights, structure, backend=BackPackGGN, prior_precision=1.0
        )
        posterior.fit(loader)
        evidence = posterior.log_marginal_likelihood()
        mean, variance = posterior(x[::5])
        results |= {
            f"{weights} {structure} evidence": evidence,
            f"{weights} {structure} mean": mean,
            f"{weights} {structure} variance": variance,
        }
    return results
