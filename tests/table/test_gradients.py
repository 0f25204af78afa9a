"""The gradients of rows, against differences of values and against each other.

No formula for a derivative stands here: a wrong rule restated is wrong twice.
"""

from __future__ import annotations

import gc
import itertools
import weakref
from typing import Any

import numpy as np
import pytest

from rushlight import autograd
from rushlight._base import dtypes as D
from rushlight._core.op import ARG, OUT
from rushlight._core.storage import TensorBase, new_tensor
from rushlight._table.rows.node_decompositions import PARTS
from tests.table._closeness import ROUNDING, STEP, assert_same, close
from tests.table._samples import CASES, Case, inner, of_its_form, pick

RECORDED = [c for c in CASES if c.differentiable]
DOUBLES = [c for c in RECORDED if c.dtype in (D.float64, D.complex128)]


def shown(cases: list[Case]) -> dict[str, Any]:
    return {"argvalues": cases, "ids": [c.id for c in cases]}


def moved(arrays: list[Any], directions: list[Any], step: float) -> list[Any]:
    """The arrays, a step along the directions."""
    return [np.asarray(a + step * d) for a, d in zip(arrays, directions)]


def pairing(case: Case, arrays: list[Any]) -> float:
    """<cotangents, results> at `arrays`."""
    results = case.value(arrays)
    return sum(inner(u, results[k]) for k, u in case.cotangents.items())


def slope(case: Case, directions: list[Any]) -> float:
    """How <cotangents, results> changes along directions, by central differences."""
    ahead = pairing(case, moved(case.arrays, directions, STEP))
    behind = pairing(case, moved(case.arrays, directions, -STEP))
    return (ahead - behind) / (2 * STEP)


def size(parts: list[Any], directions: list[Any]) -> float:
    """The sum of the absolute values of what <parts, directions> adds up."""
    return float(sum(np.sum(np.abs(g * d)) for g, d in zip(parts, directions)))


def leaning(directions: list[Any], gradients: list[Any]) -> list[Any]:
    """The directions, leant towards the gradients: a wrong factor is then never multiplied by 0."""
    largest = [float(np.max(np.abs(g), initial=0.0)) for g in gradients]
    return [
        np.asarray(d + g / m) if 0 < m < np.inf else d
        for d, g, m in zip(directions, gradients, largest)
    ]


@pytest.mark.parametrize("case", **shown(DOUBLES))
def test_the_gradient_is_the_slope_of_the_value(case: Case) -> None:
    leant = leaning(case.directions(1), case.gradients)
    directions = [of_its_form(d, a) for d, a in zip(leant, case.arrays)]
    wanted = slope(case, directions)
    got = sum(inner(g, d) for g, d in zip(case.gradients, directions))
    if close(got, wanted, size(case.gradients, directions)):
        return
    lines = []
    for k, (position, _) in enumerate(case.places):
        alone = [d if i == k else np.zeros_like(d) for i, d in enumerate(directions)]
        name = case.row.schema.params[position].name
        is_ = inner(case.gradients[k], directions[k])
        lines.append(
            f"{name}: the gradient says {is_:.9g}, differences say {slope(case, alone):.9g}"
        )
    pytest.fail("\n".join([str(case), *lines]), pytrace=False)


@pytest.mark.parametrize("case", **shown(RECORDED))
def test_the_recorded_gradient_equals_the_plain_one(case: Case) -> None:
    traced = case.vjp(case.arrays, case.cotangents, traced=True)
    tolerance = ROUNDING[case.dtype.name]
    for k, (got, want) in enumerate(zip(traced, case.gradients)):
        assert got.dtype == want.dtype
        assert_same(got, want, tolerance, f"gradient {k}")


@pytest.mark.parametrize("case", **shown(DOUBLES))
def test_the_second_derivative_is_the_slope_of_the_first(case: Case) -> None:
    """Of <v, Jᵀu>, along a direction of the inputs and of u together."""
    rng = np.random.default_rng(len(case.id))
    weights, directions = case.directions(2), case.directions(3)
    turns = {k: rng.uniform(-1, 1, u.shape).astype(u.dtype) for k, u in case.cotangents.items()}

    def first(step: float) -> float:
        turned = {k: np.asarray(u + step * turns[k]) for k, u in case.cotangents.items()}
        grads = case.vjp(moved(case.arrays, directions, step), turned)
        return sum(inner(v, g) for v, g in zip(weights, grads))

    wanted = (first(STEP) - first(-STEP)) / (2 * STEP)
    arguments, inputs = case.tensors(wants=case.everything)
    outs = case.call(arguments)
    cotangents = [new_tensor(u).requires_grad_() for u in case.cotangents.values()]
    grads = autograd.grad(
        [outs[k] for k in case.cotangents], inputs, cotangents, create_graph=True, allow_unused=True
    )
    kept = [(g, v) for g, v in zip(grads, weights) if g is not None and g.requires_grad]
    parts: list[Any] = [None] * (len(inputs) + len(cotangents))
    if kept:
        parts = list(
            autograd.grad(
                [g for g, _ in kept],
                [*inputs, *cotangents],
                [new_tensor(v) for _, v in kept],
                allow_unused=True,
            )
        )
    along = [*directions, *turns.values()]
    found = [np.zeros_like(d) if p is None else p._raw for p, d in zip(parts, along)]
    got = sum(inner(p, d) for p, d in zip(found, along))
    names = [case.row.schema.params[p].name for p, _ in case.places] + ["the incoming gradient"]
    missing = [n for n, p in zip(names, parts) if p is None]
    assert close(got, wanted, size(found, along)), (
        f"{case}: the second derivative says {got:.9g}, differences say {wanted:.9g}"
        + (f"; nothing reaches {', '.join(missing)}" if missing else "")
    )


@pytest.mark.parametrize("case", **shown([c for c in DOUBLES if len(c.cotangents) > 1]))
def test_the_gradients_of_single_results_add_up(case: Case) -> None:
    parts = [case.vjp(case.arrays, {k: u}) for k, u in case.cotangents.items()]
    for k, want in enumerate(case.gradients):
        assert_same(sum(p[k] for p in parts), want, ROUNDING["float64"], f"gradient {k}")


@pytest.mark.parametrize("case", **shown([c for c in CASES if c.refused]))
def test_an_input_without_a_derivative_refuses_backward(case: Case) -> None:
    for position, _ in case.refused:
        arguments, _ = case.tensors()
        given = arguments[position]
        arguments[position] = (
            [x.clone().requires_grad_() for x in given]
            if isinstance(given, list)
            else given.clone().requires_grad_()
        )
        out = case.call(arguments)[0]
        refusals = (NotImplementedError, RuntimeError)
        with pytest.raises(refusals, match=r"derivative for .* is not implemented"):
            out.backward(new_tensor(np.ones_like(out._raw)))


# ---- which inputs require grad ----------------------------------------------------------------


def subsets(count: int) -> list[tuple[int, ...]]:
    """All subsets of a few numbers; of many, each number alone and each left out."""
    if count <= 3:
        return [s for n in range(1, count) for s in itertools.combinations(range(count), n)]
    everything = range(count)
    return [(k,) for k in everything] + [tuple(i for i in everything if i != k) for k in everything]


SEVERAL = [c for c in DOUBLES if len(c.places) > 1 and c.label in ("0", "1")]


@pytest.mark.parametrize("case", **shown(SEVERAL))
def test_a_gradient_does_not_depend_on_which_others_are_wanted(case: Case) -> None:
    for wants in subsets(len(case.places)):
        outs = case.call(case.tensors(wants=wants)[0])
        if not any(outs[k].requires_grad for k in case.cotangents):
            continue  # a joint formula has nothing for these inputs
        for k, g in zip(wants, case.vjp(case.arrays, case.cotangents, wants)):
            assert_same(g, case.gradients[k], ROUNDING["float64"], f"gradient {k} of {wants}")


LABELLED = [c for c in DOUBLES if c.label in ("0", "1") and c.dtype is not D.complex128]


@pytest.mark.parametrize("case", **shown(LABELLED))
def test_a_node_saves_what_its_live_formulas_read_and_nothing_else(case: Case) -> None:
    everything = tuple(case.everything)
    for wants in [*subsets(len(everything)), everything]:
        arguments, _ = case.tensors(wants=wants)
        outs = [o for o in case.call(arguments) if o.requires_grad]
        if not outs:
            continue
        node = outs[0]._node
        op = node.op
        live = 0
        for k in wants:
            live |= 1 << case.places[k][0]
        for saved, mask, (kind, position, name) in zip(node.saved, op.masks, op.entries):
            held = isinstance(saved, (TensorBase, np.ndarray))
            held = held or (
                isinstance(saved, tuple) and any(isinstance(s, TensorBase) for s in saved)
            )
            if not mask & live:
                assert not held, f"{name} is saved, for no gradient of {wants}"
            elif kind == ARG and isinstance(arguments[position], TensorBase):
                assert saved is arguments[position], f"{name} is not what was saved"
            elif kind == OUT:
                assert held, f"{name} is not saved"
        leaves = [t for t in node.next if isinstance(t, TensorBase)]
        wanted = [pick(arguments, case.places[k]) for k in wants]
        assert all(any(t is w for w in wanted) for t in leaves)


@pytest.mark.parametrize("case", **shown(LABELLED))
def test_nothing_is_recorded_where_nothing_requires_grad(case: Case) -> None:
    for out in case.call(case.tensors()[0]):
        assert not out.requires_grad and out.grad_fn is None


# ---- the graph --------------------------------------------------------------------------------


@pytest.mark.parametrize("case", **shown([c for c in LABELLED if c.label == "0"]))
def test_the_node_has_the_name_that_the_row_gives(case: Case) -> None:
    for out in case.call(case.tensors(wants=case.everything)[0]):
        if not out.requires_grad:
            continue
        assert type(out.grad_fn) is case.row.op.node_class
        assert out.grad_fn.name().rpartition("::")[2] == type(out.grad_fn).__name__
        if case.row.op in PARTS:  # PyTorch records several nodes, which are shown behind this one
            continue
        for child, _ in out.grad_fn.next_functions:
            assert child is None or child.name() == "torch::autograd::AccumulateGrad"


@pytest.mark.parametrize("case", **shown([c for c in LABELLED if c.label == "0"]))
def test_no_reference_cycle_keeps_a_graph_alive(case: Case) -> None:
    _ = case.gradients  # whatever is made once and kept is made before
    gc.disable()
    try:
        for traced in (None, False, True):
            arguments, inputs = case.tensors(wants=case.everything)
            outs = case.call(arguments)
            if traced is not None:
                autograd.grad(
                    [outs[k] for k in case.cotangents],
                    inputs,
                    [new_tensor(u) for u in case.cotangents.values()],
                    create_graph=traced,
                    allow_unused=True,
                )
            # A leaf is where its node's gradient goes: it lives as long as the node does.
            watched = [weakref.ref(t) for t in [*outs, *inputs]]
            del arguments, inputs, outs
            alive = [k for k, w in enumerate(watched) if w() is not None]
            how = {None: "the forward pass", False: "backward", True: "a recorded backward"}[traced]
            assert not alive, f"after {how}, {len(alive)} of {len(watched)} tensors live on"
    finally:
        gc.enable()
