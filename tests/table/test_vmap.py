"""vmap: every row on a batch is the same as on one example after the other."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from rushlight import autograd
from rushlight._base import dtypes as D
from rushlight._core.storage import TensorBase, new_tensor
from rushlight._table import Row
from rushlight._table.modes.batching_rules import rule_of
from rushlight.func import vmap
from tests.table._closeness import ROUNDING, assert_same
from tests.table._samples import CASES, Case, Maker, derived, given_samples, listed, normalised

#: One element type for each row: the first that it has samples in.
FIRST = [c for c in CASES if c.dtype not in (D.float32, D.complex64)]
FIRST = [c for k, c in enumerate(FIRST) if c.dtype is not D.complex128 or c.row.dtypes == "complex"]

FIRST = [c for c in FIRST if not c.random]  # draws are tested in tests/func

#: Rows whose results have another shape for each example: vmap refuses them.
DYNAMIC = frozenset({"_nonzero", "_unique2", "unique_dim", "_unique_consecutive"})
#: Views that PyTorch has no rule for, either.
RULELESS = frozenset({"slice_inverse", "_test_autograd_multiple_dispatch_view"})


@cache
def others(row: Row, dtype: D.dtype) -> dict[str, list[Any]]:
    """Arguments of the same form as the row's cases, with other numbers."""
    mk = Maker(zlib.crc32(row.schema.text.encode()) + 1, dtype)
    samples = [normalised(row, s) for s in given_samples(row, mk)]
    found = {str(i): s for i, s in enumerate(samples)}
    found.update(derived(row, samples[0]))
    return found


def places(args: list[Any]) -> list[tuple[int, int | None]]:
    """Where tensors are among arguments: (position, None), or (position, item) in a list."""
    found: list[tuple[int, int | None]] = []
    for position, a in enumerate(args):
        if isinstance(a, np.ndarray):
            found.append((position, None))
        elif isinstance(a, (list, tuple)):
            found += [(position, k) for k, x in enumerate(a) if is_array(x)]
    return found


def is_array(x: Any) -> bool:
    """Whether a value stands for a tensor."""
    return isinstance(x, (np.ndarray, TensorBase))


def at(args: list[Any], place: tuple[int, int | None]) -> Any:
    """The array at a place."""
    position, item = place
    value = args[position] if item is None else args[position][item]
    return value._raw if isinstance(value, TensorBase) else value


def filled(args: list[Any], chosen: list[tuple[int, int | None]], values: Any) -> list[Any]:
    """Fresh arguments, with `values` at the chosen places and copies of the arrays elsewhere."""
    given = dict(zip(chosen, values))

    def made(value: Any, place: tuple[int, int | None]) -> Any:
        if place in given:
            return given[place]
        if isinstance(value, TensorBase):
            value = value._raw
        return new_tensor(value.copy()) if isinstance(value, np.ndarray) else value

    full: list[Any] = []
    for position, a in enumerate(args):
        if isinstance(a, (list, tuple)):
            full.append(type(a)([made(x, (position, k)) for k, x in enumerate(a)]))
        else:
            full.append(made(a, (position, None)))
    return full


def subsets(found: list[tuple[int, int | None]]) -> Iterator[tuple[list[Any], int]]:
    """Places to batch, and the dimension: all of them, then each alone, then all but each."""
    yield found, 0
    if len(found) == 1:
        yield found, -1
        return
    for k in range(min(len(found), 4)):
        yield [found[k]], -1
        if len(found) > 2:
            yield found[:k] + found[k + 1 :], 0


def one_by_one(case: Case, second: list[Any], chosen: list[Any]) -> list[list[Any]] | None:
    """The results for each of two examples; None where the row refuses one."""
    rows = []
    for args in (case.args, second):
        values = [new_tensor(at(args, p).copy()) for p in chosen]
        try:
            rows.append([o._raw for o in listed(case.row(*filled(case.args, chosen, values)))])
        except (RuntimeError, IndexError, NotImplementedError, ValueError):
            return None
    return rows


@pytest.mark.parametrize("case", FIRST, ids=[c.id for c in FIRST])
def test_a_batch_is_the_same_as_one_example_after_the_other(case: Case) -> None:
    second = others(case.row, case.dtype).get(case.label, case.args)
    found = [p for p in places(case.args) if at(case.args, p).shape == at(second, p).shape]
    by_mask = case.row.schema.name in ("masked_select", "index") and (
        case.row.shaped_by_values(case.args)
    )
    for chosen, dim in subsets(found):
        if not chosen or (dim and "as_strided" in case.row.schema.name):
            continue  # a window's strides are those of an example that lies in one piece
        wanted = one_by_one(case, second, chosen)
        if wanted is None:
            continue
        batches = [new_tensor(np.stack([at(case.args, p), at(second, p)], dim)) for p in chosen]

        def call(*values: Any, chosen: Any = chosen) -> Any:
            return listed(case.row(*filled(case.args, chosen, values)))

        mapped = vmap(call, in_dims=dim)
        if (
            rule_of(case.row) == "none"
            or (by_mask and any(position == 1 for position, _ in chosen))
            or any(a.shape != b.shape for a, b in zip(wanted[0], wanted[1], strict=True))
        ):
            with pytest.raises(RuntimeError):
                mapped(*batches)
            continue
        got = mapped(*batches)
        for k, (a, b) in enumerate(zip(wanted[0], wanted[1], strict=True)):
            what = f"output {k}, batches at {chosen}, dimension {dim}"
            stacked = np.stack([a, b])
            assert got[k]._raw.dtype == stacked.dtype, what
            tolerance = ROUNDING.get(case.dtype.name, 0.0)
            assert_same(got[k]._raw, stacked, tolerance, what)


@pytest.mark.parametrize("case", FIRST, ids=[c.id for c in FIRST])
def test_a_batch_of_gradients_is_the_same_as_one_backward_after_the_other(case: Case) -> None:
    if not case.differentiable or not all(u.size for u in case.cotangents.values()):
        return
    arguments, inputs = case.tensors(wants=case.everything)
    outs = case.call(arguments)
    rng = np.random.default_rng(1)
    roots = [outs[k] for k in case.cotangents]
    seeds = [
        new_tensor(np.stack([u, u * rng.uniform(0.5, 1.5, u.shape).astype(u.real.dtype)]))
        for u in case.cotangents.values()
    ]
    if case.row.schema.name == "_max_embedding_bag":
        # Its gradient is no operation: batches of gradients need one, as second derivatives do.
        with pytest.raises(RuntimeError, match="with mode 'max' is not implemented"):
            autograd.grad(roots, inputs, seeds, is_grads_batched=True, allow_unused=True)
        return
    batch = autograd.grad(
        roots, inputs, seeds, retain_graph=True, is_grads_batched=True, allow_unused=True
    )
    for row in (0, 1):
        one = autograd.grad(
            roots, inputs, [s[row] for s in seeds], retain_graph=True, allow_unused=True
        )
        for k, (got, wanted) in enumerate(zip(batch, one, strict=True)):
            assert (got is None) == (wanted is None)
            if wanted is not None:
                what = f"the gradient of input {k}, example {row}"
                assert_same(got._raw[row], wanted._raw, ROUNDING[case.dtype.name], what)


def test_hardly_a_row_is_left_to_the_loop() -> None:
    rows = {id(c.row): c.row for c in CASES}.values()
    loops = [r.schema.text for r in rows if rule_of(r) == "loop" and r.schema.name[:5] != "_test"]
    refused = {r.schema.name for r in rows if rule_of(r) == "none"}
    assert refused == DYNAMIC | RULELESS
    assert len(loops) <= 46, "\n".join(loops)
