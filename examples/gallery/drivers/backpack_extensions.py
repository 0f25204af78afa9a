"""backpack: individual gradients, variances, Gauss–Newton and Kronecker factors in one backward."""

NEEDS = ["backpack-for-pytorch==1.7.1", "unfoldNd==0.2.3", "einops==0.8.2"]
RTOL = 1e-3


def main():
    import torch
    from backpack import backpack, extend, extensions
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(36, 16),
        nn.Sigmoid(),
        nn.Linear(16, 5),
    )
    net, lossfunc = extend(net), extend(nn.CrossEntropyLoss())
    x, y = torch.randn(12, 1, 8, 8), torch.randint(0, 5, (12,))
    kinds = [
        extensions.BatchGrad(),
        extensions.BatchL2Grad(),
        extensions.SumGradSquared(),
        extensions.Variance(),
        extensions.DiagGGNExact(),
        extensions.DiagHessian(),
        extensions.KFLR(),
        extensions.KFAC(),
    ]
    loss = lossfunc(net(x), y)
    with backpack(*kinds):
        loss.backward()
    results = {"loss": loss}
    for name in (
        "grad_batch",
        "batch_l2",
        "sum_grad_squared",
        "variance",
        "diag_ggn_exact",
        "diag_h",
    ):
        results[name] = [getattr(parameter, name).norm() for parameter in net.parameters()]
    results["kflr"] = [factor.norm() for p in net.parameters() for factor in p.kflr]
    results["kfac"] = [factor.norm() for p in net.parameters() for factor in p.kfac]
    return results
