"""One ufunc's loop row by row, and over longer arrays: the digits and layout of the ufunc."""

from typing import Any

import numpy as np
import pytest

from rushlight._array.elementwise import chains, division
from tests.native.loops import Plain, run_at_once, same


def made_of(build: Any, raw: Any, kinds: str = "ff") -> tuple[Any, Plain]:
    plain = Plain(raw)
    made = build(plain, lambda: chains.chains_of(raw, lambda: None, kinds), kinds, 0, 1 << 14)
    made(*[np.ones(3)] * len(kinds))
    assert made.known
    plain.calls = 0
    return made, plain


UFUNCS = [np.add, np.subtract, np.multiply, np.divide, np.greater, np.equal, np.power]


@pytest.mark.parametrize("ufunc", UFUNCS)
def test_rows_and_columns(build: Any, ufunc: np.ufunc) -> None:
    made, plain = made_of(build, ufunc)
    rng = np.random.default_rng(0)
    taken = 0
    for turn in range(3000):
        shape = tuple(int(n) for n in rng.integers(1, 40, rng.integers(1, 4)))
        dtype = ("f4", "f8")[turn % 2]
        x = rng.standard_normal(shape).astype(dtype)
        other = shape[int(rng.integers(len(shape))) :]
        other = [other, (1, *other), (shape[0], 1), shape,
                 (*shape[:-1], 1), (1,), (shape[-1] + 1,)][int(rng.integers(7))]  # fmt: skip
        y = rng.standard_normal(other).astype(dtype if turn % 20 else "f8")
        if turn % 5 == 0 and y.ndim:
            y = (np.repeat(y, 2, 0)[::2], y[::-1], np.repeat(y, 2, -1)[..., ::2])[turn % 3]
        if turn % 7 == 0 and x.ndim > 1:
            x = (x[::2], x.T, x[:, ::-1])[turn % 3]
        if y.size and turn % 3 == 0:
            y.flat[0] = (np.nan, -0.0, np.inf)[turn % 9 // 3]
        args = (x, y) if turn % 2 else (y, x)
        before = plain.calls
        with np.errstate(all="ignore"):
            try:
                wanted = ufunc(*args)
            except ValueError:
                with pytest.raises(ValueError, match="broadcast"):
                    made(*args)
                continue
            found = made(*args)
        assert same(found, wanted), (x.shape, y.shape, x.strides, y.strides)
        assert found is not x and found is not y and found.flags.owndata
        taken += plain.calls == before
    assert taken > 400


def test_longer_arrays_are_taken_where_the_steps_are_all_there_is(build: Any) -> None:
    rng = np.random.default_rng(0)
    for size in (2048, 2049, 10_000, 1 << 14, (1 << 14) + 1):
        x, y = (rng.standard_normal(size).astype(np.float32) for _ in range(2))
        for raw, args, most in (
            (np.add, (x, y), 1 << 14), (np.exp, (x,), 1 << 14), (division.fmod, (x, y), 2048),
            (division.add_product, (x, y, y, 0.5), 1 << 14),
        ):  # fmt: skip
            kinds = "f" * min(len(args), 3) + "s" * (len(args) - 3)
            made, plain = made_of(build, raw, kinds) if len(args) < 4 else (None, Plain(raw))
            if made is None:
                found = chains.chains_of(division.add_product, lambda: None, "fffs")
                made = build(plain, lambda found=found: found, "fffs", 0, 1 << 14)
                made(*[np.ones(3)] * 3, 2.0)
                plain.calls = 0
            assert same(made(*args), raw(*args))
            blocks = raw is np.add  # which are taken whatever the size
            assert (plain.calls == 0) == (size <= most or blocks), (raw, size)


def test_rows_are_learnt_by_calls_with_rows(build: Any) -> None:
    plain = Plain(np.add)
    made = build(plain, lambda: chains.chains_of(np.add, lambda: None, "ff"), "ff", 3, 1 << 14)
    x, v = np.ones((100, 100)), np.ones(100)
    for _ in range(10):
        assert same(made(x, v), x + v)
    assert made.known and plain.calls < 6

    def fail() -> None:
        raise LookupError

    failing = build(plain, fail, "ff", 0, 1 << 14)
    with pytest.raises(LookupError):
        failing(x, v)


def test_threads_add_rows(build: Any) -> None:
    made, _ = made_of(build, np.add)
    wrong: list[object] = []

    def run(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(200):
            x, v = rng.standard_normal((50, 64)), rng.standard_normal(64)
            if not same(made(x, v), x + v):
                wrong.append(seed)

    run_at_once(run)
    assert not wrong
