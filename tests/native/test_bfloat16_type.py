"""The number type bfloat16 of the compiled core, whichever type is in use."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

core = pytest.importorskip("rushlight._native.number_types.bfloat16")
BFLOAT16 = np.dtype(core.bfloat16)
ALL = np.arange(65536, dtype=np.uint16).view(BFLOAT16)
WIDE = (np.arange(65536, dtype=np.uint32) << 16).view(np.float32)
NUMBERS = "?bBhHiIlLqQefdgFDG"
SPECIAL = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.5,
        -2.5,
        1e-40,
        -1e-40,
        3e38,
        -3e38,
        np.inf,
        -np.inf,
        np.nan,
        0.5,
        7.0,
    ],
    np.float32,
)
#: Functions whose results have the fineness of the type itself, and are tested by themselves.
OWN = {"nextafter", "spacing"}


def functions() -> list[np.ufunc]:
    """NumPy's functions of float32 that have loops for the type."""
    known = []
    for name in dir(np):
        function = getattr(np, name)
        if isinstance(function, np.ufunc) and function.__name__ == name and not function.signature:
            args = [np.full(1, 0.5, BFLOAT16)] * function.nin
            if name == "ldexp":
                args[1] = np.ones(1, np.int32)
            try:
                with np.errstate(all="ignore"):
                    out = function(*args)
            except TypeError:
                continue
            first = out[0] if isinstance(out, tuple) else out
            if first.dtype in (BFLOAT16, np.dtype(bool)):
                known.append(function)
    return known


FUNCTIONS = functions()


def bits(array: Any) -> Any:
    """The bits of an array, with all nan alike."""
    array = np.atleast_1d(array)
    if array.dtype == BFLOAT16:
        found = array.view(np.uint16) if array.flags.c_contiguous else array.copy().view(np.uint16)
        return np.where((found & 0x7FFF) > 0x7F80, np.uint16(0x7FC0), found)
    return array


def rounded(wide: Any) -> Any:
    """The bits of float32 rounded to the nearest, by arithmetic on whole numbers alone."""
    all_bits = np.atleast_1d(wide).astype(np.float32).view(np.uint32).astype(np.uint64)
    low, high = all_bits & 0xFFFF, all_bits >> 16
    up = (low > 0x8000) | ((low == 0x8000) & (high & 1 == 1))
    found = (high + up).astype(np.uint16)
    return np.where((all_bits & 0x7FFFFFFF) > 0x7F800000, np.uint16(0x7FC0), found)


def expected(result: Any) -> Any:
    """What a result of float32 is here."""
    return rounded(result) if result.dtype == np.float32 else result


def each(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def same(found: Any, wanted: Any) -> None:
    for one, other in zip(each(found), each(wanted), strict=True):
        np.testing.assert_array_equal(bits(one), expected(other))


def random_floats(count: int, seed: int = 0) -> Any:
    """Float32 of any bits, ties and what is next to them, tiny numbers and huge ones."""
    rng = np.random.default_rng(seed)
    any_bits = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    half_way = (any_bits & 0xFFFF0000) | 0x8000
    beside = half_way + rng.integers(-1, 2, count).astype(np.uint32)
    tiny = any_bits & 0x807FFFFF
    huge = any_bits | 0x7F000000
    return np.concatenate([any_bits, half_way, beside, tiny, huge]).view(np.float32)


def test_it_has_the_names_and_sizes_that_other_bfloat16_have() -> None:
    assert (BFLOAT16.kind, BFLOAT16.char, BFLOAT16.name) == ("V", "E", "bfloat16")
    assert (BFLOAT16.itemsize, BFLOAT16.alignment, BFLOAT16.str) == (2, 2, "<V2")
    assert repr(BFLOAT16) == "dtype(bfloat16)"
    assert issubclass(core.bfloat16, np.generic)
    assert not BFLOAT16.hasobject


def test_float32_has_all_its_values() -> None:
    np.testing.assert_array_equal(ALL.astype(np.float32).view(np.uint32), WIDE.view(np.uint32))


def test_float32_is_rounded_to_the_nearest_and_the_even_of_two() -> None:
    wide = random_floats(200_000)
    np.testing.assert_array_equal(bits(wide.astype(BFLOAT16)), rounded(wide))


def test_a_value_comes_back_from_every_type_that_holds_it() -> None:
    for kind in "fdgFDG":
        back = ALL.astype(kind).astype(BFLOAT16)
        np.testing.assert_array_equal(bits(back), bits(ALL))


def test_nan_stays_quiet_with_its_sign() -> None:
    wide = np.array([0x7F800001, 0xFF800001, 0x7FC12345, 0xFFFFFFFF], np.uint32).view(np.float32)
    found = wide.astype(BFLOAT16).view(np.uint16).tolist()
    assert found == [0x7FC0, 0xFFC0, 0x7FC0, 0xFFC0]


def fits(kind: str) -> Any:
    """Where the values are within a type: C says nothing of whole numbers that are too large."""
    if kind not in "bBhHiIlLqQ":
        return np.ones(65536, bool)
    edges = np.iinfo(kind)
    return (edges.min - 1.0 < WIDE) & (edges.max + 1.0 > WIDE)


@pytest.mark.parametrize("kind", NUMBERS)
def test_what_other_types_hold_is_what_float32_holds(kind: str) -> None:
    here = fits(kind)
    assert here.sum() > 30_000
    np.testing.assert_array_equal(ALL[here].astype(kind), WIDE[here].astype(kind))


@pytest.mark.parametrize("kind", NUMBERS)
def test_what_comes_from_other_types_goes_by_way_of_float32(kind: str) -> None:
    if kind == "e":
        source = np.arange(65536, dtype=np.uint16).view(np.float16)
    elif kind in "fdgFDG":
        source = random_floats(20_000).astype(kind)
    elif kind == "?":
        source = np.array([False, True])
    else:
        edges = np.iinfo(kind)
        source = np.concatenate(
            [
                np.random.default_rng(1).integers(edges.min, edges.max, 5000, kind, endpoint=True),
                np.arange(100).astype(kind),
                np.array([edges.min, edges.max], kind),
            ]
        )
    with np.errstate(all="ignore"):
        wide = source.real.astype(np.float32)
    np.testing.assert_array_equal(bits(source.astype(BFLOAT16)), rounded(wide))


def test_float64_is_rounded_twice_as_pytorch_rounds_it() -> None:
    assert float(np.array(1 + 2**-8 + 2**-40).astype(BFLOAT16)) == 1.0


def test_promotions_are_those_of_a_float_without_many_digits() -> None:
    for kind in "?bB":
        assert np.promote_types(BFLOAT16, kind) == BFLOAT16
    for kind in "fdgFDG":
        assert np.promote_types(BFLOAT16, kind) == np.dtype(kind)
        assert not np.can_cast(kind, BFLOAT16, "safe")
    assert not np.can_cast(np.int32, BFLOAT16, "safe")
    assert (np.ones(2, BFLOAT16) * np.int8(2)).dtype == BFLOAT16
    assert (np.ones(2, BFLOAT16) + np.ones(2, np.float32)).dtype == np.float32


def test_there_are_loops_for_all_functions_of_one_and_of_two_floats() -> None:
    float_only = {
        f.__name__ for name in dir(np) if isinstance(f := getattr(np, name), np.ufunc)
        and not f.signature and {"f->f", "ff->f", "f->?", "ff->?"} & set(f.types)
    }  # fmt: skip
    known = {f.__name__ for f in FUNCTIONS}
    assert float_only - known == set()
    assert {"divmod", "modf", "frexp", "ldexp"} <= known


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f.nin == 1], ids=str)
def test_a_function_of_one_number_is_that_of_float32_rounded(function: np.ufunc) -> None:
    if function.__name__ not in OWN:
        same(function(ALL), function(WIDE))


@pytest.mark.parametrize(
    "function", [f for f in FUNCTIONS if f.nin == 2 and f.__name__ not in {*OWN, "ldexp"}], ids=str
)
def test_a_function_of_two_numbers_is_that_of_float32_rounded(function: np.ufunc) -> None:
    rng = np.random.default_rng(2)
    for _ in range(2):
        a, b = rng.permutation(65536), rng.permutation(65536)
        same(function(ALL[a], ALL[b]), function(WIDE[a], WIDE[b]))
    x, y = (part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL))
    x, y = x.astype(BFLOAT16), y.astype(BFLOAT16)
    same(function(x, y), function(x.astype(np.float32), y.astype(np.float32)))


def test_ldexp_takes_whole_powers_and_frexp_gives_them() -> None:
    powers = np.random.default_rng(3).integers(-300, 300, 65536).astype(np.int32)
    same(np.ldexp(ALL, powers), np.ldexp(WIDE, powers))
    part, power = np.frexp(ALL)
    assert (part.dtype, power.dtype) == (BFLOAT16, np.dtype(np.int32))
    finite = np.isfinite(WIDE)
    np.testing.assert_array_equal(bits(np.ldexp(part, power))[finite], bits(ALL)[finite])


def test_the_next_number_is_the_one_with_nothing_between() -> None:
    finite = ALL[np.isfinite(WIDE)]
    ordered = np.unique(finite.astype(np.float32))
    low, high = ordered[:-1].astype(BFLOAT16), ordered[1:].astype(BFLOAT16)
    np.testing.assert_array_equal(np.nextafter(low, high).astype(np.float32), ordered[1:])
    np.testing.assert_array_equal(np.nextafter(high, low).astype(np.float32), ordered[:-1])
    inf, tiny = BFLOAT16.type(np.inf), BFLOAT16.type(2.0**-133)
    assert np.nextafter(finite.max(), inf) == inf
    assert np.nextafter(inf, BFLOAT16.type(0)) == finite.max()
    assert np.nextafter(BFLOAT16.type(-0.0), inf) == tiny
    assert np.isnan(np.nextafter(BFLOAT16.type(np.nan), inf))
    assert np.signbit(np.nextafter(BFLOAT16.type(0.0), BFLOAT16.type(-0.0)))


def test_the_distance_to_the_next_number_has_the_sign_of_the_number() -> None:
    positive = ALL[:0x7F7F]
    steps = np.diff(ALL[:0x7F80].astype(np.float32))
    np.testing.assert_array_equal(np.spacing(positive).astype(np.float32), steps)
    np.testing.assert_array_equal(np.spacing(-positive).astype(np.float32), -steps)
    assert np.isnan(np.spacing(ALL[0x7F80:0x7F82])).all()


@pytest.mark.parametrize("size", [0, 1, 2, 511, 512, 513, 3000])
def test_blocks_of_any_number_of_elements_are_whole(size: int) -> None:
    wide = np.random.default_rng(size).standard_normal(size).astype(BFLOAT16).astype(np.float32)
    x = wide.astype(BFLOAT16)
    same(np.add(x, x[::-1]), np.add(wide, wide[::-1]))
    same(np.exp(x), np.exp(wide))
    same(np.multiply(x, BFLOAT16.type(3)), wide * np.float32(3))
    same(np.subtract(BFLOAT16.type(3), x), np.float32(3) - wide)
    same(np.less(x, x[::-1]), np.less(wide, wide[::-1]))
    np.testing.assert_array_equal(x.astype(np.float32), wide)


@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_operands_may_lie_anywhere(step: int) -> None:
    wide = np.random.default_rng(4).standard_normal(4001).astype(BFLOAT16).astype(np.float32)
    x = wide.astype(BFLOAT16)[::step]
    same(x + x, wide[::step] + wide[::step])
    np.testing.assert_array_equal(x.astype(np.float32), wide[::step])
    room = np.zeros(2 * len(x), BFLOAT16)
    np.sin(x, out=room[::2])
    same(room[::2], np.sin(wide[::step]))
    assert not room[1::2].astype(np.float32).any()


def test_an_operand_may_lie_at_an_odd_address() -> None:
    wide = np.arange(1000, dtype=np.float32)
    raw = np.zeros(2001, np.uint8)
    odd = raw[1:].view(np.uint16).view(BFLOAT16)
    assert not odd.flags.aligned
    odd[...] = wide.astype(BFLOAT16)
    around = wide.astype(BFLOAT16)
    same(odd + odd, around.astype(np.float32) * 2)
    same(np.add.reduce(odd[:20]), np.float32(190))
    assert odd.astype(np.float64)[17] == 17
    assert float(odd[17]) == odd[17].item() == 17
    np.exp(odd, out=odd)
    same(odd.copy(), np.exp(around.astype(np.float32)))
    assert np.sort(odd[::-1].copy()).shape == (1000,)


def test_bytes_may_stand_the_other_way_round() -> None:
    x = np.array([1.5, -2.0, 1e30, np.nan], BFLOAT16)
    turned = x.byteswap().view(BFLOAT16.newbyteorder())
    assert not turned.dtype.isnative
    np.testing.assert_array_equal(bits(turned.astype(BFLOAT16)), bits(x))
    np.testing.assert_array_equal(turned.astype(np.float32), x.astype(np.float32))
    same(turned + turned, x.astype(np.float32) * 2)
    assert turned[0].item() == turned.tolist()[0] == 1.5
    turned[1] = 3.0
    assert turned.astype(np.float32)[1] == 3.0


def test_a_result_may_take_the_place_of_an_operand() -> None:
    wide = np.random.default_rng(5).standard_normal(2000).astype(BFLOAT16).astype(np.float32)
    x = wide.astype(BFLOAT16)
    x += x
    same(x, wide * 2)
    x = wide.astype(BFLOAT16)
    np.multiply(x[:-1], x[1:], out=x[1:])
    same(x[1:], wide[:-1] * wide[1:])
    x = wide.astype(BFLOAT16)
    np.subtract(x[::-1], x, out=x)
    same(x, wide[::-1] - wide)


def test_memory_that_is_read_only_is_read_only() -> None:
    x = np.ones(3, BFLOAT16)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.exp(x, out=x)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1.0
    same(np.exp(x), np.exp(x.astype(np.float32)))


@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "maximum", "minimum", "fmax"])
@pytest.mark.parametrize("size", [1, 5, 600, 1500])
def test_a_fold_rounds_each_step(name: str, size: int) -> None:
    function = getattr(np, name)
    x = (np.random.default_rng(size).standard_normal(size) + 1).astype(BFLOAT16)
    steps = [x[0]]
    for value in x[1:]:
        steps.append(function(steps[-1], value))
    np.testing.assert_array_equal(bits(function.accumulate(x)), bits(np.array(steps)))
    np.testing.assert_array_equal(bits(function.reduce(x)), bits(steps[-1]))
    np.testing.assert_array_equal(bits(function.reduce(np.stack([x, x], 1), 0))[1], bits(steps[-1]))
    own = x.copy()
    function.accumulate(own, out=own)
    np.testing.assert_array_equal(bits(own), bits(np.array(steps)))


def test_the_largest_of_numbers_with_nan_is_nan() -> None:
    x = np.ones(700, BFLOAT16)
    x[650] = np.nan
    assert np.isnan(np.maximum.reduce(x)) and np.isnan(np.minimum.reduce(x))
    assert np.fmax.reduce(x) == np.fmin.reduce(x) == BFLOAT16.type(1)
    assert np.argmax(x) == np.argmin(x) == 650


def test_folds_of_parts_and_at_places_work() -> None:
    x = np.arange(10).astype(BFLOAT16)
    assert np.add.reduceat(x, [0, 3, 7]).tolist() == [3.0, 18.0, 24.0]
    np.add.at(x, [0, 0, 0], BFLOAT16.type(2))
    assert x[0].item() == 6.0
    chosen = np.add(x, x, where=x > BFLOAT16.type(5), out=np.zeros(10, BFLOAT16))
    assert chosen.tolist() == [12.0, 0, 0, 0, 0, 0, 12.0, 14.0, 16.0, 18.0]


def test_order_is_that_of_the_values_with_nan_last() -> None:
    order = np.random.default_rng(6).permutation(65536)
    np.testing.assert_array_equal(np.sort(ALL[order]).astype(np.float32), np.sort(WIDE))
    found = np.argsort(ALL[order], kind="stable")
    np.testing.assert_array_equal(found, np.argsort(WIDE[order], kind="stable"))
    ranged = np.arange(200).astype(BFLOAT16)
    assert np.searchsorted(ranged, ranged[[3, 150]]).tolist() == [3, 150]


@pytest.mark.parametrize("size", [1, 2, 37, 600])
def test_the_first_extreme_is_found(size: int) -> None:
    wide = np.random.default_rng(size).integers(-3, 3, (20, size)).astype(np.float32)
    x = wide.astype(BFLOAT16)
    np.testing.assert_array_equal(np.argmax(x, 1), np.argmax(wide, 1))
    np.testing.assert_array_equal(np.argmin(x, 1), np.argmin(wide, 1))
    lowest = np.full(size, -np.inf, np.float32).astype(BFLOAT16)
    assert np.argmax(lowest) == np.argmin(-lowest) == 0


def test_zeros_of_both_signs_are_zero_and_nan_is_not() -> None:
    np.testing.assert_array_equal(np.nonzero(ALL)[0], np.nonzero(WIDE)[0])
    assert np.count_nonzero(ALL) == np.count_nonzero(WIDE)


def test_products_are_summed_in_float32() -> None:
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-8, 8, (9, 9)).astype(BFLOAT16) for _ in range(2))
    wide = a.astype(np.float32) @ b.astype(np.float32)
    assert (a @ b).dtype == np.float32
    np.testing.assert_array_equal(a @ b, wide)
    same(np.dot(a, b).ravel(), wide.ravel())
    ones = np.ones(1000, BFLOAT16)
    assert float(np.dot(ones, ones)) == 1000.0


def test_ranges_and_fills_have_their_elements() -> None:
    assert np.arange(0, 5, dtype=BFLOAT16).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert np.arange(0, 1, 0.25, dtype=BFLOAT16).tolist() == [0.0, 0.25, 0.5, 0.75]
    assert np.full((2, 2), 1.5, BFLOAT16).tolist() == [[1.5, 1.5], [1.5, 1.5]]
    assert np.zeros(0, BFLOAT16).sum() == BFLOAT16.type(0)
    assert np.eye(2, dtype=BFLOAT16).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "value", [1, True, 1.5, np.float64(2.5), np.int8(-3), np.float16(0.5), np.array(4), "1.5",
              np.bool_(True), 1 << 70],
)  # fmt: skip
def test_a_scalar_is_made_of_a_number(value: Any) -> None:
    made = core.bfloat16(value)
    assert type(made) is core.bfloat16
    assert float(made) == float(value)


@pytest.mark.parametrize("value", [None, 1j, [], {}, b"1", object(), 10**400])
def test_a_scalar_is_not_made_of_what_is_no_number(value: Any) -> None:
    with pytest.raises(TypeError, match="expected number"):
        core.bfloat16(value)
    with pytest.raises((TypeError, ValueError)):
        np.zeros(1, BFLOAT16)[0] = value


def test_a_scalar_that_cannot_be_read_says_so() -> None:
    with pytest.raises(ValueError, match="could not convert string to float"):
        core.bfloat16("one")
    with pytest.raises(TypeError):
        core.bfloat16(1, 2)
    with pytest.raises(TypeError, match="no keyword"):
        core.bfloat16(value=1)
    assert core.bfloat16() == core.bfloat16(0)


def test_scalars_count_and_compare_as_numbers() -> None:
    x, y = core.bfloat16(1.5), core.bfloat16(-2)
    assert type(x + y) is type(-x) is type(abs(y)) is type(x // y) is core.bfloat16
    assert (float(x + y), float(x - y), float(x * y), float(x / y)) == (-0.5, 3.5, -3.0, -0.75)
    assert (float(x**2), float(x % y), float(-x), float(abs(y))) == (2.25, -0.5, -1.5, 2.0)
    assert x > y and y < x and x >= x and x != y and x == 1.5
    assert bool(x) and not bool(core.bfloat16(0)) and int(y) == -2 and complex(x) == 1.5
    assert hash(x) == hash(1.5) and len({x, core.bfloat16(1.5), core.bfloat16(2)}) == 2
    assert (str(x), repr(y), f"{x}", f"{x:.3f}") == ("1.5", "-2", "1.5", "1.500")
    assert repr(core.bfloat16(np.nan)) == "nan" and x.dtype == BFLOAT16
    assert repr(np.array([1, 2.5], BFLOAT16)) == "array([1, 2.5], dtype=bfloat16)"


def test_objects_come_and_go() -> None:
    x = np.array([1.5, 2.5], BFLOAT16)
    objects = x.astype(object)
    assert [float(value) for value in objects] == [1.5, 2.5]
    np.testing.assert_array_equal(bits(objects.astype(BFLOAT16)), bits(x))
    assert x.tolist() == [1.5, 2.5] and type(x.tolist()[0]) is float


def test_threads_compute_side_by_side() -> None:
    x = random_floats(10_000).astype(BFLOAT16)
    with np.errstate(all="ignore"):
        wanted = bits(np.exp(x) + x)

    def same_as_before(_: int) -> bool:
        with np.errstate(all="ignore"):
            return bool((bits(np.exp(x) + x) == wanted).all()) and len(np.sort(x)) == len(x)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(same_as_before, range(20)))


def test_fields_of_records_are_numbers() -> None:
    x = np.zeros(3, [("a", BFLOAT16), ("b", np.int8), ("c", BFLOAT16)])
    x["c"] = [1, 2, 3]
    assert not x["c"].flags.aligned
    assert (x["c"] + x["c"]).tolist() == [2.0, 4.0, 6.0] and x[1].tolist() == (0.0, 0, 2.0)


def test_errors_of_numbers_are_told_as_numpys() -> None:
    with np.errstate(all="warn"), pytest.warns(RuntimeWarning, match="divide by zero"):
        np.log(np.zeros(2, BFLOAT16))


def test_files_of_numpy_keep_the_bits(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ALL)
    read = np.load(tmp_path / "x.npy").view(BFLOAT16)
    np.testing.assert_array_equal(read.view(np.uint16), ALL.view(np.uint16))


def test_references_do_not_grow() -> None:
    kind, x, one = core.bfloat16, np.ones(100, BFLOAT16), core.bfloat16(1)
    descr, text = x.dtype, "1.5"

    def use() -> None:
        for _ in range(200):
            kind(1.5), kind(one), kind(text), kind(x), kind(x[0]), hash(one), str(one), one + one
            x.astype(np.float32).astype(BFLOAT16), x + x, x.tolist(), x[3], np.sort(x), one == 1
            f"{one:.2f}", x.astype(object).astype(BFLOAT16), np.add.reduce(x), np.dot(x, x)
            for wrong in (None, 1j):
                with pytest.raises(TypeError):
                    kind(wrong)

    use()
    before = [sys.getrefcount(value) for value in (kind, descr, one, x, text, None)]
    use()
    after = [sys.getrefcount(value) for value in (kind, descr, one, x, text, None)]
    assert all(abs(new - old) < 50 for new, old in zip(after, before, strict=True))


def test_a_subclass_of_the_scalar_is_one() -> None:
    class Named(core.bfloat16):  # type: ignore[misc, name-defined]
        """A number with a name."""

    made = Named(2.5)
    assert float(made) == 2.5 and isinstance(made, core.bfloat16)
    assert np.array([made], BFLOAT16).tolist() == [2.5]


def other_type() -> Any:
    """The bfloat16 of ml_dtypes, whose values these are."""
    ml_dtypes: Any = pytest.importorskip("ml_dtypes")
    return np.dtype(ml_dtypes.bfloat16)


def unlike(x: Any, y: Any) -> int:
    """How many elements of two results are not the same; nan is nan."""
    if x.dtype == BFLOAT16:
        return int((bits(x) != bits(y.view(np.uint16).view(BFLOAT16))).sum())
    return int((x != y).sum())


@pytest.mark.parametrize("kind", [kind for kind in NUMBERS if kind not in "gG"])
def test_conversions_are_those_of_ml_dtypes(kind: str) -> None:
    other = other_type()
    with np.errstate(all="ignore"):
        here = ALL[fits(kind)]
        x, y = here.astype(kind), here.view(np.uint16).view(other).astype(kind)
        assert ((x == y) | ((x != x) & (y != y))).all()
        some = np.random.default_rng(8).integers(0, 1 << 62, 50_000)
        source = random_floats(50_000).astype(kind) if kind in "fdFD" else some.astype(kind)
        assert unlike(source.astype(BFLOAT16), source.astype(other)) == 0
    for rule in ("safe", "same_kind", "unsafe"):
        assert np.can_cast(BFLOAT16, kind, rule) == np.can_cast(other, kind, rule)
        assert np.can_cast(kind, BFLOAT16, rule) == np.can_cast(kind, other, rule)


@pytest.mark.parametrize(
    "function", [f for f in FUNCTIONS if f.__name__ not in ("ldexp", "degrees", "radians")], ids=str
)
def test_values_are_those_of_ml_dtypes(function: np.ufunc) -> None:
    """But for zeros' signs, and a few roundings where NumPy's float32 differs in its last digit."""
    other = other_type()
    rng = np.random.default_rng(9)
    args = [ALL] if function.nin == 1 else [ALL[rng.permutation(65536)] for _ in range(2)]
    found = each(function(*args))
    wanted = each(function(*[x.view(np.uint16).view(other) for x in args]))
    for x, y in zip(found, wanted, strict=True):
        assert x.dtype.name == y.dtype.name
        zeros = (x == BFLOAT16.type(0)) & (y == other.type(0)) if x.dtype == BFLOAT16 else x != x
        assert unlike(x[~zeros], y[~zeros]) <= 3
