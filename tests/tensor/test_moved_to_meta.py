"""A tensor that goes to the device without data copies none."""

from __future__ import annotations

import resource
import sys

import pytest

import rushlight as torch
from rushlight import nn


@pytest.mark.skipif(sys.platform == "win32", reason="there, memory is not reserved")
def test_a_parameter_that_goes_to_meta_takes_no_memory() -> None:
    size = 20000  # 1.6 GB, of which nothing is touched
    weight = nn.Parameter(torch.empty(size, size))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for moved in (
        weight.to("meta"),
        weight.to("meta", torch.float64),
        weight.t().to("meta"),
        torch.empty_like(weight, device="meta"),
    ):
        assert moved.device.type == "meta" and moved.shape == (size, size)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_the_move_is_recorded_where_there_is_a_gradient() -> None:
    weight = nn.Parameter(torch.ones(2, 3))
    moved = weight.t().to("meta", torch.float64)
    assert type(moved.grad_fn).__name__ == "ToCopyBackward0"
    assert type(moved.grad_fn.next_functions[0][0]).__name__ == "TBackward0"
    assert moved.stride() == (1, 3) and not moved.is_leaf
    assert not weight.to("meta", torch.int64).requires_grad
    with torch.no_grad():
        assert not weight.to("meta").requires_grad
