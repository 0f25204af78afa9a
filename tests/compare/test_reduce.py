"""Reductions, scans, sorting and searching against PyTorch: values, layout, gradients, errors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

import rushlight

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")

DTYPES = [
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "uint8",
    "int8",
    "bool",
    "complex64",
]
DIMS: list[Any] = [0, 1, -1, -2, 2]
SHAPES: dict[str, Any] = {
    "matrix": (3, 4), "cube": (2, 3, 4), "row": (5,), "scalar": (), "empty": (0, 3), "none": (0,),
}  # fmt: skip
#: Sums in another order than PyTorch's may differ in the last places of each type.
TOLERANCE = {
    "float64": 1e-12,
    "float32": 4e-6,
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "complex64": 2e-5,
}


def elements(name: str, shape: tuple[int, ...], seed: int) -> Any:
    """Elements with ties, zeros and both signs."""
    draw = numpy.random.default_rng(seed)
    if name.startswith(("float", "bfloat")):
        return draw.integers(-6, 7, shape) / 4
    if name == "complex64":
        return draw.integers(-4, 5, shape) / 2 + 1j * draw.integers(-4, 5, shape) / 2
    if name == "bool":
        return draw.integers(0, 2, shape).astype(bool)
    return draw.integers(0 if name.startswith("u") else -3, 5, shape)


def made(t: Any, name: str, values: Any, layout: str, grad: bool) -> Any:
    x = t.tensor(values.tolist(), dtype=getattr(t, name))
    if values.size == 0:
        x = t.zeros(values.shape, dtype=getattr(t, name))
    if layout == "transposed" and values.ndim > 1:
        x = x.transpose(0, 1)
    if grad and x.dtype in (t.float32, t.float64):
        x.requires_grad_()
    return x


def tolist(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return [tolist(v) for v in x]
    if isinstance(x, (rushlight.Tensor, torch.Tensor)):
        # PyTorch gives a dimension of size one, and an empty tensor, strides that nobody can use.
        strides = [s for s, n in zip(x.stride(), x.shape) if n != 1] if x.numel() else []
        return {
            "values": x.detach().tolist(), "dtype": str(x.dtype), "shape": tuple(x.shape),
            "strides": strides, "node": type(x.grad_fn).__name__ if x.grad_fn is not None else None,
        }  # fmt: skip
    return x


def close(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(close(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return all(close(a[k], b[k], tolerance) if k == "values" else a[k] == b[k] for k in a)
    if isinstance(a, (float, complex)) and isinstance(b, (float, complex)):
        if a != a or b != b:
            return a != a and b != b
        return a == b or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
    return bool(a == b) and type(a) is type(b)


def leaves(r: Any) -> Iterator[Any]:
    for v in r if isinstance(r, (tuple, list)) else [r]:
        if hasattr(v, "requires_grad") and v.requires_grad:
            yield v


def unnamed(seen: Any) -> Any:
    """What was seen, without the names of nodes."""
    if isinstance(seen, dict):
        return {k: v for k, v in seen.items() if k not in ("node", "strides")}
    return [unnamed(s) for s in seen] if isinstance(seen, list) else seen


def observed(t: Any, call: Any, x: Any, twice: bool) -> Any:
    """What a program sees: the result, the gradient, the gradient of the gradient; or the error."""
    seen: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            r = call(t, x)
            seen += [type(r).__name__ if isinstance(r, tuple) else "", tolist(r)]
            outs = [o for o in leaves(r) if not o.is_leaf]
            if outs and x.requires_grad:
                seen += gradients(t, outs, x, twice)
        except Exception as error:  # the error is what is compared
            seen += [type(error).__name__, str(error).split("\n")[0]]
    return seen


def gradients(t: Any, outs: list[Any], x: Any, twice: bool) -> list[Any]:
    """The gradient of a weighted sum, and the gradient of a weighted sum of that."""
    weights = [(t.arange(o.numel(), dtype=o.dtype).reshape(o.shape) + 1) / 2 for o in outs]
    total = sum((o * w).sum() for o, w in zip(outs, weights))
    (g,) = t.autograd.grad(total, x, create_graph=twice, allow_unused=True)
    seen = [None if g is None else g.detach().tolist()]
    if twice and g is not None and g.requires_grad:
        w = (t.arange(g.numel(), dtype=g.dtype).reshape(g.shape) + 2) / 3
        (gg,) = t.autograd.grad((g * w).sum(), x, allow_unused=True)
        # A second derivative that is zero may be undefined in one and zeros in the other.
        shown = gg is not None and bool(((gg != 0) & (gg == gg)).any())
        seen.append(gg.tolist() if shown else None)
    elif twice:
        seen.append(None)
    return seen


def dims_keeps(function: Any) -> dict[str, Any]:
    """A reduction over every dimension, with and without keeping it."""
    return {
        f"dim{d}{'k' if k else ''}": (lambda t, x, d=d, k=k: function(t, x, d, k))
        for d, k in product(DIMS, (False, True))
    }


CALLS: dict[str, dict[str, Any]] = {
    "sum": {
        "all": lambda t, x: x.sum(),
        "dtype": lambda t, x: x.sum(dtype=t.float64),
        "both": lambda t, x: x.sum((0, 1), True),
        "empty": lambda t, x: x.sum(()),
        "twice": lambda t, x: x.sum((0, 0)),
        "list": lambda t, x: x.sum([0]),
        **dims_keeps(lambda t, x, d, k: t.sum(x, d, k)),
    },
    "mean": {
        "all": lambda t, x: x.mean(),
        "dtype": lambda t, x: x.mean(dtype=t.float64),
        "both": lambda t, x: x.mean((0, 1), True),
        "int": lambda t, x: x.mean(0, dtype=t.int64),
        **dims_keeps(lambda t, x, d, k: t.mean(x, d, k)),
    },
    "prod": {
        "all": lambda t, x: x.prod(),
        "dtype": lambda t, x: x.prod(dtype=t.float64),
        "zeroless": lambda t, x: (x + 0.125).prod(),
        **dims_keeps(lambda t, x, d, k: t.prod(x, d, k)),
    },
    "max": {
        "all": lambda t, x: x.max(),
        "other": lambda t, x: t.max(x, x * 0 + 1),
        **dims_keeps(lambda t, x, d, k: t.max(x, d, k)),
    },
    "min": {
        "all": lambda t, x: x.min(),
        "other": lambda t, x: t.min(x, x * 0 + 1),
        **dims_keeps(lambda t, x, d, k: x.min(dim=d, keepdim=k)),
    },
    "amax": {
        "all": lambda t, x: x.amax(),
        "both": lambda t, x: x.amax((0, 1)),
        **dims_keeps(lambda t, x, d, k: t.amax(x, d, k)),
    },
    "amin": {"all": lambda t, x: x.amin(), **dims_keeps(lambda t, x, d, k: t.amin(x, d, k))},
    "aminmax": {
        "all": lambda t, x: x.aminmax(),
        **dims_keeps(lambda t, x, d, k: t.aminmax(x, dim=d, keepdim=k)),
    },
    "argmax": {"all": lambda t, x: x.argmax(), **dims_keeps(lambda t, x, d, k: t.argmax(x, d, k))},
    "argmin": {"all": lambda t, x: x.argmin(), **dims_keeps(lambda t, x, d, k: t.argmin(x, d, k))},
    "all": {
        "all": lambda t, x: x.all(),
        "both": lambda t, x: x.all((0, 1)),
        **dims_keeps(lambda t, x, d, k: t.all(x, d, k)),
    },
    "any": {
        "all": lambda t, x: x.any(),
        "both": lambda t, x: x.any((0, 1)),
        **dims_keeps(lambda t, x, d, k: t.any(x, d, k)),
    },
    "nansum": {"all": lambda t, x: x.nansum(), **dims_keeps(lambda t, x, d, k: t.nansum(x, d, k))},
    "nanmean": {
        "all": lambda t, x: x.nanmean(),
        **dims_keeps(lambda t, x, d, k: t.nanmean(x, d, k)),
    },
    "count_nonzero": {
        "all": lambda t, x: x.count_nonzero(),
        "dim": lambda t, x: x.count_nonzero(0),
        "bad": lambda t, x: x.count_nonzero(7),
    },
    "logsumexp": dims_keeps(lambda t, x, d, k: t.logsumexp(x, d, k)),
    "std": {
        "all": lambda t, x: x.std(),
        "biased": lambda t, x: x.std(False),
        "correction": lambda t, x: x.std(correction=2),
        "positional": lambda t, x: x.std(0, False, True),
        **dims_keeps(lambda t, x, d, k: t.std(x, d, keepdim=k)),
    },
    "var": {
        "all": lambda t, x: x.var(),
        "biased": lambda t, x: x.var(unbiased=False),
        "correction": lambda t, x: x.var(0, correction=0),
        **dims_keeps(lambda t, x, d, k: t.var(x, d, keepdim=k)),
    },
    "std_mean": {
        "all": lambda t, x: t.std_mean(x),
        **dims_keeps(lambda t, x, d, k: t.std_mean(x, d, keepdim=k)),
    },
    "var_mean": {
        "all": lambda t, x: t.var_mean(x),
        "biased": lambda t, x: t.var_mean(x, False),
        **dims_keeps(lambda t, x, d, k: t.var_mean(x, d, keepdim=k)),
    },
    "norm": {
        "all": lambda t, x: x.norm(),
        "fro": lambda t, x: t.norm(x, "fro"),
        "dtype": lambda t, x: t.norm(x, 2, 0, dtype=t.float64),
        **{
            f"p{p}": (lambda t, x, p=p: x.norm(p))
            for p in (0, 0.5, 1, 1.5, 3, -1, float("inf"), float("-inf"))
        },
        **{
            f"p{p}dim": (lambda t, x, p=p: t.norm(x, p, 0))
            for p in (0, 0.5, 1, 2, 2.5, float("inf"))
        },
        **dims_keeps(lambda t, x, d, k: t.norm(x, dim=d, keepdim=k)),
    },
    "renorm": {
        f"p{p}{d}": (lambda t, x, p=p, d=d: x.renorm(p, d, 1.5))
        for p, d in ((2, 0), (1, -1), (3, 1), (float("inf"), 0), (2, 5), (0, 0))
    },
    "histogram": {
        "plain": lambda t, x: x.detach().histogram(3),
        "range": lambda t, x: t.histogram(x.detach(), 4, range=(-1.0, 1.0), density=True),
        "edges": lambda t, x: t.histogram(x.detach(), t.tensor([-1, 0, 1]).to(x.dtype)),
        "none": lambda t, x: x.detach().float().histogram(0),
    },
    "dist": {
        f"p{p}": (lambda t, x, p=p: t.dist(x, x.detach() * 0 + 1, p))
        for p in (0, 0.5, 1, 2, 3, float("inf"))
    },
    "median": {"all": lambda t, x: x.median()},
    "nanmedian": {"all": lambda t, x: x.nanmedian()},
    "quantile": {
        "all": lambda t, x: x.detach().quantile(0.3),
        "many": lambda t, x: x.detach().quantile(t.tensor([0.1, 0.5], dtype=x.dtype)),
        "range": lambda t, x: x.quantile(1.5),
        "what": lambda t, x: x.quantile(0.5, interpolation="other"),
        **{
            i: (lambda t, x, i=i: x.quantile(0.4, 0, interpolation=i))
            for i in ("linear", "lower", "higher", "midpoint", "nearest")
        },
        **dims_keeps(lambda t, x, d, k: t.quantile(x, t.tensor([0.2, 0.7], dtype=x.dtype), d, k)),
        **{
            f"one{k}": v
            for k, v in dims_keeps(lambda t, x, d, k: t.nanquantile(x, 0.6, d, k)).items()
        },
    },
    "cumsum": {f"{d}": (lambda t, x, d=d: x.cumsum(d)) for d in DIMS},
    "cumprod": {f"{d}": (lambda t, x, d=d: x.cumprod(d)) for d in DIMS},
    "cummax": {f"{d}": (lambda t, x, d=d: x.cummax(d)) for d in DIMS},
    "cummin": {f"{d}": (lambda t, x, d=d: x.cummin(d)) for d in DIMS},
    "logcumsumexp": {f"{d}": (lambda t, x, d=d: x.logcumsumexp(d)) for d in DIMS},
    "diff": {
        "plain": lambda t, x: x.diff(),
        "twice": lambda t, x: x.diff(n=2, dim=0),
        "none": lambda t, x: x.diff(n=0),
        "more": lambda t, x: x.diff(n=9),
        "pre": lambda t, x: t.diff(x, dim=0, prepend=x),
        "negative": lambda t, x: x.diff(n=-1),
    },
    "trapezoid": {
        "plain": lambda t, x: t.trapezoid(x),
        "dx": lambda t, x: t.trapezoid(x, dx=0.5, dim=0),
        "x": lambda t, x: t.trapezoid(x, x * 2),
        "cumulative": lambda t, x: t.cumulative_trapezoid(x),
        "cumulative_x": lambda t, x: t.cumulative_trapezoid(x, x + 1, dim=0),
    },
    "gradient": {
        "plain": lambda t, x: t.gradient(x),
        "second": lambda t, x: t.gradient(x, edge_order=2),
        "spacing": lambda t, x: t.gradient(x, spacing=0.5, dim=0),
    },
    "sort": {
        "plain": lambda t, x: x.sort(),
        "stable": lambda t, x: x.sort(stable=True),
        "argsort": lambda t, x: x.argsort(descending=True),
        "msort": lambda t, x: t.msort(x),
        **{
            f"{d}{k}": (lambda t, x, d=d, k=k: x.sort(d, k))
            for d, k in product(DIMS, (False, True))
        },
    },
    "topk": {
        "all": lambda t, x: x.detach().topk(x.shape[-1] if x.ndim else 1).values,
        "zero": lambda t, x: x.topk(0),
        "much": lambda t, x: x.topk(9),
        "small": lambda t, x: x.detach().topk(2, largest=False).values,
    },
    "kthvalue": {
        "first": lambda t, x: x.detach().kthvalue(1).values,
        "second": lambda t, x: x.detach().kthvalue(2, 0, True).values,
        "much": lambda t, x: x.kthvalue(9),
        "zero": lambda t, x: x.kthvalue(0),
    },
    "mode": dims_keeps(lambda t, x, d, k: t.mode(x, d, k)),
    "unique": {
        "plain": lambda t, x: x.unique(),
        "all": lambda t, x: x.unique(return_inverse=True, return_counts=True),
        "dim": lambda t, x: t.unique(x, dim=0, return_counts=True),
        "runs": lambda t, x: x.unique_consecutive(return_inverse=True, return_counts=True),
        "runs_dim": lambda t, x: x.unique_consecutive(dim=0, return_inverse=True),
    },
    "histc": {
        "plain": lambda t, x: x.histc(4),
        "range": lambda t, x: t.histc(x, 3, -1, 1),
        "zero": lambda t, x: x.histc(0),
        "wrong": lambda t, x: x.histc(3, 2, 1),
    },
    "bincount": {
        "plain": lambda t, x: x.bincount(),
        "least": lambda t, x: t.bincount(x, minlength=9),
    },
    "isin": {
        "plain": lambda t, x: t.isin(x, t.tensor([1, 0]).to(x.dtype)),
        "one": lambda t, x: t.isin(x, 1),
        "not": lambda t, x: t.isin(x, t.tensor([1]).to(x.dtype), invert=True),
    },
    "search": {
        "sorted": lambda t, x: t.searchsorted(x.detach().sort()[0], x.detach()),
        "right": lambda t, x: t.searchsorted(
            x.detach().sort()[0], x.detach(), right=True, out_int32=True
        ),
        "bucketize": lambda t, x: t.bucketize(x, t.tensor([-1, 0, 1]).to(x.dtype)),
        "number": lambda t, x: t.searchsorted(x.detach().flatten().sort()[0], 1),
    },
}

#: Along a dimension PyTorch finds medians by quickselect: it takes any of equal elements.
DISTINCT: dict[str, dict[str, Any]] = {
    "median": dims_keeps(lambda t, x, d, k: t.median(x, d, k)),
    "nanmedian": dims_keeps(lambda t, x, d, k: t.nanmedian(x, d, k)),
    "kthvalue": dims_keeps(lambda t, x, d, k: t.kthvalue(x, 2, d, k)),
    "topk": {
        f"{d}{k}": (lambda t, x, d=d, k=k: t.topk(x, 2, d, k))
        for d, k in product(DIMS, (False, True))
    },
}

#: PyTorch composes these of other operations than the ones here: the last node has another name,
#: and the parts are put together in another layout.
COMPOSED = {"quantile", "diff", "trapezoid", "gradient"}

#: What is known to differ, as "operation", "operation/call" or "operation/dtype", with the reason.
KNOWN: dict[str, str] = {
    "norm/p0": "PyTorch leaves the gradient of a count undefined, here it is zeros",
    "norm/p0dim": "the same",
    "dist/p0": "the same",
    "histogram/uint8": "PyTorch refuses it too, in other words",
    "histogram/bool": "the same",
    "search/number": "for a number PyTorch takes boundaries of any type",
}


def differences(operation: str, calls: dict[str, Any], distinct: bool = False) -> Iterator[str]:
    names = ["float64", "float32", "int64"] if distinct else DTYPES
    for name, (form, shape), layout in product(names, SHAPES.items(), ("contiguous", "transposed")):
        if layout == "transposed" and len(shape) < 2:
            continue
        values = elements(name, shape, len(form))
        if distinct:
            values = (
                numpy.random.default_rng(1)
                .permutation(values.size)
                .reshape(shape)
                .astype(values.dtype)
            )
        for label, call in calls.items():
            pair = []
            for t in (torch, rushlight):
                x = made(t, name, values, layout, grad=True)
                pair.append(observed(t, call, x, twice=name == "float64"))
            if operation in COMPOSED:
                pair = [unnamed(seen) for seen in pair]
            if not close(pair[0], pair[1], TOLERANCE.get(name, 1e-6)):
                where = f"{operation}/{label} {name} {form} {layout}"
                if not any(
                    k in KNOWN for k in (operation, f"{operation}/{label}", f"{operation}/{name}")
                ):
                    yield f"{where}\n  torch     {pair[0]}\n  rushlight {pair[1]}"


@pytest.mark.parametrize("operation", list(CALLS))
def test_a_reduction_agrees_with_pytorch(operation: str) -> None:
    found = list(differences(operation, CALLS[operation]))
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:20])


@pytest.mark.parametrize("operation", list(DISTINCT))
def test_a_choice_among_distinct_elements_agrees_with_pytorch(operation: str) -> None:
    found = list(differences(operation, DISTINCT[operation], distinct=True))
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:20])
