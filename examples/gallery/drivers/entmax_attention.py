"""entmax: sparsemax, entmax 1.5, the bisection of any alpha, their losses and gradients."""

NEEDS = ["entmax==1.3"]


def main():
    import torch
    from entmax import (
        Entmax15Loss,
        SparsemaxLoss,
        budget_bisect,
        entmax15,
        entmax_bisect,
        normmax_bisect,
        sparsemax,
    )

    torch.manual_seed(0)
    x = torch.randn(64, 32, requires_grad=True)
    weights = torch.randn(64, 32)
    results = {}
    kinds = {
        "sparsemax": lambda z: sparsemax(z, dim=-1),
        "partial": lambda z: sparsemax(z, dim=-1, k=8),
        "entmax15": lambda z: entmax15(z, dim=-1),
        "bisect": lambda z: entmax_bisect(z, alpha=1.3),
        "normmax": lambda z: normmax_bisect(z, alpha=3),
        "budget": lambda z: budget_bisect(z, budget=3),
    }
    for name, kind in kinds.items():
        value = kind(x)
        (gradient,) = torch.autograd.grad((value * weights).sum(), x)
        results[name] = [value.sum(), (value * weights).sum(), (value > 0).sum(), gradient.norm()]
    alpha = torch.full((64, 1), 1.4, requires_grad=True)
    entmax_bisect(x, alpha).mul(weights).sum().backward()
    results["alpha"] = alpha.grad
    target = torch.randint(0, 32, (64,))
    for loss in (SparsemaxLoss(), Entmax15Loss()):
        value = loss(x, target)
        results[type(loss).__name__] = [value, torch.autograd.grad(value, x)[0].norm()]
    return results
