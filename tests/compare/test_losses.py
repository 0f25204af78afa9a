"""Losses, softmax, normalisation, embeddings and padding do what they do on torch.

Values, dtypes, shapes, first and second gradients, and the names in the graph.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from loss_cases import CASES, Fixed

torch = pytest.importorskip("torch", reason="the comparison needs torch")

import rushlight  # noqa: E402
from rushlight.nn import functional  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
TOLERANCE = {"float64": (1e-9, 1e-11), "float32": (2e-4, 2e-5), "float16": (2e-2, 5e-3)}
# torch has no half-precision kernel, or no derivative of the gradient.
NO_HALF = (
    "multi_margin",
    "multilabel_margin",
    "pdist",
    "bag_",
    "pad_reflect",
    "pad_replicate",
    "local_response",
)
NO_SECOND = (
    "multi_margin",
    "multilabel_margin",
    "bag_",
    "embedding_frequency",
    "pdist",
    "layer_norm_bias",
)
# Rushlight's own names: torch pools, copies or cuts where Rushlight has one operation.
OTHER_GRAPH = ("local_response", "pad_circular", "pdist", "softmax_to_double", "gumbel")


def _tensors(module: Any, arrays: Any, dtype: str) -> list[Any]:
    made = []
    for array in arrays:
        fixed = isinstance(array, Fixed)
        values = array.array if fixed else array
        if values.dtype.kind == "f":
            t = module.tensor(values.astype(dtype), dtype=getattr(module, dtype))
            made.append(t if fixed else t.requires_grad_())
        else:
            made.append(module.tensor(values))
    return made


def _numbers(t: Any) -> Any:
    return (
        None
        if t is None
        else np.asarray((t.detach() + 0).tolist(), np.float64).reshape(tuple(t.shape))
    )


def _names(function: Any) -> Any:
    if function is None:
        return None
    return (type(function).__name__, [_names(f) for f, _ in function.next_functions])


def _one_node(graph: Any) -> Any:
    """The graph with log_softmax and nll_loss as one node: Rushlight's cross_entropy of rows."""
    if graph is None:
        return None
    name, inner = graph
    if name == "NllLossBackward0" and inner[0] and inner[0][0] == "LogSoftmaxBackward0":
        return name, inner[0][1]
    return name, [_one_node(g) for g in inner]


def _observed(module: Any, space: Any, case: Any, dtype: str, second: bool) -> dict[str, Any]:
    inputs = _tensors(module, case.arrays, dtype)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = case.function(module, space, *inputs)
    seen: dict[str, Any] = {
        "value": _numbers(out),
        "dtype": str(out.dtype).rpartition(".")[2],
        "shape": tuple(out.shape),
        "warnings": [str(w.message) for w in caught if "internally" not in str(w.message)],
        "requires_grad": out.requires_grad,
    }
    if not out.requires_grad:
        return seen
    seen["graph"] = _names(out.grad_fn)
    wanted = [t for t in inputs if t.requires_grad]
    weights = module.tensor(
        np.cos(np.arange(out.numel())).reshape(tuple(out.shape)), dtype=out.dtype
    )
    loss = (out * weights).sum()
    first = module.autograd.grad(loss, wanted, create_graph=second, allow_unused=True)
    for i, g in enumerate(first):
        seen[f"gradient {i}"] = _numbers(g)
    live = [g for g in first if g is not None and g.requires_grad]
    if second and live:
        total = sum((g * g).sum() for g in live)
        again = module.autograd.grad(total, wanted, allow_unused=True)
        for i, g in enumerate(again):
            seen[f"second gradient {i}"] = _numbers(g)
    return seen


def _compare(name: str, dtype: str, second: bool) -> None:
    case = CASES[name]
    theirs = _observed(torch, torch.nn.functional, case, dtype, second)
    ours = _observed(rushlight, functional, case, dtype, second)
    relative, absolute = TOLERANCE[dtype]
    for key, wanted in theirs.items():
        got = ours.get(key)
        if key == "graph":
            if not name.startswith(OTHER_GRAPH) and dtype != "float16":
                assert got in (wanted, _one_node(wanted)), key
        elif isinstance(wanted, np.ndarray):
            if got is None:
                got = np.zeros_like(wanted)
            assert got.shape == wanted.shape, key
            np.testing.assert_allclose(got, wanted, relative, absolute, err_msg=key)
        elif wanted is None and isinstance(got, np.ndarray):
            np.testing.assert_allclose(got, 0, atol=absolute, err_msg=key)
        else:
            assert got == wanted, key


@pytest.mark.parametrize("name", CASES)
def test_float64_values_and_two_gradients_are_torchs(name: str) -> None:
    _compare(name, "float64", not name.startswith(NO_SECOND))


@pytest.mark.parametrize("name", CASES)
def test_float32_values_and_gradients_are_torchs(name: str) -> None:
    _compare(name, "float32", False)


@pytest.mark.parametrize("name", [n for n in CASES if not n.startswith(NO_HALF)])
def test_float16_values_and_gradients_are_torchs(name: str) -> None:
    _compare(name, "float16", False)
