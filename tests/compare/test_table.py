"""Every public row on its samples: torch gives the same values, gradients, nodes and errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs torch")

import rushlight  # noqa: E402
from rushlight._array import types as T  # noqa: E402
from rushlight._base import dtypes as D  # noqa: E402
from rushlight._table import Row  # noqa: E402
from rushlight._table.coverage import is_public  # noqa: E402
from tests.table._closeness import ROUNDING, assert_same  # noqa: E402
from tests.table._samples import CASES, Case, as_tensors, listed  # noqa: E402

#: Cases in which Rushlight differs from torch, each with the reason: strict, and only to shrink.
KNOWN: dict[str, str] = {
    "value[native_layer_norm-0-float16]": "means and deviations are kept in single precision",
    "value[native_layer_norm-0-bfloat16]": "means and deviations are kept in single precision",
    "value[linalg_matrix_exp-0-float16]": "PyTorch reads memory that nothing wrote",
    "value[linalg_matrix_exp-0-bfloat16]": "PyTorch reads memory that nothing wrote",
    "gradient[celu-1-float64]": "PyTorch rounds 1 / alpha to single precision",
    **{
        f"{kind}[convolution-{sample}-complex128]": "complex numbers convolve here; PyTorch's "
        "`convolution` refuses what its `conv2d` takes"
        for kind in ("value", "gradient")
        for sample in range(4)
    },
    **{
        f"value[affine_grid_generator-0-{dtype}]": "PyTorch truncates the grid of integers early"
        for dtype in ("uint8", "bool")
    },
}

#: Further element types that the first sample of every row is tried in; most rows refuse some.
FURTHER = (D.int64, D.uint8, D.bool_, D.float16, D.bfloat16)


# ---- calling torch ----------------------------------------------------------------------------


def torch_function(row: Row) -> Callable[..., Any] | None:
    """Torch's public function of the row's name, its method, or its operator."""
    short = row.schema.name.rpartition(".")[2]
    if row.public:
        for namespace in row.namespace:
            place: Any = torch
            for part in namespace.split(".") if namespace else ():
                place = getattr(place, part, None)
            if namespace != "private" and hasattr(place, short):
                return getattr(place, short)  # type: ignore[no-any-return]
    if row.method and hasattr(torch.Tensor, short):
        return getattr(torch.Tensor, short)  # type: ignore[no-any-return]
    return getattr(torch.ops.aten, row.schema.name.replace(".", "_"), None)


def to_torch(arg: Any) -> Any:
    """An argument as torch takes it."""
    if isinstance(arg, np.ndarray):
        if arg.dtype == T.to_raw(D.bfloat16):
            return torch.from_numpy(arg.view(np.uint16).copy()).view(torch.bfloat16)
        return torch.from_numpy(arg.copy())
    if isinstance(arg, list):
        return [to_torch(a) for a in arg]
    return getattr(torch, arg.name) if isinstance(arg, D.dtype) else arg


def from_torch(t: Any) -> Any:
    """The elements of a torch tensor as an array of ours."""
    t = t.detach().resolve_conj().resolve_neg()
    if t._is_zerotensor():
        t = t.clone()
    if t.dtype is torch.bfloat16:
        return t.contiguous().view(torch.uint16).numpy().view(T.to_raw(D.bfloat16))
    if t.dtype is torch.complex32:
        return t.contiguous().view(torch.int32).numpy().view(T.to_raw(D.complex32))
    return t.numpy()


def called(function: Callable[..., Any], row: Row, args: list[Any]) -> list[Any]:
    """The results of a call: keyword-only arguments by name, all others by position."""
    params = row.schema.params
    positional = [a for p, a in zip(params, args) if not p.kw_only]
    return listed(function(*positional, **{p.name: a for p, a in zip(params, args) if p.kw_only}))


class Outcome:
    """What a call gave: results, or the error that it raised."""

    def __init__(self, call: Callable[[], list[Any]]) -> None:
        self.results: list[Any] = []
        self.error: Exception | None = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.results = call()
            except Exception as error:
                self.error = error

    @property
    def told(self) -> str:
        """The error as text; empty where there was none."""
        if self.error is None:
            return ""
        return f"{type(self.error).__name__}: {str(self.error).splitlines()[0]}"


def ours(row: Row, args: list[Any]) -> list[Any]:
    rushlight.manual_seed(0)
    function = row.op.function if row.public else getattr(rushlight.Tensor, row.schema.name)
    return called(function, row, args)


def theirs(row: Row, args: list[Any]) -> list[Any]:
    torch.manual_seed(0)
    function = torch_function(row)
    if function is None:
        raise LookupError(f"torch has no operator {row.schema.name}")
    return called(function, row, args)


# ---- the cases --------------------------------------------------------------------------------


class Retyped:
    """The arguments of a case with its floats in another type."""

    def __init__(self, case: Case, dtype: D.dtype) -> None:
        self.row = case.row
        self.dtype = dtype
        self.id = f"{case.id.removesuffix('float64')}{dtype.name}"
        self.args = [retyped(a, dtype) for a in case.args]


def retyped(arg: Any, dtype: D.dtype) -> Any:
    if isinstance(arg, list):
        return [retyped(a, dtype) for a in arg]
    if isinstance(arg, np.ndarray) and arg.dtype == np.float64:
        if dtype is D.bool_:
            return arg > 0
        if dtype.category == D.INT:
            return numbered(arg, dtype.is_signed).astype(T.to_raw(dtype))
        return arg.astype(T.to_raw(dtype))
    return arg


def numbered(array: Any, signed: bool) -> Any:
    """Distinct integers in the order of the elements, of their signs too, and none of them 0."""
    ranks = np.argsort(np.argsort(array, axis=None)).reshape(array.shape)
    if not signed:
        return ranks + 1
    ranks = ranks - int(np.sum(array < 0))
    return ranks + (ranks >= 0)


PUBLIC = [c for c in CASES if is_public(c.row)]
FIRST = [c for c in PUBLIC if c.dtype is D.float64 and c.label == "0"]
COMPLEX = {c.id for c in PUBLIC if c.dtype is D.complex128}


def further() -> Iterator[Retyped]:
    for case in FIRST:
        if not any(isinstance(a, np.ndarray) and a.dtype == np.float64 for a in case.args):
            continue
        types = FURTHER
        if f"{case.id.removesuffix('float64')}complex128" not in COMPLEX:
            types = (*FURTHER, D.complex128)  # refused: is it by torch?
        for dtype in types:
            yield Retyped(case, dtype)


def marked(cases: list[Any], kind: str) -> Any:
    """The cases as parameters, known differences marked."""
    found = []
    for case in cases:
        reason = KNOWN.get(f"{kind}[{case.id}]")
        marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
        found.append(pytest.param(case, id=case.id, marks=marks))
    return found


@pytest.mark.parametrize("case", marked([*PUBLIC, *further()], "value"))
def test_torch_gives_the_same_value_or_the_same_error(case: Any) -> None:
    row = case.row
    got = Outcome(lambda: ours(row, [as_tensors(a) for a in case.args]))
    want = Outcome(lambda: theirs(row, [to_torch(a) for a in case.args]))
    assert got.told == want.told
    assert len(got.results) == len(want.results)
    for k, (a, b) in enumerate(zip(got.results, want.results)):
        if not isinstance(b, torch.Tensor):
            assert a == b, f"result {k}"
            continue
        assert a.dtype.name == str(b.dtype).removeprefix("torch."), f"the type of result {k}"
        tolerance = ROUNDING.get(a.dtype.name, 0.0)
        assert_same(a._raw, from_torch(b), tolerance, f"result {k}")
        if b.numel() > 1:
            assert steps(a) == steps(b), f"the strides of result {k}"


def steps(t: Any) -> list[int]:
    """The strides of the dimensions along which there is a step."""
    return [step for step, size in zip(t.stride(), t.shape) if size > 1]


GRADED = [c for c in PUBLIC if c.differentiable]


@pytest.mark.parametrize("case", marked(GRADED, "gradient"))
def test_torch_gives_the_same_gradient(case: Case) -> None:
    args = [to_torch(a) for a in case.args]
    inputs = []
    for position, item in case.places:
        t = args[position] if item is None else args[position][item]
        inputs.append(t.requires_grad_())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            outs = theirs(case.row, args)
        except RuntimeError as refusal:
            if "does not support automatic differentiation" in str(refusal):
                return  # Rushlight does more
            raise
        live = [k for k in case.cotangents if outs[k].requires_grad]
        assert live == list(case.cotangents), "other results require grad"
        try:
            found = torch.autograd.grad(
                [outs[k] for k in live],
                inputs,
                [torch.from_numpy(case.cotangents[k].copy()) for k in live],
                allow_unused=True,
            )
        except RuntimeError as refusal:
            if "derivative for" in str(refusal) and "is not implemented" in str(refusal):
                return  # here too
            raise
    for k, (g, mine) in enumerate(zip(found, case.gradients)):
        want = np.zeros_like(mine) if g is None else from_torch(g)
        assert mine.dtype == want.dtype, f"the type of gradient {k}"
        assert_same(mine, want, 3 * ROUNDING[case.dtype.name], f"gradient {k}")


NAMED = [c for c in GRADED if c.dtype is D.float64 and c.label.isdigit()]


@pytest.mark.parametrize("case", marked(NAMED, "node"))
def test_torch_gives_the_node_the_same_name(case: Case) -> None:
    args = [to_torch(a) for a in case.args]
    for position, item in case.places:
        (args[position] if item is None else args[position][item]).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            outs = theirs(case.row, args)
        except RuntimeError as refusal:
            if "does not support automatic differentiation" in str(refusal):
                return
            raise
        mine = ours(case.row, case.tensors(wants=case.everything)[0])
    for k in case.cotangents:
        wanted = type(outs[k].grad_fn).__name__
        assert wanted == "NotImplemented" or type(mine[k].grad_fn).__name__ == wanted
