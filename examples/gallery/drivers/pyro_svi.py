"""pyro: a Bayesian regression by variational inference, and a few steps of NUTS."""

NEEDS = ["pyro-ppl==1.9.2", "pyro-api==0.1.2", "opt_einsum==3.4.0"]
RTOL = 2e-3


def main():
    import pyro
    import pyro.distributions as dist
    import torch
    from pyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
    from pyro.infer.autoguide import AutoDiagonalNormal

    pyro.clear_param_store()
    pyro.set_rng_seed(0)
    x = torch.linspace(-1, 1, 40)
    y = 1.5 * x - 0.3 + 0.1 * torch.randn(40)

    def model(x, y=None):
        weight = pyro.sample("weight", dist.Normal(0.0, 2.0))
        bias = pyro.sample("bias", dist.Normal(0.0, 2.0))
        sigma = pyro.sample("sigma", dist.HalfCauchy(1.0))
        with pyro.plate("data", len(x)):
            return pyro.sample("obs", dist.Normal(weight * x + bias, sigma), obs=y)

    guide = AutoDiagonalNormal(model)
    svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.03}), Trace_ELBO())
    losses = [svi.step(x, y) for _ in range(40)]
    medians = guide.median()
    draws = Predictive(model, guide=guide, num_samples=5)(x[:4])
    pyro.set_rng_seed(1)
    chain = MCMC(NUTS(model, max_tree_depth=3), num_samples=3, warmup_steps=2, disable_progbar=True)
    chain.run(x, y)
    return {
        "losses": losses[::8],
        "medians": [medians[name] for name in ("weight", "bias", "sigma")],
        "draws": draws["obs"],
        "shape": list(chain.get_samples()["weight"].shape),
    }
