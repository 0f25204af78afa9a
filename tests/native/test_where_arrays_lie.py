"""Where arrays lie: C and Python agree."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from rushlight._array.memory import places
from rushlight._native.ufunc_loops import FIELDS


def some_arrays(seed: int) -> list[Any]:
    """An array and views of it."""
    draw = random.Random(seed)
    dtype = draw.choice(["f4", "f8", "c16", "i2", "?"])
    shape = [draw.randrange(4) if draw.random() < 0.1 else draw.randint(1, 5) for _ in range(3)]
    whole = np.zeros(shape, dtype)
    if draw.random() < 0.3:
        whole = np.asfortranarray(whole)
    found = [whole, whole[...], whole[None], whole.T]
    for _ in range(12):
        x = draw.choice(found)
        how = draw.randrange(6)
        if how == 0 and x.ndim:
            x = x[tuple(slice(draw.randint(0, 2), None, draw.choice([1, 2])) for _ in x.shape)]
        elif how == 1:
            x = x[..., ::-1] if x.ndim else x
        elif how == 2:
            x = x.transpose(draw.sample(range(x.ndim), x.ndim))
        elif how == 3:
            x = np.broadcast_to(x, (2, *x.shape)) if x.ndim < 6 else x
        elif how == 4:
            x = x[draw.randrange(len(x)), ...] if x.ndim and len(x) else x
        elif how == 5 and x.dtype == np.complex128:
            x = x.real
        found.append(x)
    return found


@pytest.mark.skipif(FIELDS is None, reason="the package was built without C")
@pytest.mark.parametrize("seed", range(60))
def test_c_and_python_agree(seed: int) -> None:
    with open(places.__file__, encoding="utf-8") as file:
        text = file.read().replace("if FIELDS is not None", "if False")
    space = dict(vars(places))
    words = ("owner", "address", "storage_offset", "element_strides", "overlap")
    exec(compile(text, places.__file__, "exec"), space)
    arrays = some_arrays(seed)
    for a in arrays:
        assert places.owner(a) is space["owner"](a)
        for word in words[1:4]:
            assert getattr(places, word)(a) == space[word](a), word
        for b in arrays:
            assert places.overlap(a, b) == space["overlap"](a, b)


def test_where_arrays_lie() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    part = x[1:, ::2, 1:]
    assert places.owner(part) is places.owner(x)
    assert places.storage_offset(part) == 13 and places.storage_offset(x) == 0
    assert places.element_strides(part) == (12, 8, 1)
    assert places.address(x[:, :0]) == 0
    assert places.overlap(x, x.copy()) == 0
    assert places.overlap(x, x[...]) == 2 and places.overlap(x[1], x) == 1
    assert places.overlap(x[0], x[1]) == 0 and places.overlap(x, x[:, ::2]) == 0


@pytest.mark.skipif(FIELDS is None, reason="the package was built without C")
@pytest.mark.parametrize("bad", [None, 3, [1.0], "x", {}])
def test_others_are_refused(bad: Any) -> None:
    for word in ("address", "element_strides"):
        with pytest.raises(TypeError):
            getattr(places, word)(bad)
    assert places.owner(bad) is bad and places.storage_offset(bad) == 0
    assert places.overlap(bad, np.ones(2)) == places.overlap(np.ones(2), bad) == 0
    with pytest.raises(TypeError):
        places.overlap(np.ones(2))
