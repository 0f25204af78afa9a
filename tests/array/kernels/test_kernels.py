"""Kernels against NumPy's ways of the same functions, over shapes, dtypes, special values."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as rl
from rushlight._array import kernels
from rushlight._array.elementwise import activations as logistic, erf
from rushlight._array.nn import attention, batch_norm as channels, class_losses, recurrent
from rushlight._array.optimizers.rule import SMALL
from rushlight._array.shape import gather
from rushlight._native.llvm import target
from rushlight._table.reduce.softmax import LOG_SOFTMAX, SOFTMAX
from tests.array import _norms as moments

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

softmax, softmax_backward = SOFTMAX.op.raw, SOFTMAX.op.formulas[0]
log_softmax, log_softmax_backward = LOG_SOFTMAX.op.raw, LOG_SOFTMAX.op.formulas[0]

DTYPES = [np.float32, np.float64]
TOLERANCE = {np.dtype(np.float32): 2e-6, np.dtype(np.float64): 1e-13}


def flat(found: Any) -> list[Any]:
    if isinstance(found, tuple | list):
        return [x for one in found for x in flat(one)]
    return [found]


def both(monkeypatch: pytest.MonkeyPatch, function: Callable[[], Any]) -> None:
    """Runs `function` by kernels and by NumPy and compares what it gives."""
    monkeypatch.setattr(kernels, "LEAST", 0)
    found = flat(function())
    monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
    with np.errstate(all="ignore"):
        others = flat(function())
    for a, b in zip(found, others, strict=True):
        if b is None:
            assert a is None
            continue
        assert a.shape == b.shape and a.dtype == b.dtype
        finite = np.abs(b[np.isfinite(b)])
        scale = max(1.0, float(finite.max(initial=0)))
        tolerance = TOLERANCE[b.dtype]
        np.testing.assert_allclose(a, b, rtol=10 * tolerance, atol=tolerance * scale)


def normal(seed: int, dtype: Any, *shape: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


SHAPES = [(3, 8), (5, 17), (2, 3, 64), (4, 65), (7, 130), (2, 1000), (3, 5000)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax_and_its_relatives(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], dtype: Any
) -> None:
    x, g = 5 * normal(1, dtype, *shape), normal(2, dtype, *shape)
    y = softmax(x, -1)
    log_y = log_softmax(x, -1)
    both(monkeypatch, lambda: softmax(x, -1))
    both(monkeypatch, lambda: softmax_backward(g, y, -1))
    both(monkeypatch, lambda: log_softmax(x, -1))
    both(monkeypatch, lambda: log_softmax_backward(g, log_y, -1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_with_special_values(monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    x = normal(3, dtype, 9, 40)
    x[0] = -np.inf
    x[1, 3] = np.inf
    x[2, 5] = np.nan
    x[3, :20] = -np.inf
    x[4] = 1e4
    x[5, 7] = -1e30
    x[6, 39] = np.nan
    x[7] = 0
    both(monkeypatch, lambda: softmax(x, -1))
    both(monkeypatch, lambda: log_softmax(x, -1))
    both(monkeypatch, lambda: moments.layer_norm(x[5:], 1, None, None, 1e-5))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("classes", [8, 10, 65, 200])
@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_cross_entropy(
    monkeypatch: pytest.MonkeyPatch, classes: int, reduction: int, dtype: Any
) -> None:
    x = 3 * normal(4, dtype, 30, classes)
    target = np.random.default_rng(5).integers(0, classes, 30)
    g = normal(6, dtype, 30) if reduction == 0 else np.array(0.7, dtype)
    for ignored in (-100, 3):
        both(monkeypatch, lambda i=ignored: class_losses.cross_entropy(x, target, reduction, i))
        both(
            monkeypatch,
            lambda i=ignored: class_losses.cross_entropy_backward(g, x, target, reduction, i),
        )
    target[::3] = -100
    both(monkeypatch, lambda: class_losses.cross_entropy(x, target, reduction))
    both(
        monkeypatch,
        lambda: class_losses.cross_entropy_backward(g, x, target, reduction, -100),
    )


def test_a_class_that_is_none_is_refused_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LEAST", 0)
    x, target = normal(4, np.float32, 6, 10), np.array([0, 1, 2, 3, 4, 10])
    with pytest.raises(IndexError, match="Target 10 is out of bounds"):
        class_losses.cross_entropy(x, target)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_layer_norm(monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], dtype: Any) -> None:
    x, g = normal(7, dtype, *shape) + 2, normal(8, dtype, *shape)
    w, b = normal(9, dtype, shape[-1]), normal(10, dtype, shape[-1])
    for weight, bias in ((None, None), (w, None), (w, b)):
        both(monkeypatch, lambda w=weight, b=bias: moments.layer_norm(x, 1, w, b, 1e-5))
        _, mean, inverse = moments.layer_norm(x, 1, weight, bias, 1e-5)
        need = (True, weight is not None, bias is not None)
        args = (g, x, 1, mean, inverse, weight, need)
        both(monkeypatch, lambda a=args: moments.layer_norm_backward(*a))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm(monkeypatch: pytest.MonkeyPatch, training: bool, dtype: Any) -> None:
    x, g = normal(11, dtype, 4, 6, 5, 7) + 3, normal(12, dtype, 4, 6, 5, 7)
    w, b, mean = (normal(13 + k, dtype, 6) for k in range(3))
    var = np.abs(normal(16, dtype, 6)) + 0.1
    w[2] = 0
    for weight, bias in ((None, None), (w, b)):
        args = (x, weight, bias, mean, var, training, 1e-5)
        both(monkeypatch, lambda a=args: channels.batch_norm(*a))
        _, centre, inverse = channels.batch_norm(*args)
        back = (g, x, weight, mean, var, centre, inverse, training, 1e-5, (True, True, True))
        both(monkeypatch, lambda a=back: channels.batch_norm_backward(*a))


@pytest.mark.parametrize("dtype", DTYPES)
def test_group_norm(monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    x, g = normal(17, dtype, 3, 6, 20) - 1, normal(18, dtype, 3, 6, 20)
    w, b = normal(19, dtype, 6), normal(20, dtype, 6)
    w[1] = 0
    for weight, bias in ((None, None), (w, b)):
        both(monkeypatch, lambda w=weight, b=bias: moments.group_norm(x, 3, w, b, 1e-5))
        _, mean, inverse = moments.group_norm(x, 3, weight, bias, 1e-5)
        args = (g, x, 3, mean, inverse, weight, (True, True, True))
        both(monkeypatch, lambda a=args: moments.group_norm_backward(*a))


SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 30.0, -30.0, 90.0, -90.0, 1e20, -1e20]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 15, 64, 1000, 10_000])
def test_activations(monkeypatch: pytest.MonkeyPatch, size: int, dtype: Any) -> None:
    x, g = 4 * normal(21, dtype, size), normal(22, dtype, size)
    if size > len(SPECIAL):
        x[: len(SPECIAL)] = SPECIAL
    with np.errstate(all="ignore"):
        for approximate in ("none", "tanh"):
            both(monkeypatch, lambda a=approximate: erf.gelu(x, a))
            both(monkeypatch, lambda a=approximate: erf.gelu_backward(g, x, a))
        both(monkeypatch, lambda: logistic.sigmoid(x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 20, 8), (1, 2, 130, 16), (2, 1, 1, 4)])
def test_attention(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], causal: bool, dtype: Any
) -> None:
    q, k, v, g = (normal(23 + i, dtype, *shape) for i in range(4))
    both(monkeypatch, lambda: attention.attention(q, k, v, None, causal, None))
    out, logs = attention.attention(q, k, v, None, causal, None)
    both(
        monkeypatch,
        lambda: attention.attention_backward(g, q, k, v, out, logs, None, causal, None),
    )


def in_other_places(x: Any, how: str) -> Any:
    """The same numbers in a view with other strides."""
    if how == "turned":  # as a projection for all heads leaves them
        return np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2)
    if how == "packed":
        return np.concatenate([x, x, x], -1)[..., x.shape[-1] : 2 * x.shape[-1]]
    if how == "backwards":
        return np.ascontiguousarray(x[:, :, ::-1])[:, :, ::-1]
    if how == "columns":
        return np.ascontiguousarray(x.swapaxes(2, 3)).swapaxes(2, 3)
    return np.asfortranarray(x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("how", ["turned", "packed", "backwards", "columns", "fortran"])
def test_attention_of_views(
    monkeypatch: pytest.MonkeyPatch, how: str, causal: bool, dtype: Any
) -> None:
    monkeypatch.setattr(kernels, "LEAST", 0)
    q, k, v, g = (normal(23 + i, dtype, 2, 3, 70, 8) for i in range(4))
    out, logs = attention.attention(q, k, v, None, causal, None)
    gradients = attention.attention_backward(g, q, k, v, out, logs, None, causal, None)
    views = [in_other_places(x, how) for x in (q, k, v, g, out)]
    seen, seen_logs = attention.attention(*views[:3], None, causal, None)
    bound = 2e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(seen, out, rtol=bound, atol=bound)
    np.testing.assert_allclose(seen_logs, logs, rtol=bound, atol=bound)
    others = attention.attention_backward(views[3], *views[:3], views[4], logs, None, causal, None)
    for one, other in zip(gradients, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=bound, atol=10 * bound)
    for before, view in zip((q, k, v, g, out), views):
        np.testing.assert_array_equal(before, view)  # none was written


@pytest.mark.parametrize("dtype", DTYPES)
def test_heads_of_queries_may_share_one_of_keys(
    monkeypatch: pytest.MonkeyPatch, dtype: Any
) -> None:
    q, g = normal(27, dtype, 2, 4, 9, 8), normal(28, dtype, 2, 4, 9, 8)
    k, v = normal(29, dtype, 2, 2, 9, 8), normal(30, dtype, 2, 2, 9, 8)
    both(monkeypatch, lambda: attention.attention(q, k, v, None, True, 0.3))
    out, logs = attention.attention(q, k, v, None, True, 0.3)
    both(monkeypatch, lambda: attention.attention_backward(g, q, k, v, out, logs, None, True, 0.3))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [None, (5, 4, 2)])
@pytest.mark.parametrize("reverse", [False, True])
def test_recurrent_layers(
    monkeypatch: pytest.MonkeyPatch, sizes: Any, reverse: bool, dtype: Any
) -> None:
    size, width = 24, 7
    x = normal(31, dtype, *((11, width) if sizes else (3, 5, width)))
    hx, cx = normal(32, dtype, 5, size), normal(33, dtype, 5, size)
    w_ih, w_hh = normal(34, dtype, 4 * size, width), 0.3 * normal(35, dtype, 4 * size, size)
    b_ih, b_hh = normal(36, dtype, 4 * size), normal(37, dtype, 4 * size)
    args = (x, hx, cx, w_ih, w_hh, b_ih, b_hh, None, sizes, reverse)
    both(monkeypatch, lambda: recurrent.lstm(*args))
    out, _, _, gates, cells = recurrent.lstm(*args)
    g, g_hy, g_cy = np.ones_like(out), normal(38, dtype, 5, size), normal(39, dtype, 5, size)
    back = (g, g_hy, g_cy, *args[:-2], out, gates, cells, sizes, reverse, (True,) * 8)
    both(monkeypatch, lambda: recurrent.lstm_backward(*back))
    three = 3 * size
    gru = (x, hx, w_ih[:three], w_hh[:three], b_ih[:three], b_hh[:three], sizes, reverse)
    both(monkeypatch, lambda: recurrent.gru(*gru))
    plain = (x, hx, w_ih[:three], w_hh[:three], None, None, sizes, reverse)
    both(monkeypatch, lambda: recurrent.gru(*plain))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_projected_state(monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    x, hx, cx = normal(40, dtype, 3, 5, 6), normal(41, dtype, 5, 4), normal(42, dtype, 5, 16)
    w_ih, w_hh = normal(43, dtype, 64, 6), 0.3 * normal(44, dtype, 64, 4)
    w_hr = normal(45, dtype, 4, 16)
    args = (x, hx, cx, w_ih, w_hh, None, None, w_hr, None, False)
    both(monkeypatch, lambda: recurrent.lstm(*args))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [8, 33, 200])
def test_rows_added_to_a_table(monkeypatch: pytest.MonkeyPatch, width: int, dtype: Any) -> None:
    index = np.random.default_rng(46).integers(0, 11, 90)
    g = normal(47, dtype, 90, width)
    both(monkeypatch, lambda: gather.embedding_backward(g, index, 11, 3))


OPTIONS: list[dict[str, Any]] = [
    {}, {"weight_decay": 0.1}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True},
    {"momentum": 0.8, "dampening": 0.3, "weight_decay": 0.01}, {"maximize": True},
]  # fmt: skip


ADAM_OPTIONS: list[dict[str, Any]] = [
    {}, {"weight_decay": 0.1}, {"decoupled_weight_decay": True, "weight_decay": 0.1},
    {"amsgrad": True, "maximize": True}, {"betas": (0.3, 0.9)},
]  # fmt: skip
STEPS = [
    *[("SGD", one) for one in OPTIONS], *[("Adam", one) for one in ADAM_OPTIONS],
    ("RMSprop", {}), ("RMSprop", {"centered": True, "momentum": 0.9}), ("Adagrad", {}),
    ("Adadelta", {}), ("Adamax", {}), ("NAdam", {}), ("RAdam", {}),
    ("RAdam", {"betas": (0.3, 0.5)}), ("Rprop", {}), ("ASGD", {"t0": 1}),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rule", "options"), STEPS)
def test_steps_of_optimizers(
    monkeypatch: pytest.MonkeyPatch, rule: str, options: dict[str, Any], dtype: Any
) -> None:
    def steps() -> list[Any]:
        p, g = (normal(48 + k, dtype, SMALL + 77) for k in range(2))
        parameter = rl.nn.Parameter(rl.from_numpy(p))
        optimizer = getattr(rl.optim, rule)([parameter], lr=0.01, **options)
        for sign in (1, -0.5, 2):
            parameter.grad = rl.from_numpy(sign * g)
            optimizer.step()
        state = optimizer.state[parameter].values()
        return [parameter.detach().numpy(), *(t.numpy() for t in state if t.ndim)]

    both(monkeypatch, steps)


def test_arrays_of_other_layouts_and_dtypes_go_the_old_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = normal(55, np.float32, 40, 30)
    for odd in (x.T, x[:, ::2], x.astype(np.float16)):
        monkeypatch.setattr(kernels, "LEAST", 0)
        found = softmax(odd, -1)
        monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
        np.testing.assert_array_equal(found, softmax(odd, -1))


def test_large_work_is_the_same_for_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rushlight._array.memory import parallel

    monkeypatch.setattr(kernels, "LEAST", 0)
    x, g = normal(56, np.float32, 3000, 384), normal(57, np.float32, 3000, 384)
    w = normal(58, np.float32, 384)
    before = parallel.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            parallel.set_num_threads(threads)
            _, mean, inverse = moments.layer_norm(x, 1, w, None, 1e-5)
            need = (True, True, True)
            back = moments.layer_norm_backward(g, x, 1, mean, inverse, w, need)
            results.append([*back, erf.gelu(x), softmax(x, -1)])
    finally:
        parallel.set_num_threads(before)
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


PROGRAM = """
import sys
import rushlight as torch
from rushlight._array import kernels
assert "llvmlite" not in sys.modules, "importing loads the compiler"
torch.softmax(torch.ones(10, 10), 1)
assert "llvmlite" not in sys.modules, "small work loads the compiler"
y = torch.softmax(torch.ones(300, 100, requires_grad=True), 1)
y.sum().backward()
assert abs(y[0, 0].item() - 0.01) < 1e-7
print("llvmlite" in sys.modules, kernels.LEAST == sys.maxsize)
"""


@pytest.mark.parametrize(("native", "expected"), [("1", "True False"), ("0", "False True")])
def test_the_compiler_is_loaded_at_the_first_large_use_only(native: str, expected: str) -> None:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "RUSHLIGHT_NATIVE": native, "RUSHLIGHT_PREBUILT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.strip() == expected, found.stderr


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(19, 40), (1, 1, 19, 40), (3, 4, 19, 40), (3, 1, 1, 40)])
@pytest.mark.parametrize("boolean", [True, False])
def test_attention_under_a_mask(
    monkeypatch: pytest.MonkeyPatch, boolean: bool, shape: tuple[int, ...], dtype: Any
) -> None:
    q, g = normal(61, dtype, 3, 4, 19, 16), normal(62, dtype, 3, 4, 19, 16)
    k, v = normal(63, dtype, 3, 4, 40, 16), normal(64, dtype, 3, 4, 40, 16)
    seen = np.random.default_rng(65).random(shape) > 0.3
    seen[..., 0, :] = False  # a query that sees no key
    mask = seen if boolean else np.where(seen, normal(66, dtype, *shape), -np.inf).astype(dtype)
    out, logs = attention.attention(q, k, v, mask, False, None)
    both(monkeypatch, lambda: attention.attention(q, k, v, mask, False, None))
    both(
        monkeypatch,
        lambda: attention.attention_backward(g, q, k, v, out, logs, mask, False, None),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "axis"), [((3, 5, 70), 1), ((2, 21, 9, 9), 1), ((40, 33), 0), ((2, 3, 4, 16), -2)]
)
def test_softmax_along_an_axis_behind_which_others_lie(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], axis: int, dtype: Any
) -> None:
    x, g = 5 * normal(1, dtype, *shape), normal(2, dtype, *shape)
    y, log_y = softmax(x, axis), log_softmax(x, axis)
    assert kernels.channel_softmax.softmax(axis, x) is not None
    both(monkeypatch, lambda: softmax(x, axis))
    both(monkeypatch, lambda: softmax_backward(g, y, axis))
    both(monkeypatch, lambda: log_softmax(x, axis))
    both(monkeypatch, lambda: log_softmax_backward(g, log_y, axis))
    x[(0,) * (x.ndim - 1)] = np.nan
    x.swapaxes(axis, -1)[-1, ..., :] = -np.inf
    x.swapaxes(axis, -1)[-1, ..., 0] = 1e4
    both(monkeypatch, lambda: softmax(x, axis))
    both(monkeypatch, lambda: log_softmax(x, axis))
