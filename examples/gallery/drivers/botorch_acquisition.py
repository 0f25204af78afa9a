"""botorch: a step of Bayesian optimisation, by expected improvement."""

NEEDS = [
    "botorch==0.18.1",
    "gpytorch==1.15.2",
    "linear_operator==0.6.1",
    "jaxtyping==0.3.11",
    "wadler_lindig==0.1.8",
    "pyre-extensions==0.0.32",
    "typing_inspect==0.9.0",
    "mypy_extensions==1.2.0",
    "pyro-ppl==1.9.2",
    "pyro-api==0.1.2",
    "opt_einsum==3.4.0",
    "multipledispatch==1.0.0",
    "threadpoolctl==3.8.0",
    "scikit-learn==1.9.1",
]
RTOL = 1e-2


def main():
    import torch
    from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Normalize, Standardize
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(0)
    x = torch.rand(12, 2, dtype=torch.float64)
    y = torch.sin(5 * x).sum(-1, keepdim=True)
    model = SingleTaskGP(x, y, input_transform=Normalize(2), outcome_transform=Standardize(1))
    objective = ExactMarginalLogLikelihood(model.likelihood, model)
    loss = -objective(model(*model.train_inputs), model.train_targets)
    loss.sum().backward()
    model.eval()
    points = torch.rand(5, 1, 2, dtype=torch.float64, requires_grad=True)
    improvement = LogExpectedImprovement(model, best_f=y.max())(points)
    improvement.sum().backward()
    bound = UpperConfidenceBound(model, beta=0.2)(points)
    return {"loss": loss, "improvement": improvement, "gradient": points.grad, "bound": bound}
