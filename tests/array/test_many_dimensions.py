"""Tensors of more dimensions than NumPy's arrays have."""

import pytest

import rushlight


def test_more_than_64_dimensions_are_refused_plainly() -> None:
    deep = rushlight.ones([1] * 64)
    said = "up to 64 dimensions, as NumPy's arrays have, but this one has 65"
    for run in (
        lambda: rushlight.zeros([1] * 65),
        lambda: rushlight.ones(1).expand([1] * 65),
        lambda: rushlight.ones([1] * 65, device="meta"),
        lambda: rushlight.stack([deep]),
        lambda: deep[None],
    ):
        with pytest.raises(RuntimeError, match=said):
            run()
