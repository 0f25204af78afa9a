"""What rows compute: against a reference, in lower precision, in every layout and calling form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight._array import types as T
from rushlight._base import dtypes as D
from rushlight._core.storage import TensorBase, new_tensor
from rushlight._table import TENSOR_METHODS, Row
from rushlight._table.calls.argument_parser import complaint
from rushlight._table.calls.signature_kinds import kind_of
from tests.table._closeness import ROUNDING, assert_same
from tests.table._samples import (
    BROKEN,
    CASES,
    Case,
    all_rows,
    as_tensors,
    listed,
    raw_of,
    row_name,
    with_arrays,
)

DOUBLES = [c for c in CASES if c.dtype in (D.float64, D.complex128, D.int64, D.bool_)]
SINGLES = [c for c in CASES if c.dtype in (D.float32, D.complex64)]
FIRST = [c for c in CASES if c.dtype is D.float64 and c.label == "0"]
BY_ID = {c.id: c for c in CASES}
WIDER = {"float32": "float64", "complex64": "complex128"}


def shown(cases: list[Any]) -> dict[str, Any]:
    return {"argvalues": cases, "ids": [c.id for c in cases]}


@pytest.mark.parametrize("row", all_rows(), ids=row_name)
def test_a_row_runs_on_its_samples(row: Row) -> None:
    broken = BROKEN.get(row_name(row))
    if broken is not None:
        pytest.fail(broken.message, pytrace=False)


REFERENCED = [c for c in DOUBLES if c.row.ref is not None]

if REFERENCED:

    @pytest.mark.parametrize("case", **shown(REFERENCED))
    def test_the_value_is_that_of_the_reference(case: Case) -> None:
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in case.args]
        wanted = listed(case.row.ref(*copies))
        for k, (got, want) in enumerate(zip(case.result, wanted, strict=True)):
            assert_same(got, np.asarray(want), ROUNDING["float64"], f"output {k}")


@pytest.mark.parametrize("case", **shown(SINGLES))
def test_single_precision_gives_nearly_the_value_of_double_precision(case: Case) -> None:
    wide = BY_ID.get(case.id.removesuffix(case.dtype.name) + WIDER[case.dtype.name])
    assert wide is not None
    for k, (got, want) in enumerate(zip(case.result, wide.result, strict=True)):
        assert_same(got, want, ROUNDING["float32"], f"output {k}")
    if case.differentiable and not case.random:
        for k, (got, want) in enumerate(
            zip(case.vjp(case.arrays, narrowed(wide, case)), wide.gradients, strict=True)
        ):
            assert_same(got, want, ROUNDING["float32"] * 5, f"gradient {k}")


def narrowed(wide: Case, case: Case) -> dict[int, Any]:
    """The cotangents of the case in double precision, as those of the case in single precision."""
    return {k: u.astype(case.result[k].dtype) for k, u in wide.cotangents.items()}


@pytest.mark.parametrize("case", **shown(SINGLES))
def test_results_and_gradients_are_of_the_type_of_the_inputs(case: Case) -> None:
    wide = BY_ID[case.id.removesuffix(case.dtype.name) + WIDER[case.dtype.name]]
    arrays = [a for a in arrays_of(case.args) if a.dtype.kind in "fc"]
    asked = any(isinstance(a, D.dtype) for a in case.args)
    one_type = arrays and all(a.dtype in (T.to_raw(case.dtype), np.float32) for a in arrays)
    if one_type and not asked:
        for k, (got, want) in enumerate(zip(case.result, wide.result)):
            assert got.dtype == np.dtype(narrow(want.dtype)), f"output {k}: {got.dtype}"
    if case.differentiable:
        for k, (g, a) in enumerate(zip(case.gradients, case.arrays)):
            assert (g.dtype, g.shape) == (a.dtype, a.shape), f"gradient {k}"


def narrow(dtype: Any) -> str:
    return {"float64": "float32", "complex128": "complex64"}.get(dtype.name, dtype.name)


def arrays_of(args: list[Any]) -> list[Any]:
    """All arrays among arguments, in lists too."""
    found = []
    for a in args:
        found += [x for x in a if isinstance(x, np.ndarray)] if isinstance(a, list) else [a]
    return [a for a in found if isinstance(a, np.ndarray)]


@pytest.mark.parametrize("dtype", [D.float16, D.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("case", **shown(FIRST))
def test_half_precision_gives_nearly_the_value_or_is_refused(case: Case, dtype: D.dtype) -> None:
    if any(isinstance(a, D.dtype) for a in case.args):
        return
    half = [halved(a, dtype) for a in case.args]
    try:
        results = [o._raw for o in case.call([as_tensors(a) for a in half])]
    except (NotImplementedError, RuntimeError) as refusal:
        assert str(refusal)
        return
    rounded = [rounded_through(a, dtype) for a in case.args]
    for k, (got, want) in enumerate(zip(results, case.call([as_tensors(a) for a in rounded]))):
        if (
            got.dtype.kind in "iu"
            and got.dtype == want._raw.dtype
            and case.row.kind != "elementwise"
        ):
            continue  # positions of what lower precision no longer tells apart
        if want._raw.dtype == np.float64:
            assert T.from_raw(got.dtype) in (dtype, D.float32), f"output {k}: {got.dtype}"
        assert_same(got, want._raw, ROUNDING[dtype.name], f"output {k}")


def halved(arg: Any, dtype: D.dtype) -> Any:
    """An argument with its double precision arrays in half precision."""
    if isinstance(arg, list):
        return [halved(a, dtype) for a in arg]
    if isinstance(arg, np.ndarray) and arg.dtype == np.float64:
        return arg.astype(T.to_raw(dtype))
    return arg


def rounded_through(arg: Any, dtype: D.dtype) -> Any:
    """An argument whose numbers are those that half precision can hold."""
    if isinstance(arg, list):
        return [rounded_through(a, dtype) for a in arg]
    if isinstance(arg, np.ndarray) and arg.dtype == np.float64:
        return arg.astype(T.to_raw(dtype)).astype(np.float64)
    return arg


# ---- layouts ----------------------------------------------------------------------------------


def spaced(array: Any) -> Any:
    """The same elements, every other one of a larger memory."""
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    return wide[..., 0]


def turned(array: Any) -> Any:
    """The same elements, the first dimension innermost in memory."""
    return array.copy(order="F")


def backwards(array: Any) -> Any:
    """Elements of stride zero along the last dimension."""
    return np.broadcast_to(array[..., :1], array.shape) if array.ndim and array.shape[-1] else array


def reads_memory(row: Row) -> bool:
    """Whether a row's meaning depends on strides: it takes them as an argument."""
    return any("stride" in p.name and p.is_list and p.alias == "" for p in row.schema.params[:4])


LAYOUTS = [c for c in DOUBLES if any(a.ndim for a in arrays_of(c.args)) and not reads_memory(c.row)]


@pytest.mark.parametrize("case", **shown(LAYOUTS))
def test_the_layout_of_the_inputs_does_not_change_the_result(case: Case) -> None:
    for change in (spaced, turned):
        check_layout(case, case.args, change)
    check_layout(case, mapped(case.args, lambda a: backwards(a).copy(), "fc"), backwards)


def tame(arrays: Iterable[Any]) -> bool:
    """Whether all elements are of a size at which rounding can be compared.

    Columns that are all alike make a matrix singular, which some rows refuse, and others answer
    with numbers that are nothing but rounding.
    """
    return all(np.isfinite(a).all() and (np.abs(a) < 1e6).all() for a in arrays)


def mapped(args: list[Any], change: Callable[[Any], Any], kinds: str = "biufc") -> list[Any]:
    """The arguments with their arrays of some kinds changed."""

    def one(a: Any) -> Any:
        if isinstance(a, list):
            return [one(x) for x in a]
        return change(a) if isinstance(a, np.ndarray) and a.dtype.kind in kinds else a

    return [one(a) for a in args]


def check_layout(case: Case, args: list[Any], change: Callable[[Any], Any]) -> None:
    """Compares result and gradients of arguments with those of the same in another layout."""
    plain, other = case.with_args(args), case.with_args(mapped(args, change, "fc"))
    if change is backwards:
        try:
            usable = tame(plain.value())
            if usable and case.differentiable:
                usable = tame(plain.vjp(plain.arrays, case.cotangents))
        except RuntimeError:  # singular, or of another rank: no result of these shapes
            with pytest.raises(RuntimeError):
                other.vjp(other.arrays, case.cotangents)
            return
        if not usable:
            return
    try:
        result = other.value()
    except RuntimeError as refusal:
        if "stride" in str(refusal):
            return  # there is no view of this layout, as PyTorch says
        raise
    for k, (got, want) in enumerate(zip(result, plain.result, strict=True)):
        assert_same(got, want, ROUNDING["float64"], f"output {k}, {change.__name__}")
    if case.differentiable:
        expected = plain.vjp(plain.arrays, case.cotangents)
        grads = other.vjp(other.arrays, case.cotangents)
        for k, (got, want) in enumerate(zip(grads, expected)):
            assert_same(got, want, ROUNDING["float64"], f"gradient {k}, {change.__name__}")


@pytest.mark.parametrize("case", **shown(DOUBLES))
def test_only_views_share_memory_with_their_inputs(case: Case) -> None:
    full = [as_tensors(a) for a in case.args]
    outs = case.call(full)
    inputs = [a for a in full if isinstance(a, TensorBase)]
    inputs += [t for a in full if isinstance(a, list) for t in a if isinstance(t, TensorBase)]
    for k, out in enumerate(outs):
        if not out._raw.size:
            continue
        shared = [t for t in inputs if np.may_share_memory(t._raw, out._raw)]
        if case.row.op.is_view:
            assert len(shared) == 1 and out._base is full[0], f"output {k}"
        else:
            assert not shared, f"output {k} shares memory with an input"


@pytest.mark.parametrize("case", **shown(DOUBLES))
def test_inputs_are_left_as_they_were(case: Case) -> None:
    before = [a.copy() for a in arrays_of(case.args)]
    _ = case.gradients if case.differentiable else case.value()
    for was, now in zip(before, arrays_of(case.args)):
        assert np.array_equal(was, now, equal_nan=was.dtype.kind in "fc")


# ---- calling forms ----------------------------------------------------------------------------


def called(function: Callable[..., Any], row: Row, args: list[Any], **more: Any) -> list[Any]:
    """The public form of a call: keyword-only arguments by name, all others by position."""
    given = [(p, as_tensors(a)) for p, a in zip(row.schema.params, args)]
    rushlight.manual_seed(0)
    return listed(
        function(
            *[a for p, a in given if not p.kw_only],
            **{p.name: a for p, a in given if p.kw_only},
            **more,
        )
    )


PUBLIC = [c for c in CASES if c.dtype in (D.float64, D.complex128, D.int64) and c.row.op.function]


@pytest.mark.parametrize("case", **shown(PUBLIC))
def test_the_public_function_and_the_method_are_the_row(case: Case) -> None:
    row = case.row
    found = called(row.op.function, row, case.args)
    for k, (got, want) in enumerate(zip(found, case.result, strict=True)):
        assert got._raw.dtype == want.dtype
        assert_same(got._raw, want, ROUNDING["float64"], f"output {k}")
    short = row.schema.name.rpartition(".")[2]
    first = row.schema.params[0]
    if row.method and first.name == "self" and first.is_tensor and short in TENSOR_METHODS:
        method = getattr(rushlight.Tensor, short)
        for k, (got, want) in enumerate(zip(called(method, row, case.args), case.result)):
            assert_same(got._raw, want, ROUNDING["float64"], f"output {k} of the method")


@pytest.mark.parametrize("case", **shown([c for c in PUBLIC if c.row.inplace]))
def test_the_in_place_variant_writes_the_same_value_and_has_the_same_gradient(case: Case) -> None:
    row = case.row
    name = row.schema.name.rpartition(".")[2] + "_"
    want = case.result[0]
    me = case.args[0]
    assert isinstance(me, np.ndarray), "an in-place row writes into its first argument"
    fits = want.shape == me.shape and D.can_cast(T.from_raw(want.dtype), T.from_raw(me.dtype))

    def write(*arguments: Any, **named: Any) -> Any:
        return getattr(arguments[0], name)(*arguments[1:], **named)

    args = [me.copy(), *case.args[1:]]
    if not fits:
        with pytest.raises(RuntimeError):
            called(write, row, args)
        assert np.array_equal(args[0], me, equal_nan=True)
        return
    got = called(write, row, args)[0]
    assert np.shares_memory(got._raw, args[0]) or not me.size
    assert_same(got._raw, want.astype(me.dtype), ROUNDING["float64"], "the tensor written")
    if case.differentiable and want.dtype == me.dtype:
        check_written_gradient(case, name)


def check_written_gradient(case: Case, name: str) -> None:
    """Compares the gradients through a write to a copy with those of the plain operation."""
    arguments, inputs = case.tensors(wants=case.everything)
    written = arguments[0].clone()
    rushlight.manual_seed(0)
    params = case.row.schema.params
    getattr(written, name)(
        *[a for p, a in list(zip(params, arguments))[1:] if not p.kw_only],
        **{p.name: a for p, a in zip(params, arguments) if p.kw_only},
    )
    if not written.requires_grad:
        pytest.fail("the written tensor has lost its gradient", pytrace=False)
    try:
        found = rushlight.autograd.grad(
            written, inputs, new_tensor(case.cotangents[0]), allow_unused=True
        )
    except NotImplementedError as error:  # of some writes PyTorch has no derivative
        assert case.row.op.written is not None and "inplace version of" in str(error)
        return
    for k, (g, want) in enumerate(zip(found, case.gradients)):
        got = np.zeros_like(want) if g is None else g._raw
        assert_same(got, want, ROUNDING["float64"], f"gradient {k} through {name}")


def refuses_out(case: Case, out: Any) -> bool:
    """Whether PyTorch's function of the name takes this call, but no `out` with it."""
    row = case.row
    given = [(p, as_tensors(a)) for p, a in zip(row.schema.params, case.args)]
    args = tuple(a for p, a in given if not p.kw_only)
    named = {p.name: a for p, a in given if p.kw_only}
    short = row.schema.name.rpartition(".")[2].removeprefix("linalg_")
    kind = kind_of(row.namespace[0], short)
    return complaint(kind, short, args, {**named, "out": out}) is not None


OUTS = [c for c in PUBLIC if c.row.out and c.row.public]


@pytest.mark.parametrize("case", **shown(OUTS))
def test_out_receives_the_value(case: Case) -> None:
    rights = [np.full_like(r, 1) for r in case.result]
    targets = [new_tensor(r) for r in rights]
    one = case.row.op.n_out == 1
    out = targets[0] if one else tuple(targets)
    if refuses_out(case, out):
        with pytest.raises(TypeError):
            called(case.row.op.function, case.row, case.args, out=out)
        return
    back = called(case.row.op.function, case.row, case.args, out=out)
    for k, (t, right, want) in enumerate(zip(targets, rights, case.result)):
        assert_same(t._raw, want, ROUNDING["float64"], f"out {k}")
        listless = case.row.op.n_out < 0 and case.row.schema.name.endswith("_copy")
        assert back == [None] if listless else back[k] is t
        assert t._raw is right, "out= was replaced where it had the right shape"


# ---- elementwise ------------------------------------------------------------------------------

ELEMENTWISE = [c for c in DOUBLES if c.row.kind == "elementwise" and c.label == "0"]


@pytest.mark.parametrize("case", **shown(ELEMENTWISE))
def test_an_element_of_an_elementwise_result_comes_from_the_elements_there(case: Case) -> None:
    arrays = arrays_of(case.args)
    if len(case.result) != 1 or any(isinstance(a, list) for a in case.args) or case.random:
        return
    shape = case.result[0].shape
    wide = [np.broadcast_to(a, shape) for a in arrays]
    for place in list(np.ndindex(*shape))[:: max(1, int(np.prod(shape)) // 3)]:
        single = with_arrays(case.args, lambda k, a: np.array(wide[k][place]))  # noqa: B023
        got = raw_of(case.call([as_tensors(a) for a in single])[0])
        assert_same(got, np.asarray(case.result[0][place]), ROUNDING["float64"], f"at {place}")
