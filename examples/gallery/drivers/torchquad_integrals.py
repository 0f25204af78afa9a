"""torchquad: integrals by five rules, and the gradient of one by its limits."""

NEEDS = ["torchquad==0.6.0", "autoray==0.11.0", "loguru==0.7.3", "tqdm==4.70.1"]
RTOL = 1e-3


def main():
    import torch
    from torchquad import Boole, GaussLegendre, MonteCarlo, Simpson, Trapezoid, set_up_backend

    set_up_backend("torch", data_type="float64")
    limits = [[0.0, 1.0], [-1.0, 1.0]]

    def function(x):
        return torch.exp(-(x[:, 0] ** 2)) * torch.cos(x[:, 1])

    results = {}
    for rule in (Trapezoid, Simpson, Boole, GaussLegendre):
        results[rule.__name__] = rule().integrate(function, 2, 1225, limits, backend="torch")
    results["MonteCarlo"] = MonteCarlo().integrate(
        function, 2, 2000, limits, seed=1, backend="torch"
    )
    ends = torch.tensor(limits, dtype=torch.float64, requires_grad=True)
    Simpson().integrate(function, 2, 441, ends).backward()
    results["by limits"] = ends.grad
    torch.set_default_dtype(torch.float32)
    return results
