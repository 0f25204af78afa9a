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


def test_a_result_is_put_where_it_fits_and_nowhere_else() -> None:
    class Alike(np.ndarray):
        """An array of another class."""

    with open(places.__file__, encoding="utf-8") as file:
        text = file.read().replace("if FIELDS is not None", "if False")  # the plain functions
    space = dict(vars(places))
    exec(compile(text, places.__file__, "exec"), space)
    for put in (space["put"], places.put):
        for kind in ("f4", "f8", "i8", "?", "c8"):
            base = np.zeros((4, 6), kind)
            result = np.arange(8).reshape(4, 2).astype(kind)
            for target in (base[:, :2], base[:, ::3], base[::-1, 4:], base.T[:2].T):
                base[...] = 0
                for given in (result, result[::-1], np.asfortranarray(result)):
                    assert put(target, given) is True and (target == given).all()
            dense = result.copy()
            assert put(dense, result) is True and put(dense, dense) is True
            refused = (
                result.T, result[:2], result[..., None], result.real.astype("f2"),
                result.view(Alike),
                result.tolist(), 3, None, result.astype(result.dtype.newbyteorder(">"))
                if kind != "?" else None,
            )  # fmt: skip
            for odd in refused:
                assert put(dense, odd) is False
            assert (dense == result).all()
            wide = np.broadcast_to(np.zeros(2, kind), (4, 2))
            assert put(wide, result) is False
            large = np.zeros((100, 300), kind)
            assert put(large, np.ones_like(large)) is True and large.all()
            assert put(large[:0], large[:0]) is True
            dense.setflags(write=False)
            with pytest.raises(ValueError, match="read-only"):
                put(dense, np.zeros_like(dense))
            assert (dense == result).all()
        overlapping = np.arange(5.0)
        assert put(overlapping[1:], overlapping[:-1]) is True
        assert overlapping.tolist() == [0, 0, 1, 2, 3]
