"""Calls of `nn.functional` that must do the same on torch and on Rushlight.

A case is a function of (m, F, *tensors) and the arrays that it takes; arrays of floats require grad
unless they come wrapped in `Fixed`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Fixed(NamedTuple):
    """An array that doesn't require grad."""

    array: Any


class Case(NamedTuple):
    """One call and its arrays."""

    function: Callable[..., Any]
    arrays: tuple[Any, ...]


CASES: dict[str, Case] = {}
_RANDOM = np.random.default_rng(11)


def r(*shape: int) -> Any:
    """Normals."""
    return _RANDOM.standard_normal(shape)


def u(*shape: int) -> Any:
    """Uniforms well inside (0, 1)."""
    return _RANDOM.uniform(0.1, 0.9, shape)


def k(high: int, *shape: int, low: int = 0) -> Any:
    """Integers."""
    return Fixed(_RANDOM.integers(low, high, shape))


def signs(*shape: int) -> Any:
    """Ones and minus ones."""
    return Fixed(_RANDOM.choice([-1.0, 1.0], shape))


def add(name: str, function: Callable[..., Any], *arrays: Any) -> None:
    """Registers a case."""
    assert name not in CASES
    CASES[name] = Case(function, arrays)


def reductions(name: str, function: Callable[..., Any], *arrays: Any) -> None:
    """Registers a case for each reduction."""
    for word in ("none", "mean", "sum"):

        def call(m: Any, F: Any, *tensors: Any, word: str = word) -> Any:
            return function(F, *tensors, reduction=word)

        add(f"{name}_{word}", call, *arrays)


# ---- softmax ----------------------------------------------------------------------------------
for _name in ("softmax", "log_softmax", "softmin"):
    for _dim in (0, 1, 2, -1):
        add(f"{_name}_3d_{_dim}", lambda m, F, x, n=_name, d=_dim: getattr(F, n)(x, d), r(2, 3, 4))
    add(f"{_name}_2d", lambda m, F, x, n=_name: getattr(F, n)(x, 1), r(5, 7))
    add(f"{_name}_2d_columns", lambda m, F, x, n=_name: getattr(F, n)(x, 0), r(5, 7))
    add(f"{_name}_1d", lambda m, F, x, n=_name: getattr(F, n)(x, -1), r(6))
    add(f"{_name}_0d", lambda m, F, x, n=_name: getattr(F, n)(x, 0), r())
    add(f"{_name}_large", lambda m, F, x, n=_name: getattr(F, n)(x, 1), 100 * r(5, 7))
    add(f"{_name}_wide", lambda m, F, x, n=_name: getattr(F, n)(x, 1), r(3, 9000))
    add(f"{_name}_empty", lambda m, F, x, n=_name: getattr(F, n)(x, 1), r(0, 3))
    add(f"{_name}_transposed", lambda m, F, x, n=_name: getattr(F, n)(x.t(), 1), r(5, 7))
add("torch_softmax", lambda m, F, x: m.softmax(x, 1) + x.log_softmax(0), r(3, 4))
add("softmax_implicit_dim", lambda m, F, x: F.softmax(x), r(3, 4))
add("softmax_to_double", lambda m, F, x: F.softmax(x, 1, dtype=m.float64), r(3, 4))

# ---- element by element -----------------------------------------------------------------------
for _name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
    reductions(_name, lambda F, x, y, n=_name, **kw: getattr(F, n)(x, y, **kw), r(3, 4), r(3, 4))
    reductions(
        f"{_name}_fixed",
        lambda F, x, y, n=_name, **kw: getattr(F, n)(x, y, **kw),
        r(3, 4),
        Fixed(r(3, 4)),
    )
    reductions(
        f"{_name}_broadcast",
        lambda F, x, y, n=_name, **kw: getattr(F, n)(x, y, **kw),
        r(3, 4),
        r(4),
    )
    reductions(f"{_name}_0d", lambda F, x, y, n=_name, **kw: getattr(F, n)(x, y, **kw), r(), r())
    reductions(
        f"{_name}_empty", lambda F, x, y, n=_name, **kw: getattr(F, n)(x, y, **kw), r(0, 2), r(0, 2)
    )
    reductions(
        f"{_name}_turned",
        lambda F, x, y, n=_name, **kw: getattr(F, n)(x.t(), y.t(), **kw),
        r(3, 4),
        r(3, 4),
    )
    if _name != "smooth_l1_loss":
        reductions(
            f"{_name}_weight",
            lambda F, x, y, w, n=_name, **kw: getattr(F, n)(x, y, weight=w, **kw),
            r(3, 4),
            r(3, 4),
            Fixed(u(3, 4)),
        )
add("mse_long", lambda m, F, x, y: F.mse_loss(x, y), r(200, 100), Fixed(r(200, 100)))
for _beta in (0.0, 0.3, 2.0):
    reductions(
        f"smooth_l1_{_beta}",
        lambda F, x, y, b=_beta, **kw: F.smooth_l1_loss(x, y, beta=b, **kw),
        r(9),
        r(9),
    )
for _delta in (0.3, 2.0):
    reductions(
        f"huber_{_delta}",
        lambda F, x, y, d=_delta, **kw: F.huber_loss(x, y, delta=d, **kw),
        r(9),
        r(9),
    )
reductions(
    "soft_margin_loss", lambda F, x, y, **kw: F.soft_margin_loss(x, y, **kw), r(3, 4), signs(3, 4)
)
reductions(
    "soft_margin_broadcast", lambda F, x, y, **kw: F.soft_margin_loss(x, y, **kw), r(3, 4), signs(4)
)
reductions("bce", lambda F, p, t, **kw: F.binary_cross_entropy(p, t, **kw), u(3, 4), Fixed(u(3, 4)))
reductions("bce_both", lambda F, p, t, **kw: F.binary_cross_entropy(p, t, **kw), u(3, 4), u(3, 4))
reductions(
    "bce_weight",
    lambda F, p, t, w, **kw: F.binary_cross_entropy(p, t, w, **kw),
    u(3, 4),
    u(3, 4),
    Fixed(u(3, 4)),
)
reductions(
    "bce_weight_row",
    lambda F, p, t, w, **kw: F.binary_cross_entropy(p, t, w, **kw),
    u(3, 4),
    u(3, 4),
    Fixed(u(4)),
)
reductions("bce_0d", lambda F, p, t, **kw: F.binary_cross_entropy(p, t, **kw), u(), u())
add(
    "bce_edges",
    lambda m, F, p, t: F.binary_cross_entropy(p, t, reduction="none"),
    Fixed(np.array([0.0, 1.0, 0.0, 1.0])),
    Fixed(np.array([0.0, 1.0, 1.0, 0.0])),
)
_LOGITS = "binary_cross_entropy_with_logits"
reductions("bcel", lambda F, x, t, **kw: getattr(F, _LOGITS)(x, t, **kw), r(3, 4), Fixed(u(3, 4)))
reductions("bcel_both", lambda F, x, t, **kw: getattr(F, _LOGITS)(x, t, **kw), 9 * r(3, 4), u(3, 4))
reductions(
    "bcel_weight",
    lambda F, x, t, w, **kw: getattr(F, _LOGITS)(x, t, w, **kw),
    r(3, 4),
    u(3, 4),
    Fixed(u(4)),
)
reductions(
    "bcel_pos_weight",
    lambda F, x, t, w, **kw: getattr(F, _LOGITS)(x, t, pos_weight=w, **kw),
    5 * r(3, 4),
    u(3, 4),
    Fixed(3 * u(4)),
)
reductions(
    "bcel_both_weights",
    lambda F, x, t, v, w, **kw: getattr(F, _LOGITS)(x, t, v, pos_weight=w, **kw),
    r(3, 4),
    u(3, 4),
    Fixed(u(3, 1)),
    Fixed(3 * u(4)),
)
add("bcel_large", lambda m, F, x, t: getattr(F, _LOGITS)(x, t, reduction="none"), 80 * r(9), u(9))
for _word in ("none", "mean", "sum", "batchmean"):
    add(
        f"kl_div_{_word}", lambda m, F, x, t, w=_word: F.kl_div(x, t, reduction=w), r(3, 4), u(3, 4)
    )
    add(
        f"kl_div_log_{_word}",
        lambda m, F, x, t, w=_word: F.kl_div(x, t, reduction=w, log_target=True),
        r(3, 4),
        r(3, 4),
    )
reductions(
    "poisson", lambda F, x, t, **kw: F.poisson_nll_loss(x, t, **kw), r(3, 4), Fixed(4 * u(3, 4))
)
reductions(
    "poisson_full",
    lambda F, x, t, **kw: F.poisson_nll_loss(x, t, False, True, **kw),
    u(3, 4),
    Fixed(4 * u(3, 4)),
)
reductions(
    "gaussian",
    lambda F, x, t, v, **kw: F.gaussian_nll_loss(x, t, v, **kw),
    r(3, 4),
    r(3, 4),
    u(3, 4),
)
reductions(
    "gaussian_full",
    lambda F, x, t, v, **kw: F.gaussian_nll_loss(x, t, v, True, 0.5, **kw),
    r(3, 4),
    r(3, 4),
    u(3, 4),
)
reductions(
    "gaussian_rows",
    lambda F, x, t, v, **kw: F.gaussian_nll_loss(x, t, v, **kw),
    r(3, 4),
    r(3, 4),
    u(3),
)
reductions(
    "gaussian_column",
    lambda F, x, t, v, **kw: F.gaussian_nll_loss(x, t, v, **kw),
    r(3, 4),
    r(3, 4),
    u(3, 1),
)
add("gaussian_number", lambda m, F, x, t: F.gaussian_nll_loss(x, t, 0.7), r(3, 4), r(3, 4))

# ---- classes ----------------------------------------------------------------------------------
for _name in ("nll_loss", "cross_entropy"):

    def _call(F: Any, *args: Any, n: str = _name, **kw: Any) -> Any:
        return getattr(F, n)(*args, **kw)

    reductions(f"{_name}_2d", _call, r(5, 4), k(4, 5))
    reductions(f"{_name}_weight", _call, r(5, 4), k(4, 5), Fixed(u(4)))
    reductions(f"{_name}_1d", _call, r(4), Fixed(np.array(2)))
    # torch's own backward fails where the input requires grad.
    reductions(f"{_name}_1d_one", _call, Fixed(r(4)), Fixed(np.array([2])))
    reductions(f"{_name}_3d", _call, r(2, 4, 3), k(4, 2, 3))
    reductions(f"{_name}_4d", _call, r(2, 4, 3, 2), k(4, 2, 3, 2))
    reductions(f"{_name}_4d_weight", _call, r(2, 4, 3, 2), k(4, 2, 3, 2), Fixed(u(4)))
    reductions(f"{_name}_5d", _call, r(2, 4, 1, 3, 2), k(4, 2, 1, 3, 2))
    reductions(f"{_name}_ignored", _call, r(5, 4), Fixed(np.array([1, -100, 0, -100, 3])))
    reductions(f"{_name}_bytes", _call, r(3, 4), Fixed(np.array([1, 3, 0], np.uint8)))
    reductions(f"{_name}_empty", _call, r(0, 4), k(4, 0))
    reductions(f"{_name}_all_ignored", _call, r(3, 4), Fixed(np.full(3, -100)))
    reductions(f"{_name}_many", _call, r(64, 10), k(10, 64))
    reductions(f"{_name}_many_large", _call, 30 * r(64, 10), k(10, 64))
    for _word in ("none", "mean", "sum"):
        add(
            f"{_name}_ignore_class_{_word}",
            lambda m, F, x, t, n=_name, w=_word: getattr(F, n)(x, t, ignore_index=1, reduction=w),
            r(6, 4),
            k(3, 6),
        )
        add(
            f"{_name}_ignore_weight_{_word}",
            lambda m, F, x, t, v, n=_name, w=_word: getattr(F, n)(
                x, t, v, ignore_index=1, reduction=w
            ),
            r(6, 4),
            k(3, 6),
            Fixed(u(4)),
        )


def _smoothed(F: Any, *args: Any, **kw: Any) -> Any:
    return F.cross_entropy(*args, label_smoothing=0.2, **kw)


def _plain(F: Any, *args: Any, **kw: Any) -> Any:
    return F.cross_entropy(*args, **kw)


reductions("smoothed_2d", _smoothed, r(5, 4), k(4, 5))
reductions("smoothed_weight", _smoothed, r(5, 4), k(4, 5), Fixed(u(4)))
reductions("smoothed_4d", _smoothed, r(2, 4, 3, 2), k(4, 2, 3, 2), Fixed(u(4)))
reductions(
    "smoothed_ignored", _smoothed, r(5, 4), Fixed(np.array([1, -100, 0, -100, 3])), Fixed(u(4))
)
reductions("smoothed_1d", _smoothed, r(4), Fixed(np.array(2)))
reductions("probabilities_2d", _plain, r(5, 4), u(5, 4))
reductions("probabilities_fixed", _plain, r(5, 4), Fixed(u(5, 4)))
reductions("probabilities_weight", _plain, r(5, 4), u(5, 4), Fixed(u(4)))
reductions("probabilities_4d", _plain, r(2, 4, 3, 2), u(2, 4, 3, 2), Fixed(u(4)))
reductions("probabilities_1d", _plain, r(4), u(4))
reductions("probabilities_smoothed", _smoothed, r(5, 4), u(5, 4), Fixed(u(4)))
for _p in (1, 2):
    reductions(
        f"multi_margin_{_p}",
        lambda F, x, t, p=_p, **kw: F.multi_margin_loss(x, t, p, **kw),
        r(5, 4),
        k(4, 5),
    )
    reductions(
        f"multi_margin_weight_{_p}",
        lambda F, x, t, w, p=_p, **kw: F.multi_margin_loss(x, t, p, 0.5, w, **kw),
        r(5, 4),
        k(4, 5),
        Fixed(u(4)),
    )
reductions(
    "multi_margin_1d",
    lambda F, x, t, **kw: F.multi_margin_loss(x, t, **kw),
    r(4),
    Fixed(np.array(2)),
)
reductions(
    "multi_margin_1d_one",
    lambda F, x, t, **kw: F.multi_margin_loss(x, t, **kw),
    r(4),
    Fixed(np.array([2])),
)
_LISTS = Fixed(np.array([[1, 3, -1, 0], [0, 2, 1, 3], [-1, 0, 1, 2], [2, 2, -1, 1]]))
reductions(
    "multilabel_margin", lambda F, x, t, **kw: F.multilabel_margin_loss(x, t, **kw), r(4, 4), _LISTS
)
reductions(
    "multilabel_margin_1d",
    lambda F, x, t, **kw: F.multilabel_margin_loss(x, t, **kw),
    r(4),
    Fixed(np.array([2, 0, -1, 1])),
)
reductions(
    "multilabel_soft",
    lambda F, x, t, **kw: F.multilabel_soft_margin_loss(x, t, **kw),
    r(3, 4),
    Fixed(u(3, 4)),
)
reductions(
    "multilabel_soft_weight",
    lambda F, x, t, w, **kw: F.multilabel_soft_margin_loss(x, t, w, **kw),
    r(3, 4),
    Fixed(u(3, 4)),
    Fixed(u(4)),
)

# ---- distances --------------------------------------------------------------------------------
add("cosine_similarity", lambda m, F, x, y: F.cosine_similarity(x, y), r(3, 4), r(3, 4))
add("cosine_similarity_0", lambda m, F, x, y: F.cosine_similarity(x, y, 0, 1e-3), r(3, 4), r(3, 4))
add(
    "cosine_similarity_broadcast",
    lambda m, F, x, y: F.cosine_similarity(x, y, -1),
    r(3, 4),
    r(1, 4),
)
for _p in (1.0, 2.0, 3.0):
    add(
        f"pairwise_distance_{_p}",
        lambda m, F, x, y, p=_p: F.pairwise_distance(x, y, p),
        r(3, 4),
        r(3, 4),
    )
add(
    "pairwise_distance_kept",
    lambda m, F, x, y: F.pairwise_distance(x, y, keepdim=True),
    r(3, 4),
    r(4),
)
add("pairwise_distance_1d", lambda m, F, x, y: F.pairwise_distance(x, y), r(4), r(4))
add("pdist", lambda m, F, x: F.pdist(x), r(4, 3))
reductions(
    "cosine_embedding",
    lambda F, x, y, t, **kw: F.cosine_embedding_loss(x, y, t, 0.1, **kw),
    r(6, 4),
    r(6, 4),
    signs(6),
)
reductions(
    "cosine_embedding_1d",
    lambda F, x, y, t, **kw: F.cosine_embedding_loss(x, y, t, **kw),
    r(4),
    r(4),
    signs(),
)
reductions(
    "margin_ranking",
    lambda F, x, y, t, **kw: F.margin_ranking_loss(x, y, t, 0.3, **kw),
    r(6),
    r(6),
    signs(6),
)
reductions(
    "hinge_embedding",
    lambda F, x, t, **kw: F.hinge_embedding_loss(x, t, **kw),
    r(3, 4),
    signs(3, 4),
)
reductions(
    "triplet",
    lambda F, a, p, n, **kw: F.triplet_margin_loss(a, p, n, **kw),
    r(5, 4),
    r(5, 4),
    r(5, 4),
)
reductions(
    "triplet_swap",
    lambda F, a, p, n, **kw: F.triplet_margin_loss(a, p, n, 0.7, 3, swap=True, **kw),
    r(5, 4),
    r(5, 4),
    r(5, 4),
)
reductions(
    "triplet_own",
    lambda F, a, p, n, **kw: F.triplet_margin_with_distance_loss(
        a, p, n, distance_function=lambda x, y: ((x - y) ** 2).sum(-1), swap=True, **kw
    ),
    r(5, 4),
    r(5, 4),
    r(5, 4),
)
for _p in (1.0, 2.0, 3.0):
    add(f"normalize_{_p}", lambda m, F, x, p=_p: F.normalize(x, p), r(3, 4))
add("normalize_dims", lambda m, F, x: F.normalize(x, dim=(0, 2)), r(3, 4, 2))

# ---- embedding --------------------------------------------------------------------------------
add("embedding", lambda m, F, w, i: F.embedding(i, w), r(6, 3), k(6, 2, 4))
add("embedding_padding", lambda m, F, w, i: F.embedding(i, w, padding_idx=-5), r(6, 3), k(3, 9))
add(
    "embedding_frequency",
    lambda m, F, w, i: F.embedding(i, w, scale_grad_by_freq=True),
    r(6, 3),
    k(3, 9),
)
add("embedding_0d", lambda m, F, w, i: F.embedding(i, w), r(6, 3), Fixed(np.array(4)))
add(
    "embedding_int32",
    lambda m, F, w, i: F.embedding(i, w),
    r(6, 3),
    Fixed(np.array([1, 1, 5], np.int32)),
)
add("embedding_empty", lambda m, F, w, i: F.embedding(i, w), r(6, 3), k(6, 0))
add(
    "embedding_max_norm",
    lambda m, F, w, i: F.embedding(i, w.clone().detach(), max_norm=1.0),
    r(6, 3),
    k(6, 4),
)
for _mode in ("sum", "mean", "max"):
    add(
        f"bag_{_mode}",
        lambda m, F, w, i, o, n=_mode: F.embedding_bag(i, w, o, mode=n),
        r(6, 3),
        k(6, 9),
        Fixed(np.array([0, 3, 3, 7])),
    )
    add(
        f"bag_2d_{_mode}",
        lambda m, F, w, i, n=_mode: F.embedding_bag(i, w, mode=n),
        r(6, 3),
        k(6, 4, 3),
    )
    add(
        f"bag_padding_{_mode}",
        lambda m, F, w, i, o, n=_mode: F.embedding_bag(i, w, o, mode=n, padding_idx=1),
        r(4, 3),
        k(4, 9),
        Fixed(np.array([0, 3, 3, 7])),
    )
    add(
        f"bag_last_{_mode}",
        lambda m, F, w, i, o, n=_mode: F.embedding_bag(i, w, o, mode=n, include_last_offset=True),
        r(4, 3),
        k(4, 9),
        Fixed(np.array([0, 3, 9])),
    )
add(
    "bag_scales",
    lambda m, F, w, i, o, s: F.embedding_bag(i, w, o, mode="sum", per_sample_weights=s),
    r(6, 3),
    k(6, 9),
    Fixed(np.array([0, 3, 3, 7])),
    u(9),
)
# Not compared: scale_grad_by_freq in bags. torch 2.13 divides the k-th distinct row by the
# frequency of
# the k-th index in sorted order, not by its own.
add("one_hot", lambda m, F, i: F.one_hot(i), k(5, 2, 3))
add("one_hot_given", lambda m, F, i: F.one_hot(i, 7), k(5, 2, 3))

# ---- normalisation ----------------------------------------------------------------------------
add("layer_norm", lambda m, F, x, w, b: F.layer_norm(x, (4,), w, b), r(3, 4), u(4), r(4))
add("layer_norm_plain", lambda m, F, x: F.layer_norm(x, (4,)), r(2, 3, 4))
add(
    "layer_norm_2",
    lambda m, F, x, w, b: F.layer_norm(x, (3, 4), w, b, 1e-2),
    r(2, 3, 4),
    u(3, 4),
    r(3, 4),
)
add("layer_norm_weight", lambda m, F, x, w: F.layer_norm(x, (4,), w), r(3, 4), u(4))
add("layer_norm_bias", lambda m, F, x, b: F.layer_norm(x, (4,), None, b), r(3, 4), r(4))
add("layer_norm_1d", lambda m, F, x, w, b: F.layer_norm(x, (4,), w, b), r(4), u(4), r(4))
add("layer_norm_empty", lambda m, F, x, w, b: F.layer_norm(x, (4,), w, b), r(0, 4), u(4), r(4))
for _shape in ((5, 3), (4, 3, 5), (2, 3, 4, 2)):
    add(
        f"batch_norm_{len(_shape)}",
        lambda m, F, x, w, b: F.batch_norm(x, None, None, w, b, True),
        r(*_shape),
        u(3),
        r(3),
    )
    add(
        f"batch_norm_plain_{len(_shape)}",
        lambda m, F, x: F.batch_norm(x, None, None, training=True),
        r(*_shape),
    )
    add(
        f"batch_norm_eval_{len(_shape)}",
        lambda m, F, x, w, b, u, v: F.batch_norm(x, u, v, w, b, False),
        r(*_shape),
        u(3),
        r(3),
        Fixed(r(3)),
        Fixed(u(3)),
    )


def _running(m: Any, F: Any, x: Any, mean: Any, var: Any) -> Any:
    F.batch_norm(x, mean, var, training=True, momentum=0.3)
    return m.cat([mean, var])


def _running_instance(m: Any, F: Any, x: Any, mean: Any, var: Any) -> Any:
    F.instance_norm(x, mean, var, momentum=0.3)
    return m.cat([mean, var])


add("batch_norm_running", _running, r(4, 3, 5), Fixed(r(3)), Fixed(u(3)))
add("instance_norm_running", _running_instance, r(4, 3, 5), Fixed(r(3)), Fixed(u(3)))
add(
    "instance_norm",
    lambda m, F, x, w, b: F.instance_norm(x, weight=w, bias=b),
    r(2, 3, 5),
    u(3),
    r(3),
)
add("instance_norm_plain", lambda m, F, x: F.instance_norm(x), r(2, 3, 2, 2))
add(
    "instance_norm_eval",
    lambda m, F, x, a, b: F.instance_norm(x, a, b, use_input_stats=False),
    r(2, 3, 5),
    Fixed(r(3)),
    Fixed(u(3)),
)
add("group_norm", lambda m, F, x, w, b: F.group_norm(x, 2, w, b), r(3, 4, 2), u(4), r(4))
add("group_norm_2d", lambda m, F, x, w, b: F.group_norm(x, 2, w, b), r(3, 4), u(4), r(4))
add("group_norm_plain", lambda m, F, x: F.group_norm(x, 4), r(2, 4, 3, 2))
add("rms_norm", lambda m, F, x, w: F.rms_norm(x, (4,), w), r(3, 4), u(4))
add("rms_norm_plain", lambda m, F, x: F.rms_norm(x, (3, 4), eps=0.1), r(2, 3, 4))
add("local_response", lambda m, F, x: F.local_response_norm(x, 2), r(2, 4, 3))
add("local_response_3", lambda m, F, x: F.local_response_norm(x, 3, 0.5, 0.6, 2.0), r(2, 5, 3, 2))

# ---- padding ----------------------------------------------------------------------------------
for _pads in ((1, 2), (0, 0), (-1, 2), (1, 1, 2, 0), (-1, -1, 1, 0, 0, 2)):
    add(f"pad_constant_{_pads}", lambda m, F, x, p=_pads: F.pad(x, p, value=0.5), r(2, 3, 4))
for _mode in ("reflect", "replicate", "circular"):
    add(f"pad_{_mode}_2d", lambda m, F, x, n=_mode: F.pad(x, (2, 1), n), r(3, 4))
    add(f"pad_{_mode}_3d", lambda m, F, x, n=_mode: F.pad(x, (3, 1), n), r(2, 3, 4))
    add(f"pad_{_mode}_4d", lambda m, F, x, n=_mode: F.pad(x, (3, 1, 0, 2), n), r(2, 2, 3, 4))
    add(
        f"pad_{_mode}_5d",
        lambda m, F, x, n=_mode: F.pad(x, (1, 1, 0, 2, 2, 1), n),
        r(1, 2, 3, 4, 2),
    )
    add(f"pad_{_mode}_negative", lambda m, F, x, n=_mode: F.pad(x, (-1, 2), n), r(2, 3, 4))
