"""Forward mode: tangents against differences of values, and against the gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rushlight._core.storage import new_tensor
from rushlight.autograd import forward_ad
from tests.table._closeness import ROUNDING, SLOPE, STEP, assert_same, close
from tests.table._samples import Case, inner
from tests.table.test_gradients import DOUBLES, moved, shown, size


def pushed(case: Case, directions: list[Any]) -> dict[int, Any]:
    """The tangents of the results, for those of the inputs; zeros where there is none."""
    with forward_ad.dual_level():
        arguments, inputs = case.tensors()
        for k, (position, item) in enumerate(case.places):
            dual = forward_ad.make_dual(inputs[k], new_tensor(directions[k]))
            if item is None:
                arguments[position] = dual
            else:
                arguments[position][item] = dual
        found = {}
        for k, out in enumerate(case.call(arguments)):
            if k in case.cotangents:
                t = forward_ad.unpack_dual(out).tangent
                found[k] = np.zeros_like(out._raw) if t is None else t._raw
    return found


@pytest.mark.parametrize("case", **shown(DOUBLES))
def test_the_tangent_is_the_slope_of_the_value_and_agrees_with_the_gradient(case: Case) -> None:
    directions = case.directions(4)
    tangents = pushed(case, directions)
    ahead = case.value(moved(case.arrays, directions, STEP))
    behind = case.value(moved(case.arrays, directions, -STEP))
    for k, t in tangents.items():
        assert t.dtype == case.result[k].dtype
        assert_same(t, (ahead[k] - behind[k]) / (2 * STEP), SLOPE, f"the tangent of output {k}")
    forward = sum(inner(u, tangents[k]) for k, u in case.cotangents.items())
    backward = sum(inner(g, d) for g, d in zip(case.gradients, directions))
    scale = size(case.gradients, directions)
    assert close(forward, backward, scale, ROUNDING["float64"]), (
        f"<u, Jt> is {forward:.15g}, <Jᵀu, t> is {backward:.15g}"
    )
