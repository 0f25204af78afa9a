"""Laws that every distribution obeys: densities integrate to one, means are those of draws."""

from __future__ import annotations

import math
from typing import Any

import pytest

import rushlight as torch
from rushlight import distributions as D


def T(*values: Any) -> Any:
    return torch.tensor(*values, dtype=torch.float64)


CONTINUOUS = {
    "Beta": (D.Beta(T(2.0), T(1.5)), 1e-9, 1 - 1e-9),
    "ContinuousBernoulli": (D.ContinuousBernoulli(T(0.2)), 0.0, 1.0),
    "Exponential": (D.Exponential(T(0.5)), 0.0, 80.0),
    "FisherSnedecor": (D.FisherSnedecor(T(4.0), T(30.0)), 1e-9, 60.0),
    "Gamma": (D.Gamma(T(2.5), T(1.0)), 1e-9, 60.0),
    "GeneralizedPareto": (D.GeneralizedPareto(T(0.0), T(1.0), T(-0.2)), 0.0, 5.0),
    "Gumbel": (D.Gumbel(T(0.5), T(1.0)), -8.0, 60.0),
    "HalfNormal": (D.HalfNormal(T(1.5)), 0.0, 30.0),
    "InverseGamma": (D.InverseGamma(T(8.0), T(2.0)), 1e-6, 60.0),
    "Kumaraswamy": (D.Kumaraswamy(T(2.0), T(1.5)), 1e-9, 1 - 1e-9),
    "Laplace": (D.Laplace(T(0.5), T(1.0)), -60.0, 60.0),
    "LogNormal": (D.LogNormal(T(0.0), T(0.5)), 1e-9, 60.0),
    "Normal": (D.Normal(T(0.5), T(2.0)), -60.0, 60.0),
    "Pareto": (D.Pareto(T(1.0), T(9.0)), 1.0, 60.0),
    "StudentT": (D.StudentT(T(9.0), T(0.5), T(1.0)), -60.0, 60.0),
    "Uniform": (D.Uniform(T(-1.0), T(2.0)), -1.0, 2.0),
    "Weibull": (D.Weibull(T(1.0), T(1.5)), 1e-9, 60.0),
}
DISCRETE = {
    "Bernoulli": D.Bernoulli(T([0.2, 0.7])),
    "Binomial": D.Binomial(5, T([0.2, 0.7])),
    "Categorical": D.Categorical(T([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])),
    "OneHotCategorical": D.OneHotCategorical(T([0.2, 0.3, 0.5])),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_density_integrates_to_one_and_gives_the_mean_and_entropy(name: str) -> None:
    distribution, low, high = CONTINUOUS[name]
    width = (high - low) / 400_000
    x = low + width * (torch.arange(400_000, dtype=torch.float64) + 0.5)
    log_density = distribution.log_prob(x)
    density = log_density.exp()
    assert (density.sum() * width).item() == pytest.approx(1, abs=2e-4)
    mean = (density * x).sum() * width
    assert mean.item() == pytest.approx(distribution.mean.item(), abs=2e-3)
    spread = ((x - mean) ** 2 * density).sum() * width
    assert spread.item() == pytest.approx(distribution.variance.item(), rel=2e-2)
    if name != "FisherSnedecor":
        entropy = -(density * log_density).nan_to_num().sum() * width
        assert entropy.item() == pytest.approx(distribution.entropy().item(), abs=2e-3)


@pytest.mark.parametrize("name", DISCRETE)
def test_the_masses_of_the_support_add_up_to_one(name: str) -> None:
    distribution = DISCRETE[name]
    total = distribution.log_prob(distribution.enumerate_support()).exp().sum(0)
    assert torch.allclose(total, torch.ones_like(total))


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if n != "StudentT"])
def test_draws_follow_the_seed_and_have_the_distributions_mean(name: str) -> None:
    distribution = CONTINUOUS[name][0]
    torch.manual_seed(0)
    drawn = distribution.sample((4000,))
    torch.manual_seed(0)
    assert torch.equal(drawn, distribution.sample((4000,)))
    error = 5 * distribution.stddev.item() / math.sqrt(4000)
    assert drawn.mean().item() == pytest.approx(distribution.mean.item(), abs=error)


@pytest.mark.parametrize("name", ["Normal", "Laplace", "Gumbel", "Exponential", "Uniform"])
def test_icdf_undoes_cdf(name: str) -> None:
    distribution = CONTINUOUS[name][0]
    u = torch.linspace(0.05, 0.95, 9, dtype=torch.float64)
    assert torch.allclose(distribution.cdf(distribution.icdf(u)), u)


def test_a_divergence_is_the_mean_of_the_log_ratio() -> None:
    p, low, high = CONTINUOUS["Normal"]
    q = D.Laplace(T(0.0), T(3.0))
    width = (high - low) / 400_000
    x = low + width * (torch.arange(400_000, dtype=torch.float64) + 0.5)
    integral = (p.log_prob(x).exp() * (p.log_prob(x) - q.log_prob(x))).sum() * width
    assert D.kl_divergence(p, q).item() == pytest.approx(integral.item(), abs=1e-5)
    same = D.MultivariateNormal(T([0.0, 1.0]), T([[2.0, 0.5], [0.5, 1.0]]))
    assert D.kl_divergence(same, same).item() == pytest.approx(0, abs=1e-12)


def test_a_draw_carries_its_gradient_to_the_parameters() -> None:
    loc = T(1.0).requires_grad_()
    scale = T(2.0).requires_grad_()
    drawn = D.Normal(loc, scale).rsample((5,))
    drawn.sum().backward()
    assert loc.grad is not None and loc.grad.item() == 5
    assert scale.grad.item() == pytest.approx(((drawn.detach() - 1) / 2).sum().item())
    assert not D.Normal(loc, scale).sample().requires_grad


def test_parameters_and_values_are_validated() -> None:
    with pytest.raises(ValueError, match=r"parameter scale .* GreaterThan\(lower_bound=0.0\)"):
        D.Normal(0.0, -1.0)
    with pytest.raises(ValueError, match="within the support"):
        D.Bernoulli(0.5).log_prob(torch.tensor(0.5))
    assert D.Uniform(0.0, 1.0, validate_args=False).log_prob(torch.tensor(2.0)) == -math.inf
    with pytest.raises(NotImplementedError, match=r"No KL\(p \|\| q\)"):
        D.kl_divergence(D.Cauchy(0.0, 1.0), D.Gamma(1.0, 1.0))


@pytest.mark.parametrize(
    "transform",
    [
        D.ExpTransform(), D.SigmoidTransform(), D.TanhTransform(), D.SoftplusTransform(),
        D.AffineTransform(1.0, -2.0), D.StickBreakingTransform(), D.CorrCholeskyTransform(),
        D.ComposeTransform([D.SigmoidTransform(), D.AffineTransform(1.0, 3.0)]),
    ],
    ids=repr,
)  # fmt: skip
def test_a_transform_is_undone_by_its_inverse(transform: Any) -> None:
    x = T([0.3, -0.8, 0.5])
    y = transform(x)
    assert transform.codomain.check(y).all()
    assert torch.allclose(transform.inv(y), x)
    assert transform.inv.inv is transform
    if transform.codomain.event_dim == 0:
        x.requires_grad_()
        (slope,) = torch.autograd.grad(transform(x).sum(), x)
        assert torch.allclose(slope.abs().log(), transform.log_abs_det_jacobian(x, transform(x)))


@pytest.mark.parametrize("name", ["positive", "unit_interval", "simplex", "corr_cholesky"])
def test_both_registries_lead_into_a_constraint(name: str) -> None:
    constraint = getattr(D.constraints, name)
    for registry in (D.biject_to, D.transform_to):
        assert constraint.check(registry(constraint)(T([0.3, -0.8, 0.5]))).all()


def test_expanding_keeps_the_distribution() -> None:
    for distribution, _, _ in CONTINUOUS.values():
        wide = distribution.expand((3,))
        x = distribution.mean
        assert wide.batch_shape == (3,)
        assert torch.allclose(wide.log_prob(x), distribution.log_prob(x).expand(3))


def test_a_class_with_two_bases_has_both_set_up() -> None:
    class Shift(D.Transform, torch.nn.Module):
        def __init__(self) -> None:
            super().__init__(cache_size=1)
            self.by = torch.nn.Parameter(torch.ones(2))

    class Law(D.Normal, torch.nn.Module):
        pass

    assert len(list(Shift().parameters())) == 1
    assert list(Law(0.0, 1.0).parameters()) == []
