"""Reductions and scans of small arrays: the digits of the plain functions."""

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._native import ufunc_loops
from rushlight._table import ROWS
from rushlight._table.rows import small_arrays
from tests.native.loops import Plain, placed, same

Function = Callable[..., Any]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan, 2.0, 2.0]
SHAPES = [
    (), (1,), (2,), (7,), (16,), (130,), (1000,), (4, 4), (1, 5), (5, 1), (3, 1, 4), (17, 33),
    (4, 1, 1), (1, 1, 1), (2, 3, 4, 5), (100, 20), (2, 1, 3, 1), (16, 128), (3, 3, 3, 3, 3),
]  # fmt: skip
CHOICES = {"k": (False, True), "n": (None,), "c": (None, 0, 1, 2, -3), "2": (2, 2.0, 1)}


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The extension module, in its place."""
    with placed("reductions", tmp_path_factory) as found:
        yield found


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def ways() -> list[tuple[Function, str]]:
    """The functions of all rows that reductions know, each with the letters of its arguments."""
    found = {}
    for rows in ROWS.values():
        for row in rows:
            letters = small_arrays.letters_of_reduction(row.op.raw, row.schema)
            if letters:
                found[letters] = row.op.raw
    return [(function, letters) for letters, function in found.items()]


def pair(function: Function, letters: str) -> tuple[Function, Plain]:
    plain = Plain(function)
    return ufunc_loops.reduction(plain, letters), plain


def attempt(function: Function, args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return error


def agree(made: Function, function: Function, args: Any) -> bool:
    found, wanted = attempt(made, args), attempt(function, args)
    if isinstance(wanted, Exception):
        return repr(found) == repr(wanted)
    pairs = list(zip(parts(found), parts(wanted), strict=True))
    return not isinstance(found, Exception) and all(same(a, b) for a, b in pairs)


def parts(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def dimensions(rank: int) -> list[Any]:
    several = [t for n in (1, 2, 3) for t in itertools.combinations(range(rank), n)]
    turned = [t[::-1] for t in several] + [(-1,), (0, 0), (rank,)]
    return [None, (), *range(-rank - 1, rank + 1), *several, *turned, tuple(range(rank))]


def arguments(letters: str, rank: int) -> Iterator[Any]:
    given = [dimensions(rank) if one == "d" else CHOICES[one] for one in letters[1:]]
    return itertools.product(*given)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_reductions_of_all_shapes_dimensions_and_values(dtype: str) -> None:
    rng = np.random.default_rng(1)
    calls, taken = 0, dict.fromkeys((letters for _, letters in ways()), 0)
    assert len(taken) >= 20
    for shape in SHAPES:
        for values in (None, SPECIAL, SPECIAL[:4]):
            x = rng.standard_normal(shape) if values is None else rng.choice(values, shape)
            x = np.asarray(x, dtype)
            kept = x.copy()
            for function, letters in ways():
                made, plain = pair(function, letters)
                for args in arguments(letters, len(shape)):
                    assert agree(made, function, (x, *args)), (letters, shape, args)
                    calls += 1
                taken[letters] += not plain.calls
                if letters not in ("T", "B", "Sn", "Mn", "Pn", "A", "O"):
                    continue
                assert plain.calls == 0 or not shape, (letters, shape)
            assert same(x, kept)
    made, plain = pair(*next(way for way in ways() if way[1] == "Vdck"))
    made(np.ones((4, 4), dtype), (1,), 1, False)
    assert not plain.calls


def test_what_is_no_dense_array_of_floats_goes_to_the_function() -> None:
    x = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)

    class Kind(np.ndarray):
        pass

    misaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(8, 8)
    for odd in (
        x.view(Kind), misaligned, x.astype(">f4"), x.astype(np.float16), x.astype(np.int32),
        x.astype(np.complex64), x[::-1], x[:, ::-1], x.T, x[:, ::2], x[:0], x[:, :0],
        x.view(np.uint8), np.broadcast_to(x[0], (8, 8)), np.ones((512, 256)), np.ones((1,) * 9),
        x.astype(np.dtype(np.float32, metadata={"a": 1})), None, 2.0, [1.0],
    ):  # fmt: skip
        for function, letters in ways():
            made, plain = pair(function, letters)
            args = (odd, *(next(iter(CHOICES.get(one, (0,)))) for one in letters[1:]))
            assert agree(made, function, args), (letters, odd)
            traced = letters[0] == "E" and np.shape(odd) == (512, 256)  # of which few are read
            assert plain.calls == (not traced), (letters, odd)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_arguments_of_other_types_go_to_the_function() -> None:
    x = np.ones((4, 4), np.float32)
    strange = {
        "d": [True, 1.0, np.int64(1), 1 << 80, -(1 << 80), (0, True), (0, 1 << 70), (None,), "0"],
        "k": [1, None, np.True_], "n": [torch.float64, 0], "2": [True, np.float64(2), 3, None],
        "c": [0.5, True, 1 << 80, -(1 << 80), 1 << 40, float("nan")],
    }  # fmt: skip
    for function, letters in ways():
        usual = [next(iter(CHOICES.get(one, (0,)))) for one in letters[1:]]
        for place, one in enumerate(letters[1:]):
            for value in strange[one]:
                args = (x, *usual[:place], value, *usual[place + 1 :])
                made, plain = pair(function, letters)
                assert agree(made, function, args), (letters, args)
                assert plain.calls == 1, (letters, args)
        made, plain = pair(function, letters)
        attempt(made, ()), attempt(made, (x, *usual, 1))
        assert plain.calls == 2


FOLDED = [
    (3000,), (4097,), (700, 3), (3, 700), (2100, 1), (1, 2100), (31, 67), (64, 33), (40, 300),
    (300, 40), (2, 4099), (4099, 2), (9, 256, 1), (5, 9, 49), (7, 40, 9),
    (3, 40, 33), (2, 40, 257), (65, 32), (130, 1000), (257, 9),
    (2, 2, 2, 2, 2, 2, 64),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "?"])
def test_folds_of_more_elements_find_what_the_functions_do(dtype: str) -> None:
    rng = np.random.default_rng(2)
    eps, taken = np.finfo(dtype).eps if dtype[0] == "f" else 0, set()
    for shape in [*FOLDED, *(() if dtype[0] == "f" else SHAPES)]:
        for special in (False, True):
            x = np.asarray(rng.standard_normal(shape) * 3 + 1)
            if special and dtype[0] == "f" and shape:
                rows = x.reshape(-1)[: x.size // 2]
                rows[rng.integers(0, rows.size, 7)] = [
                    np.inf,
                    -np.inf,
                    np.nan,
                    0.0,
                    -0.0,
                    1.0,
                    1e-40,
                ]
                x = np.roll(x, 1, 0)
            elif special:
                x = rng.choice([0, 0, 0, 1, -(2.0**62)], shape)
            x = np.asarray(x, dtype) if shape else np.asarray(x).astype(dtype)[()].reshape(())
            near_one = 1 + x / 100 if dtype[0] == "f" else x  # whose products are no larger
            for function, letters in ways():
                made, plain = pair(function, letters)
                operand = near_one if letters[0] == "P" else x
                given = [
                    [None, (), *range(len(shape)), (0, -1), (0, *range(2, len(shape)))]
                    if one == "d"
                    else CHOICES[one]
                    for one in letters[1:]
                ]
                for args in itertools.product(*given):
                    plain.calls = 0
                    found, wanted = (
                        attempt(made, (operand, *args)),
                        attempt(function, (operand, *args)),
                    )
                    if plain.calls:
                        assert agree(made, function, (operand, *args)), (letters, shape, args)
                        continue
                    taken.add(letters)
                    for a, b in zip(parts(found), parts(wanted), strict=True):
                        b = np.asarray(b)
                        assert (a.dtype, a.shape) == (b.dtype, b.shape), (letters, shape, args)
                        assert a.flags.c_contiguous
                        if letters[0] in "ABOTZa" or dtype[0] != "f":
                            np.testing.assert_array_equal(a, b)
                            continue
                        if letters[0] in "UQ":  # means of inf are nan by their order alone
                            a, b = (np.where(np.isfinite(b), r, 0) for r in (a, b))
                        scale = np.max(np.abs(b[np.isfinite(b)]), initial=1) if special else 5
                        near = 0 if letters[0] == "P" else 200 * eps * scale
                        what = f"{letters} {shape} {args}"
                        np.testing.assert_allclose(a, b, 200 * eps, near, err_msg=what)
    assert {one[0] for one in taken} >= set("SPTBaAOZMsNVWUQ" if dtype[0] == "f" else "SAOZ")


def test_long_sums_are_as_exact_as_in_pairs() -> None:
    x = np.full((2, 60000), 0.1, np.float32)
    ((function, letters),) = [way for way in ways() if way[1] == "Sdkn"]
    made, plain = pair(function, letters)
    found = made(x, 1, False, None)
    assert not plain.calls
    np.testing.assert_allclose(found, 60000 * float(np.float32(0.1)), rtol=1e-6)
    norm, letters = next(way for way in ways() if way[1][0] == "N")
    made, plain = pair(norm, letters)
    for factor in (1e25, 1e-25):  # whose squares single precision doesn't hold
        args = [{"2": 2, "d": 1, "k": False, "n": None}[one] for one in letters[1:]]
        np.testing.assert_allclose(
            made(x * np.float32(factor), *args), 0.1 * factor * 60000**0.5, 1e-6
        )
    assert not plain.calls


def test_rows_have_their_digits_wherever_they_stand() -> None:
    for n in (3, 20, 31, 32, 100, 300):
        rows = np.random.default_rng(n).standard_normal((1, n)).astype(np.float32)
        for function, letters in ways():
            if letters[0] in "SPNVT" and "d" in letters:
                made, _ = pair(function, letters)
                args = [{"2": 2, "d": 1, "k": False, "n": None, "c": 1}[one] for one in letters[1:]]
                found = made(np.repeat(rows, 13000 // n, 0), *args)
                assert len({float(one) for one in found}) == 1, (letters, n)


def test_results_are_new_and_memory_is_given_back() -> None:
    x = np.arange(64.0).reshape(8, 8)
    x.flags.writeable = False
    made = [(ufunc_loops.reduction(f, letters), letters) for f, letters in ways()]

    def calls(count: int) -> None:
        for _ in range(count):
            for one, letters in made:
                found = one(x, *(next(iter(CHOICES.get(k, (0,)))) for k in letters[1:]))
            assert all(r.flags.writeable and r.base is None for r in parts(found))

    calls(100)
    before, statm = sys.getrefcount(x), Path("/proc/self/statm")
    size = int(statm.read_text().split()[1]) if statm.exists() else 0
    calls(2000)
    assert sys.getrefcount(x) == before
    if size:
        pages = int(statm.read_text().split()[1]) - size
        assert pages * os.sysconf("SC_PAGE_SIZE") < 1 << 20


def test_tensors_of_all_kinds_reduce_as_their_arrays_do() -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 4, requires_grad=True)
    for how in (
        lambda t: t.sum(1),
        lambda t: t.amax(0),
        lambda t: t.cumsum(1),
        torch.norm,
        torch.trace,
        lambda t: torch.var_mean(t, 1)[0],
        lambda t: t.logcumsumexp(0),
    ):
        rows = torch.func.vmap(lambda row, how=how: how(row[None].expand(2, 4)))(x)
        assert torch.equal(rows[0], how(x[0][None].expand(2, 4)))
        with torch.inference_mode():
            assert how(x.detach()).is_inference()
        out = how(x)
        assert out.requires_grad
        assert torch.allclose(out, how(x.detach().double()).float())
        (g,) = torch.autograd.grad(out.sum(), x)
        assert g.shape == x.shape
