"""Distributions: draws from a seed, densities, gradients, divergences, printed forms."""

import torch
import torch.distributions as D
from observation import each, near


def _t(*values):
    return torch.tensor(values, dtype=torch.float64)


def _several():
    return {
        "beta": D.Beta(_t(2, 0.5), _t(1.5, 3)),
        "binomial": D.Binomial(5, _t(0.2, 0.7)),
        "categorical": D.Categorical(_t(0.2, 0.3, 0.5)),
        "cauchy": D.Cauchy(_t(0, 1), _t(1, 2)),
        "exponential": D.Exponential(_t(0.5, 2)),
        "gamma": D.Gamma(_t(0.5, 3), _t(1, 2)),
        "geometric": D.Geometric(_t(0.2, 0.7)),
        "gumbel": D.Gumbel(_t(0, 1), _t(1, 2)),
        "laplace": D.Laplace(_t(0, 1), _t(1, 2)),
        "multinomial": D.Multinomial(4, _t(0.2, 0.3, 0.5)),
        "normal": D.Normal(_t(0, 1), _t(1, 2)),
        "pareto": D.Pareto(_t(1, 2), _t(3, 2.5)),
        "poisson": D.Poisson(_t(1, 20)),
        "student": D.StudentT(_t(3, 5)),
        "uniform": D.Uniform(_t(0, 1), _t(1, 4)),
        "weibull": D.Weibull(_t(1, 2), _t(1.5, 3)),
    }


def draws_and_densities() -> None:
    for name, distribution in _several().items():
        torch.manual_seed(3)
        drawn = distribution.sample((2,))
        print(name, distribution)
        each(
            drawn=lambda: near(drawn),
            log_prob=lambda: near(distribution.log_prob(drawn)),
            mean=lambda: near(distribution.mean),
            variance=lambda: near(distribution.variance),
        )


def divergences() -> None:
    several = _several()
    for p in ("beta", "exponential", "gamma", "gumbel", "laplace", "normal", "uniform"):
        for q in ("exponential", "gamma", "gumbel", "normal"):
            each(**{f"{p}_{q}": lambda: near(D.kl_divergence(several[p], several[q]))})


def invalid_arguments() -> None:
    each(
        scale=lambda: D.Normal(0.0, -1.0),
        value=lambda: D.Bernoulli(0.3).log_prob(torch.tensor(0.5)),
        both=lambda: D.Categorical(_t(1), _t(1)),
        pair=lambda: D.kl_divergence(D.Cauchy(0.0, 1.0), D.Gamma(1.0, 1.0)),
        shape=lambda: D.Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3)),
    )
