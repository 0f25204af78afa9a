"""The Kullback-Leibler divergence of pairs of distributions, in closed form."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._ground import f, grad, inf, linalg, softplus
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal, lowrank_mahalanobis
from .multivariate_normal import MultivariateNormal, half_log_det, mahalanobis
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import _sum_rightmost, euler_constant

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

Formula = Callable[[Any, Any], "Tensor"]
_KL_REGISTRY: dict[tuple[type, type], Formula] = {}
_KL_MEMOIZE: dict[tuple[type, type], Formula] = {}


def register_kl(
    type_p: type[Distribution], type_q: type[Distribution]
) -> Callable[[Formula], Formula]:
    """A decorator that registers a function of (p, q) for a pair of classes.

    Parameters:
        type_p, type_q: the classes of the two distributions; subclasses are meant too, unless a
            nearer pair is registered.
    Returns: the decorator.
    Raises: TypeError: for anything but classes of distributions.
    Example:
        >>> class Mine(torch.distributions.Normal):
        ...     pass
        >>> @torch.distributions.register_kl(Mine, Mine)
        ... def _(p, q):
        ...     return torch.tensor(7.0)
        >>> mine = Mine(torch.tensor(0.0), torch.tensor(1.0))
        >>> torch.distributions.kl_divergence(mine, mine)
        tensor(7.)
    """
    if not isinstance(type_p, type) and issubclass(type_p, Distribution):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type) and issubclass(type_q, Distribution):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def register(function: Formula) -> Formula:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return register


def _dispatch_kl(type_p: type, type_q: type) -> Any:
    """The function of the nearest registered pair, by the order of base classes of p, then of q."""
    found = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not found:
        return NotImplemented
    order_p, order_q = type_p.__mro__.index, type_q.__mro__.index
    left = min(found, key=lambda pair: (order_p(pair[0]), order_q(pair[1])))
    right = min(found, key=lambda pair: (order_q(pair[1]), order_p(pair[0])))
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl({left[0].__name__}, {right[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """KL(p ‖ q) = E_p[log p - log q], of the shape of the batch.

    Raises: NotImplementedError for a pair without a closed form.

    Parameters:
        p: the distribution whose samples are asked about.
        q: the distribution that it is compared with.
    Shapes: the batch's.
    Returns: the Kullback–Leibler divergence of q from p.
    Example:
        >>> D = torch.distributions
        >>> D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 1.0))
        tensor(0.5000)
    """
    key = (type(p), type(q))
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _dispatch_kl(*key)
    function = _KL_MEMOIZE[key]
    if function is NotImplemented:
        raise NotImplementedError(
            "No KL(p || q) is implemented for p type "
            f"{p.__class__.__name__} and q type {q.__class__.__name__}"
        )
    return function(p, q)


def _infinite_like(tensor: Tensor) -> Tensor:
    return f.full_like(tensor, inf)


# ---- one family ----------------------------------------------------------------------------------
@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    t1[q.probs == 0] = inf
    t1[p.probs == 0] = 0
    t2 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    t2[q.probs == 1] = inf
    t2[p.probs == 1] = 0
    return t1 + t2


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    sum_p = p.concentration1 + p.concentration0
    sum_q = q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + sum_p.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + sum_q.lgamma()
    t3 = (p.concentration1 - q.concentration1) * f.digamma(p.concentration1)
    t4 = (p.concentration0 - q.concentration0) * f.digamma(p.concentration0)
    return t1 - t2 + t3 + t4 + (sum_q - sum_p) * f.digamma(sum_p)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    more = p.total_count > q.total_count
    kl[more] = _infinite_like(kl[more])
    return kl


def _categories(p: Any, q: Any) -> Tensor:
    t = p.probs * (p.logits - q.logits)
    t[(q.probs == 0).expand_as(t)] = inf
    t[(p.probs == 0).expand_as(t)] = 0
    return t.sum(-1)


register_kl(Categorical, Categorical)(_categories)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categories(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    t1 = p.mean * (p.logits - q.logits)
    t2 = p._cont_bern_log_norm() + f.log1p(-p.probs)
    t3 = -q._cont_bern_log_norm() - f.log1p(-q.probs)
    return t1 + t2 + t3


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    t1 = total_p.lgamma() - total_q.lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    t3 = p.concentration - q.concentration
    t4 = p.concentration.digamma() - total_p.digamma().unsqueeze(-1)
    return t1 - t2 + (t3 * t4).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The Bregman divergence of the log normalizers."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot                "
            "             be computed using Bregman divergences"
        )
    natural = [parameter.detach().requires_grad_() for parameter in p._natural_params]
    normalizer = p._log_normalizer(*natural)
    slopes = grad(normalizer.sum(), natural, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for own, other, slope in zip(natural, q._natural_params, slopes):
        result = result - _sum_rightmost((other - own) * slope, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = f.lgamma(q.concentration) - f.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * f.digamma(p.concentration)
    return t1 + t2 + t3 + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio = p.scale / q.scale
    moved = q.loc / q.scale
    far = p.loc / q.scale
    t1 = -ratio.log() - moved + far
    t3 = f.exp(moved + (1 + ratio).lgamma() - far)
    return t1 + ratio * euler_constant + t3 - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - f.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * f.exp(-distance / p.scale) - 1


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    scales = p.scale / q.scale
    ratio = q.alpha / p.alpha
    result = q.alpha * scales.log() - ratio.log() + ratio - 1
    result[p.support.lower_bound < q.support.lower_bound] = inf
    return result


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transform(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = inf
    return result


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    """Chyzak and Nielsen, "A closed-form formula for the KL divergence between Cauchys" (2019)."""
    t1 = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return t1 - (4 * p.scale * q.scale).log()


# ---- normals of several dimensions ---------------------------------------------------------------
def _trace(factor: Tensor, root: Tensor) -> Tensor:
    """tr((L L^T)^-1 R R^T)."""
    solved = linalg.solve_triangular(factor, root, upper=False)
    return solved.pow(2).sum((-2, -1))


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with                          "
            "different event shapes cannot be computed"
        )
    own, other = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    quadratic = _trace(other, own) + mahalanobis(other, q.loc - p.loc)
    return half_log_det(other) - half_log_det(own) + 0.5 * (quadratic - p.event_shape[0])


def _check_dimensions(p: Any, q: Any) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with                    "
            "      different event shapes cannot be computed"
        )


def _to_low_rank(p: Any, q: Any, log_det_p: Tensor, roots: list[Tensor]) -> Tensor:
    """The divergence to a low-rank q from p of covariance Σ R R^T over `roots`."""
    w, d, c = q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q._capacitance_tril
    distance = lowrank_mahalanobis(w, d, q.loc - p.loc, c)
    scaled = w.mT / d.unsqueeze(-2)
    whitened = linalg.solve_triangular(c, scaled, upper=False)
    trace: Any = 0
    for root in roots:
        plain = (root / d.sqrt().unsqueeze(-1)).pow(2).sum((-2, -1))
        trace = trace + plain - f.matmul(whitened, root).pow(2).sum((-2, -1))
    return 0.5 * (q._log_det() - log_det_p + trace + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _low_low(p: LowRankMultivariateNormal, q: LowRankMultivariateNormal) -> Tensor:
    _check_dimensions(p, q)
    roots = [p._unbroadcasted_cov_factor, f.diag_embed(p._unbroadcasted_cov_diag.sqrt())]
    return _to_low_rank(p, q, p._log_det(), roots)


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _full_low(p: MultivariateNormal, q: LowRankMultivariateNormal) -> Tensor:
    _check_dimensions(p, q)
    root = p._unbroadcasted_scale_tril
    return _to_low_rank(p, q, 2 * half_log_det(root), [root])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_full(p: LowRankMultivariateNormal, q: MultivariateNormal) -> Tensor:
    _check_dimensions(p, q)
    other = q._unbroadcasted_scale_tril
    quadratic = _trace(other, p._unbroadcasted_cov_factor)
    quadratic = quadratic + _trace(other, f.diag_embed(p._unbroadcasted_cov_diag.sqrt()))
    quadratic = quadratic + mahalanobis(other, q.loc - p.loc)
    return 0.5 * (2 * half_log_det(other) - p._log_det() + quadratic - p.event_shape[0])


# ---- two families: -H(p) - E_p[log q] ------------------------------------------------------------
def _never(name: str) -> Formula:
    """p reaches beyond the support of q."""
    return lambda p, q: _infinite_like(getattr(p, name))


for _p, _name, _others in (
    (Beta, "concentration1", (Pareto,)),
    (ContinuousBernoulli, "probs", (Pareto,)),
    (Exponential, "rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, "concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gumbel, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Normal, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Pareto, "scale", (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, "rate", (Bernoulli, Binomial)),
):
    for _q in _others:
        register_kl(_p, _q)(_never(_name))


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p: Beta, q: ContinuousBernoulli) -> Tensor:
    weight = p.mean * q.logits + f.log1p(-q.probs) + q._cont_bern_log_norm()
    return -p.entropy() - weight


@register_kl(Beta, Uniform)
def _beta_uniform(p: Beta, q: Uniform) -> Tensor:
    result = -p.entropy() + (q.high - q.low).log()
    result[(q.low > p.support.lower_bound) | (q.high < p.support.upper_bound)] = inf
    return result


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: ContinuousBernoulli, q: Uniform) -> Tensor:
    result = -p.entropy() + (q.high - q.low).log()
    outside = f.max(f.ge(q.low, p.support.lower_bound), f.le(q.high, p.support.upper_bound))
    return f.where(outside, f.ones_like(result) * inf, result)


def _to_exponential(p: Any, q: Any) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


register_kl(Beta, Exponential)(_to_exponential)
register_kl(ContinuousBernoulli, Exponential)(_to_exponential)
register_kl(Gamma, Exponential)(_to_exponential)


def _to_normal(p: Any, q: Any) -> Tensor:
    square = p.variance + (p.mean - q.loc).pow(2)
    return (
        -p.entropy()
        + 0.5 * (q.scale.square() * 2 * math.pi).log()
        + square / (2 * q.scale.square())
    )


for _other in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform):
    register_kl(_other, Normal)(_to_normal)


def _to_gamma(p: Any, q: Any, log_mean: Tensor) -> Tensor:
    """`log_mean` is E_p[log x]."""
    norm = q.concentration.lgamma() - q.concentration * q.rate.log()
    return -p.entropy() + norm - (q.concentration - 1) * log_mean + q.rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p: Beta, q: Gamma) -> Tensor:
    total = p.concentration1 + p.concentration0
    return _to_gamma(p, q, p.concentration1.digamma() - total.digamma())


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Exponential, q: Gamma) -> Tensor:
    return _to_gamma(p, q, -euler_constant - p.rate.log())


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Pareto, q: Exponential) -> Tensor:
    result = _to_exponential(p, q)
    result[p.alpha <= 1] = inf
    return result


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Pareto, q: Gamma) -> Tensor:
    result = _to_gamma(p, q, p.scale.log() + p.alpha.reciprocal())
    result[p.alpha <= 1] = inf
    return result


@register_kl(Pareto, Normal)
def _pareto_normal(p: Pareto, q: Normal) -> Tensor:
    result = _to_normal(p, q)
    result[p.alpha <= 2] = inf
    return result


def _to_gumbel(p: Any, q: Any, transform: Tensor) -> Tensor:
    """`transform` is E_p[exp(-x / scale)], the moment generating function at -1 / scale."""
    shift = q.loc / q.scale
    return -p.entropy() + q.scale.log() + p.mean / q.scale - shift + shift.exp() * transform


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Exponential, q: Gumbel) -> Tensor:
    return _to_gumbel(p, q, p.rate / (p.rate + q.scale.reciprocal()))


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Gamma, q: Gumbel) -> Tensor:
    ratio = 1 + (p.rate * q.scale).reciprocal()
    return _to_gumbel(p, q, ratio.pow(-p.concentration))


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Normal, q: Gumbel) -> Tensor:
    t = q.scale.reciprocal()
    return _to_gumbel(p, q, f.exp(-p.loc * t + 0.5 * (p.scale * t).pow(2)))


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Uniform, q: Gumbel) -> Tensor:
    width = p.high - p.low
    change = f.exp(-p.low / q.scale) - f.exp(-p.high / q.scale)
    return _to_gumbel(p, q, q.scale * change / width)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    distance = p.loc - q.loc
    z = distance / p.scale
    fold = math.sqrt(2 / math.pi) * p.scale * f.exp(-0.5 * z.pow(2))
    fold = fold + distance * f.erf(math.sqrt(0.5) * z)
    return -p.entropy() + (2 * q.scale).log() + fold / q.scale


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    width = p.high - p.low
    log_x = (f.xlogy(p.high, p.high) - f.xlogy(p.low, p.low)) / width - 1
    low, high = 1 - p.high, 1 - p.low
    log_rest = (f.xlogy(high, high) - f.xlogy(low, low)) / width - 1
    total = q.concentration1 + q.concentration0
    norm = q.concentration1.lgamma() + q.concentration0.lgamma() - total.lgamma()
    result = -width.log() + norm
    result = result - (q.concentration1 - 1) * log_x - (q.concentration0 - 1) * log_rest
    result[(p.high > q.support.upper_bound) | (p.low < q.support.lower_bound)] = inf
    return result


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Uniform, q: ContinuousBernoulli) -> Tensor:
    weight = p.mean * q.logits + f.log1p(-q.probs) + q._cont_bern_log_norm()
    result = -p.entropy() - weight
    outside = f.max(f.ge(p.high, q.support.upper_bound), f.le(p.low, q.support.lower_bound))
    return f.where(outside, f.ones_like(result) * inf, result)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Uniform, q: Exponential) -> Tensor:
    result = _to_exponential(p, q)
    result[p.low < q.support.lower_bound] = inf
    return result


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Uniform, q: Gamma) -> Tensor:
    width = p.high - p.low
    log_x = (f.xlogy(p.high, p.high) - f.xlogy(p.low, p.low)) / width - 1
    result = _to_gamma(p, q, log_x)
    result[p.low < q.support.lower_bound] = inf
    return result


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    width = p.high - p.low
    log_x = (f.xlogy(p.high, p.high) - f.xlogy(p.low, p.low)) / width - 1
    result = -p.entropy() - (q.alpha.log() + q.alpha * q.scale.log()) + (q.alpha + 1) * log_x
    result[p.low < q.support.lower_bound] = inf
    return result


__all__ = ["kl_divergence", "register_kl"]
