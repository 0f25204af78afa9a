"""Operations on arrays large enough for kernels, against PyTorch: values and gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight

torch = pytest.importorskip("torch")

ROWS, COLUMNS = 300, 200


def on_both(
    function: Callable[[Any, list[Any]], Any], arrays: list[Any], **tolerance: float
) -> None:
    """Runs `function(torch, leaves)` on both and compares its value and the leaves' gradients."""
    found = []
    for system in (torch, rushlight):
        leaves = [system.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
        y = function(system, leaves)
        weight = np.random.default_rng(9).standard_normal(tuple(y.shape))
        (y * system.tensor(weight, dtype=y.dtype)).sum().backward()
        grads = [x.grad.numpy() for x in leaves if x.grad is not None]
        found.append([y.detach().numpy(), *grads])
    single = arrays[0].dtype == np.float32
    rtol, atol = (1e-4, 2e-5) if single else (1e-7, 1e-10)
    for ours, theirs in zip(found[1], found[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=tolerance.get("atol", atol))


def drawn(dtype: Any, *shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(1)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


BIG = (ROWS, COLUMNS)
DTYPES = [np.float32, np.float64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_along_large_rows(name: str, dtype: Any) -> None:
    on_both(lambda t, x: getattr(t, name)(3 * x[0], -1), drawn(dtype, BIG))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_of_many_elements(approximate: str, dtype: Any) -> None:
    on_both(lambda t, x: t.nn.functional.gelu(3 * x[0], approximate=approximate), drawn(dtype, BIG))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["silu", "sigmoid"])
def test_logistic_functions_of_many_elements(name: str, dtype: Any) -> None:
    on_both(lambda t, x: getattr(t.nn.functional, name)(5 * x[0]), drawn(dtype, BIG))


@pytest.mark.parametrize("dtype", DTYPES)
def test_layer_norm_of_large_rows(dtype: Any) -> None:
    on_both(
        lambda t, x: t.nn.functional.layer_norm(x[0], (COLUMNS,), x[1], x[2]),
        drawn(dtype, BIG, (COLUMNS,), (COLUMNS,)),
        atol=1e-4 if dtype is np.float32 else 1e-10,
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_group_and_batch_norm_of_large_images(dtype: Any) -> None:
    arrays = drawn(dtype, (8, 12, 20, 20), (12,), (12,))
    atol = 1e-3 if dtype is np.float32 else 1e-9
    on_both(lambda t, x: t.nn.functional.group_norm(x[0], 4, x[1], x[2]), arrays, atol=atol)
    on_both(
        lambda t, x: t.nn.functional.batch_norm(x[0], None, None, x[1], x[2], True),
        arrays,
        atol=atol,
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_cross_entropy_of_large_rows(reduction: str, dtype: Any) -> None:
    target = np.random.default_rng(2).integers(0, COLUMNS, ROWS)
    target[::7] = -100
    on_both(
        lambda t, x: t.nn.functional.cross_entropy(x[0], x[1], reduction=reduction),
        [*drawn(dtype, BIG), target],
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
def test_attention_over_long_sequences(causal: bool, dtype: Any) -> None:
    on_both(
        lambda t, x: t.nn.functional.scaled_dot_product_attention(*x, is_causal=causal),
        drawn(dtype, *[(2, 3, 150, 16)] * 3),
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_embedding_of_many_rows(dtype: Any) -> None:
    index = np.random.default_rng(3).integers(0, 50, 900)
    on_both(lambda t, x: t.nn.functional.embedding(x[1], x[0]), [*drawn(dtype, (50, 40)), index])


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_recurrent_layers_over_long_sequences(kind: str) -> None:
    def run(t: Any, x: list[Any]) -> Any:
        layer = getattr(t.nn, kind)(20, 64)
        with t.no_grad():
            for p, value in zip(layer.parameters(), x[1:], strict=True):
                p.copy_(value)
        return layer(x[0])[0]

    gates = 256 if kind == "LSTM" else 192
    arrays = drawn(np.float32, (30, 16, 20), (gates, 20), (gates, 64), (gates,), (gates,))
    on_both(run, [arrays[0], *(0.3 * a for a in arrays[1:])])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {}),
        ("SGD", {"momentum": 0.9, "weight_decay": 0.01}),
        ("SGD", {"momentum": 0.9, "nesterov": True}),
        ("Adam", {}),
        ("Adam", {"weight_decay": 0.01}),
        ("AdamW", {"weight_decay": 0.01}),
    ],
)
def test_optimizers_of_large_parameters(name: str, options: dict[str, Any]) -> None:
    found = []
    for system in (torch, rushlight):
        start, *grads = drawn(np.float32, *[BIG] * 6)
        p = system.nn.Parameter(system.tensor(start))
        optimizer = getattr(system.optim, name)([p], lr=0.01, **options)
        for g in grads:
            p.grad = system.tensor(g)
            optimizer.step()
        found.append(p.detach().numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5, atol=2e-6)
