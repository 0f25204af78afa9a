"""gpytorch: exact and variational Gaussian processes, trained and predicting."""

NEEDS = [
    "gpytorch==1.15.2",
    "linear_operator==0.6.1",
    "jaxtyping==0.3.11",
    "wadler_lindig==0.1.8",
    "scikit-learn==1.9.1",
]
RTOL = 2e-3


def main():
    import gpytorch
    import torch

    torch.manual_seed(0)
    x = torch.linspace(0, 1, 40)
    y = torch.sin(x * 6.28) + 0.1 * torch.randn(40)

    class Exact(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel() + gpytorch.kernels.MaternKernel(nu=2.5)
            )

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Exact(x, y, likelihood)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = -objective(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    likelihood.eval()
    with torch.no_grad(), gpytorch.settings.fast_pred_var():
        posterior = likelihood(model(torch.linspace(0, 1, 11)))

    class Variational(gpytorch.models.ApproximateGP):
        def __init__(self, points):
            distribution = gpytorch.variational.CholeskyVariationalDistribution(points.size(0))
            super().__init__(gpytorch.variational.VariationalStrategy(self, points, distribution))
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    small, noise = Variational(x[::5].clone()), gpytorch.likelihoods.GaussianLikelihood()
    elbo = gpytorch.mlls.VariationalELBO(noise, small, num_data=40)
    optimizer = torch.optim.SGD([*small.parameters(), *noise.parameters()], lr=0.01)
    bounds = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = -elbo(small(x), y)
        loss.backward()
        optimizer.step()
        bounds.append(loss.item())
    return {
        "losses": losses,
        "mean": posterior.mean,
        "variance": posterior.variance,
        "bounds": bounds,
    }
