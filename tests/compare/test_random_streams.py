"""Random streams against PyTorch's: the same draws from both, then the same state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as rl
from rushlight._array.random import discrete as disc, distributions as dist
from rushlight._array.random.mt19937 import Stream

torch: Any = pytest.importorskip("torch")
ml_dtypes: Any = pytest.importorskip("ml_dtypes")

BF16 = np.dtype(ml_dtypes.bfloat16)
TORCH = {
    np.dtype(t): getattr(torch, n)
    for t, n in (
        (np.float16, "float16"), (np.float32, "float32"), (np.float64, "float64"),
        (np.complex64, "complex64"), (np.complex128, "complex128"), (np.bool_, "bool"),
        (np.uint8, "uint8"), (np.int8, "int8"), (np.int16, "int16"), (np.int32, "int32"),
        (np.int64, "int64"), (np.uint16, "uint16"), (np.uint32, "uint32"), (np.uint64, "uint64"),
    )
}  # fmt: skip
TORCH[BF16] = torch.bfloat16
RAW = {t: d for d, t in TORCH.items()}
REALS = [np.dtype(np.float16), BF16, np.dtype(np.float32), np.dtype(np.float64)]
FLOATING = [*REALS, np.dtype(np.complex64), np.dtype(np.complex128)]
SIGNED = [np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64)]
COUNTABLE = [np.dtype(np.bool_), np.dtype(np.uint8), *SIGNED, *REALS]
SIZES = (0, 1, 2, 15, 16, 17, 31, 32, 33, 100, 319, 320, 321, 1000, 19968, 20001)
SEEDS = (0, 5, 2**32 + 7, -3)


def raw_of(result: Any) -> Any:
    if result.dtype == torch.bfloat16:
        return result.view(torch.int16).numpy().view(BF16)
    return result.numpy()


def both(seed: int) -> tuple[Stream, Any]:
    return Stream(seed), torch.Generator().manual_seed(seed)


def assert_in_step(stream: Stream, generator: Any) -> None:
    np.testing.assert_array_equal(stream.get_state(), generator.get_state().numpy())


def assert_same(ours: Any, theirs: Any, ulp: int = 0) -> None:
    theirs = raw_of(theirs)
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    if ulp and ours.dtype.itemsize > 2:
        real = ours.dtype if ours.dtype.kind == "f" else ours.real.dtype
        a, b = np.ascontiguousarray(ours).view(real), np.ascontiguousarray(theirs).view(real)
        # A sum next to zero has few digits in common with one whose summands differ by a rounding.
        atol = 2e-15 if real == np.float64 else 0.0
        assert (np.abs(a - b) <= ulp * np.spacing(np.abs(b)) + atol).all()
    elif ours.dtype == BF16:
        np.testing.assert_array_equal(ours.astype(np.float32), theirs.astype(np.float32))
    else:
        np.testing.assert_array_equal(ours, theirs)


def compare(
    ours: Callable[[Stream, Any], Any],
    theirs: Callable[[Any, Any], Any],
    dtypes: list[Any],
    ulp: int = 0,
    sizes: tuple[int, ...] = SIZES,
) -> None:
    """Draws into arrays of all sizes from one stream, so that every draw starts somewhere else."""
    for seed in SEEDS:
        for dtype in dtypes:
            stream, generator = both(seed)
            for n in sizes:
                ours_drawn = ours(stream, np.empty(n, dtype))
                theirs_drawn = theirs(generator, torch.empty(n, dtype=TORCH[dtype]))
                assert_same(ours_drawn, theirs_drawn, ulp)
            assert_in_step(stream, generator)


@pytest.mark.parametrize("seed", [0, 1, -1, 2**31, 2**32, 2**63, 2**64 - 1, -(2**63)])
def test_the_state_after_seeding_is_the_same(seed: int) -> None:
    stream, generator = both(seed)
    assert stream.initial_seed() == generator.initial_seed()
    assert_in_step(stream, generator)


def test_an_unseeded_generator_has_the_same_seed() -> None:
    assert_in_step(Stream(), torch.Generator())


@pytest.mark.parametrize("used", [0, 1, 3, 623, 624, 625, 1248, 5000])
def test_states_go_both_ways(used: int) -> None:
    stream, generator = both(11)
    dist.rand(stream, (used,), np.float32)
    torch.rand(used, generator=generator)
    assert_in_step(stream, generator)
    dist.randn(stream, (3,), np.float32)
    torch.randn(3, generator=generator)
    assert_in_step(stream, generator)
    other = Stream(0)
    other.set_state(generator.get_state().numpy())
    assert_in_step(other, generator)
    back = torch.Generator()
    back.set_state(torch.from_numpy(stream.get_state()))
    for n in (1, 700, 2):
        assert_same(
            dist.randn(other, (n,), np.float64),
            torch.randn(n, dtype=torch.float64, generator=back),
            2,
        )
    assert_in_step(other, back)


@pytest.mark.parametrize(
    "bounds", [(0.0, 1.0), (-3.3, 7.1), (0.1, 0.2), (1000.0, 1001.0), (-1.0, 0.0), (1.0, 1.0)]
)
def test_uniforms_are_equal(bounds: tuple[float, float]) -> None:
    compare(
        lambda s, a: dist.uniform_(s, a, *bounds),
        lambda g, a: a.uniform_(*bounds, generator=g),
        REALS,
    )


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_rand_is_equal(dtype: Any) -> None:
    compare(
        lambda s, a: dist.rand(s, a.shape, a.dtype),
        lambda g, a: torch.rand(a.shape, dtype=a.dtype, generator=g),
        [dtype],
    )


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_randn_is_equal_in_single_precision_and_close_in_double(dtype: Any) -> None:
    compare(
        lambda s, a: dist.randn(s, a.shape, a.dtype),
        lambda g, a: torch.randn(a.shape, dtype=a.dtype, generator=g),
        [dtype],
        ulp=2 if dtype.name in ("float64", "complex128") else 0,
    )


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_normals_with_a_mean_and_a_deviation_are_equal(dtype: Any) -> None:
    for mean, std in ((0.5, 0.7), (-2.0, 3.0), (0.0, 0.02), (1.0, 0.0)):
        compare(
            lambda s, a, m=mean, d=std: dist.normal_(s, a, m, d),
            lambda g, a, m=mean, d=std: a.normal_(m, d, generator=g),
            [dtype],
            ulp=4 if dtype.name in ("float64", "complex128") else 0,
        )


def test_randn_without_exactness_is_within_four_units_in_the_last_place() -> None:
    stream, generator = both(3)
    stream.exact_normals = False
    for n in (16, 100, 1000, 50000):
        assert_same(
            dist.randn(stream, (n,), np.float32), torch.randn(n, generator=generator), ulp=5
        )
    assert_in_step(stream, generator)


@pytest.mark.slow
def test_a_million_draws_of_each_kind_are_equal() -> None:
    n = 10**6
    stream, generator = both(1)
    assert_same(dist.rand(stream, (n,), np.float32), torch.rand(n, generator=generator))
    assert_same(dist.randn(stream, (n + 5,), np.float32), torch.randn(n + 5, generator=generator))
    assert_same(
        dist.rand(stream, (n,), np.float64), torch.rand(n, dtype=torch.float64, generator=generator)
    )
    assert_same(
        dist.randn(stream, (n + 5,), np.float64),
        torch.randn(n + 5, dtype=torch.float64, generator=generator),
        2,
    )
    assert_same(
        disc.randint(stream, -7, 10**6, (n,), np.int64),
        torch.randint(-7, 10**6, (n,), generator=generator),
    )
    assert_same(disc.randperm(stream, n, np.int64), torch.randperm(n, generator=generator))
    assert_in_step(stream, generator)


def test_normals_with_arrays_of_means_and_deviations_are_equal() -> None:
    rng = np.random.default_rng(0)
    for n in (3, 16, 50):
        mean, std = rng.random((n, 1)), rng.random(n)
        for dtype in (np.float32, np.float64, np.float16):
            m, s = mean.astype(dtype), std.astype(dtype)
            tm, ts = torch.from_numpy(m), torch.from_numpy(s)
            for a, b, c, d in ((m, s, tm, ts), (m, 0.3, tm, 0.3), (0.3, s, 0.3, ts)):
                stream, generator = both(n)
                ulp = 4 if dtype == np.float64 else 0
                assert_same(dist.normal(stream, a, b), torch.normal(c, d, generator=generator), ulp)
                assert_in_step(stream, generator)


@pytest.mark.parametrize("dtype", COUNTABLE, ids=str)
def test_random_without_bounds_is_equal(dtype: Any) -> None:
    compare(lambda s, a: disc.random_(s, a), lambda g, a: a.random_(generator=g), [dtype])


@pytest.mark.filterwarnings("ignore:.*Due to precision limitations")
@pytest.mark.parametrize(
    "dtype", [*COUNTABLE, *(np.dtype(t) for t in (np.uint16, np.uint32, np.uint64))], ids=str
)
def test_random_with_bounds_is_equal_and_refuses_the_same(dtype: Any) -> None:
    ranges: list[tuple[int, int | None]] = [
        (0, 2), (0, 10), (-5, 100), (0, 256), (0, 257), (-128, 128), (0, 2**15), (-(2**15), 2**15),
        (0, 2**28 - 1), (0, 2**28), (-5, 2**28 - 5), (0, 2**31), (-(2**31), 2**31), (0, 2**40 + 3),
        (-3, 2**62), (-(2**63), 2**63 - 1), (0, 2**63 - 1), (0, 3001), (-3001, 2992),
        (-5000, -4000),
        (3, 3), (5, 3), (0, None), (-5, None), (7, None), (-3001, None), (2**20, None),
        (-(2**63), None), (2**40, None),
    ]  # fmt: skip
    for low, high in ranges:
        stream, generator = both(9)
        theirs: Any = None
        refused = ""
        try:
            theirs = torch.empty(33, dtype=TORCH[dtype]).random_(low, high, generator=generator)
        except RuntimeError as error:
            refused = str(error)
        if refused:
            with pytest.raises(RuntimeError) as caught:  # NotImplementedError is one too
                disc.random_from_(stream, np.empty(33, dtype), low, high)
            assert str(caught.value) == refused, (low, high)
        else:
            assert_same(disc.random_from_(stream, np.empty(33, dtype), low, high), theirs)
        assert_in_step(stream, generator)


@pytest.mark.parametrize("n", [0, 1, 2, 10, 128, 299, 300, 301, 302, 1000, 20001])
def test_permutations_are_equal(n: int) -> None:
    for seed in range(4):
        stream, generator = both(seed)
        for dtype in (np.int64, np.int32, np.float32, np.float64):
            kind = TORCH[np.dtype(dtype)]
            assert_same(
                disc.randperm(stream, n, dtype), torch.randperm(n, dtype=kind, generator=generator)
            )
        assert_in_step(stream, generator)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0, 1e-9, 2.0**-53])
def test_throws_of_one_coin_are_equal(p: float) -> None:
    compare(
        lambda s, a: disc.bernoulli_(s, a, p),
        lambda g, a: a.bernoulli_(p, generator=g),
        COUNTABLE,
        sizes=(0, 1, 17, 100),
    )


@pytest.mark.parametrize("dtype", REALS, ids=str)
def test_throws_of_many_coins_are_equal(dtype: Any) -> None:
    for shape in ((0,), (1,), (17,), (40, 30)):
        stream, generator = both(2)
        odds = torch.rand(shape, generator=torch.Generator().manual_seed(1)).to(TORCH[dtype])
        assert_same(
            disc.bernoulli_tensor_(stream, np.empty(shape, dtype), raw_of(odds)),
            torch.bernoulli(odds, generator=generator),
        )
        turned = torch.empty(shape[::-1]).permute(*range(len(shape))[::-1])
        turned.bernoulli_(odds, generator=generator)
        ours = np.empty(shape[::-1], np.float32).T
        assert_same(disc.bernoulli_tensor_(stream, ours, raw_of(odds)), turned)
        assert_in_step(stream, generator)


def test_dropout_keeps_the_same_elements() -> None:
    for p in (0.1, 0.5, 0.9):
        for x in (
            torch.ones(40, 25),
            torch.ones(25, 40).t(),
            torch.ones(2, 3, 4, 5).permute(0, 2, 3, 1),
        ):
            torch.manual_seed(4)
            stream = Stream(4)
            theirs = torch.nn.functional.dropout(x, p) != 0
            assert_same(disc.keep_mask(stream, x.numpy(), 1 - p), theirs)
            assert_same(
                disc.keep_mask(stream, x.numpy(), 1 - p), torch.native_dropout(x, p, True)[1]
            )
            np.testing.assert_array_equal(stream.get_state(), torch.get_rng_state().numpy())


def test_exponential_draws_agree() -> None:
    for rate in (1.0, 1.7, 0.01):
        compare(
            lambda s, a, r=rate: dist.exponential_(s, a, r),
            lambda g, a, r=rate: a.exponential_(r, generator=g),
            REALS,
            ulp=2,
        )


def test_cauchy_draws_agree() -> None:
    for median, sigma in ((0.0, 1.0), (0.5, 1.7)):
        compare(
            lambda s, a, m=median, d=sigma: dist.cauchy_(s, a, m, d),
            lambda g, a, m=median, d=sigma: a.cauchy_(m, d, generator=g),
            REALS,
            ulp=4,
        )


def test_log_normal_draws_agree() -> None:
    for mean, std in ((1.0, 2.0), (0.5, 0.7)):
        compare(
            lambda s, a, m=mean, d=std: dist.log_normal_(s, a, m, d),
            lambda g, a, m=mean, d=std: a.log_normal_(m, d, generator=g),
            REALS,
            ulp=16,
        )


def test_geometric_draws_are_equal() -> None:
    for p in (0.3, 0.001, 0.99):
        compare(
            lambda s, a, q=p: disc.geometric_(s, a, q),
            lambda g, a, q=p: a.geometric_(q, generator=g),
            [np.dtype(np.uint8), *SIGNED, *REALS],
        )


@pytest.mark.parametrize("dtype", REALS, ids=str)
def test_categories_are_equal(dtype: Any) -> None:
    for shape, n in (((10,), 1), ((10,), 5), ((7, 10), 3), ((3, 2000), 500), ((1, 1), 1)):
        weights = torch.rand(shape, generator=torch.Generator().manual_seed(1)) + 0.01
        weights = weights.to(TORCH[dtype])
        for replacement in (True, False):
            if dtype.itemsize == 2 and n > 1 and not replacement:
                continue  # ties: PyTorch leaves their order to its partial sort
            stream, generator = both(n)
            assert_same(
                disc.multinomial(stream, raw_of(weights), n, replacement),
                torch.multinomial(weights, n, replacement, generator=generator),
            )
            assert_in_step(stream, generator)


def test_arrays_of_other_strides_are_filled_in_memory_order() -> None:
    def views(new: Callable[..., Any], permute: Callable[..., Any]) -> list[Any]:
        base = [new(5, 6), new(2, 3, 4, 5), new(40, 3), new(7, 8), new(4, 1, 5)]
        return [
            permute(base[0], 1, 0), permute(base[1], 0, 3, 1, 2), permute(base[1], 3, 1, 0, 2),
            base[2][:, 1], base[2][::2], base[3][:, ::2], permute(base[3], 1, 0)[::3, 1:],
            permute(base[4], 1, 2, 0),
        ]  # fmt: skip

    fills: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
        (dist.uniform_, lambda a, g: a.uniform_(generator=g)),
        (dist.normal_, lambda a, g: a.normal_(generator=g)),
        (dist.exponential_, lambda a, g: a.exponential_(generator=g)),
        (disc.bernoulli_, lambda a, g: a.bernoulli_(generator=g)),
        (disc.random_, lambda a, g: a.random_(generator=g)),
    ]
    stream, generator = both(8)
    for ours, theirs in fills:
        mine = views(lambda *s: np.zeros(s, np.float32), lambda a, *axes: a.transpose(axes))
        yours = views(lambda *s: torch.zeros(s), lambda a, *axes: a.permute(axes))
        for a, b in zip(mine, yours):
            assert_same(ours(stream, a), theirs(b, generator))
    assert_in_step(stream, generator)


def test_mixed_calls_stay_in_step() -> None:
    rng = np.random.default_rng(7)
    stream, generator = both(77)
    g = generator
    f32, f64, i64 = np.float32, np.float64, np.int64
    calls: list[tuple[Callable[[int], Any], Callable[[int], Any], int]] = [
        (lambda n: dist.rand(stream, (n,), f32), lambda n: torch.rand(n, generator=g), 0),
        (lambda n: dist.randn(stream, (n,), f32), lambda n: torch.randn(n, generator=g), 0),
        (
            lambda n: dist.randn(stream, (n,), f64),
            lambda n: torch.randn(n, dtype=torch.float64, generator=g),
            2,
        ),
        (lambda n: disc.randperm(stream, n, i64), lambda n: torch.randperm(n, generator=g), 0),
        (
            lambda n: disc.randint(stream, 0, 99, (n,), i64),
            lambda n: torch.randint(99, (n,), generator=g),
            0,
        ),
        (
            lambda n: dist.log_normal_(stream, np.empty(n, f32)),
            lambda n: torch.empty(n).log_normal_(generator=g),
            2,
        ),
        (
            lambda n: disc.bernoulli_(stream, np.empty(n, f32)),
            lambda n: torch.empty(n).bernoulli_(generator=g),
            0,
        ),
    ]
    for _ in range(400):
        ours, theirs, ulp = calls[rng.integers(len(calls))]
        n = int(rng.choice([1, 2, 3, 15, 16, 17, 33, 100, 650, 1300]))
        assert_same(ours(n), theirs(n), ulp)
    assert_in_step(stream, generator)


CASES: list[tuple[Callable[[Stream], Any], Callable[[], Any]]] = [
    (lambda s: s.restart(2**64), lambda: torch.manual_seed(2**64)),
    (
        lambda s: s.set_state(np.zeros(10, np.uint8)),
        lambda: torch.set_rng_state(torch.zeros(10, dtype=torch.uint8)),
    ),
    (
        lambda s: s.set_state(np.zeros(5056, np.uint8)),
        lambda: torch.set_rng_state(torch.zeros(5056, dtype=torch.uint8)),
    ),
    (lambda s: dist.normal_(s, np.empty(3), 0, -1), lambda: torch.empty(3).normal_(0, -1)),
    (
        lambda s: dist.normal_(s, np.empty(3, np.int32)),
        lambda: torch.empty(3, dtype=torch.int32).normal_(),
    ),
    (
        lambda s: dist.normal(s, np.zeros(3), -np.ones(3)),
        lambda: torch.normal(torch.zeros(3), -torch.ones(3)),
    ),
    (
        lambda s: dist.normal(s, np.zeros(3), np.ones(3, np.complex64)),
        lambda: torch.normal(torch.zeros(3), torch.ones(3, dtype=torch.complex64)),
    ),
    (lambda s: dist.uniform_(s, np.empty(3), 2, 1), lambda: torch.empty(3).uniform_(2, 1)),
    (
        lambda s: dist.uniform_(s, np.empty(3, np.float32), 0, 1e39),
        lambda: torch.empty(3).uniform_(0, 1e39),
    ),
    (
        lambda s: dist.uniform_(s, np.empty(3, np.float32), -3e38, 3e38),
        lambda: torch.empty(3).uniform_(-3e38, 3e38),
    ),
    (
        lambda s: dist.uniform_(s, np.empty(3, np.float16), -6e4, 6e4),
        lambda: torch.empty(3, dtype=torch.half).uniform_(-6e4, 6e4),
    ),
    (
        lambda s: dist.uniform_(s, np.empty(3, np.int32)),
        lambda: torch.empty(3, dtype=torch.int32).uniform_(),
    ),
    (lambda s: dist.exponential_(s, np.empty(3), 0), lambda: torch.empty(3).exponential_(0)),
    (
        lambda s: dist.exponential_(s, np.empty(3, np.int32)),
        lambda: torch.empty(3, dtype=torch.int32).exponential_(),
    ),
    (lambda s: dist.cauchy_(s, np.empty(3), 0, 0), lambda: torch.empty(3).cauchy_(0, 0)),
    (
        lambda s: dist.cauchy_(s, np.empty(3, np.int64)),
        lambda: torch.empty(3, dtype=torch.int64).cauchy_(),
    ),
    (
        lambda s: dist.cauchy_(s, np.empty(3, np.complex64)),
        lambda: torch.empty(3, dtype=torch.complex64).cauchy_(),
    ),
    (lambda s: dist.log_normal_(s, np.empty(3), 0, 0), lambda: torch.empty(3).log_normal_(0, 0)),
    (
        lambda s: dist.log_normal_(s, np.empty(3, np.int32)),
        lambda: torch.empty(3, dtype=torch.int32).log_normal_(),
    ),
    (lambda s: disc.bernoulli_(s, np.empty(3), 1.5), lambda: torch.empty(3).bernoulli_(1.5)),
    (
        lambda s: disc.bernoulli_(s, np.empty(3, np.complex64)),
        lambda: torch.empty(3, dtype=torch.complex64).bernoulli_(),
    ),
    (
        lambda s: disc.bernoulli_tensor_(s, np.empty(1), np.array([1.5])),
        lambda: torch.bernoulli(torch.tensor([1.5])),
    ),
    (
        lambda s: disc.bernoulli_tensor_(s, np.empty(1), np.array([1])),
        lambda: torch.bernoulli(torch.tensor([1])),
    ),
    (lambda s: disc.geometric_(s, np.empty(3), 1), lambda: torch.empty(3).geometric_(1)),
    (
        lambda s: disc.geometric_(s, np.empty(3, np.bool_), 0.5),
        lambda: torch.empty(3, dtype=torch.bool).geometric_(0.5),
    ),
    (
        lambda s: disc.random_(s, np.empty(3, np.uint16)),
        lambda: torch.empty(3, dtype=torch.uint16).random_(),
    ),
    (
        lambda s: disc.randint(s, 0, 3, (3,), np.complex64),
        lambda: torch.randint(0, 3, (3,), dtype=torch.complex64),
    ),
    (lambda s: disc.randperm(s, -1, np.int64), lambda: torch.randperm(-1)),
    (lambda s: disc.randperm(s, 300, np.uint8), lambda: torch.randperm(300, dtype=torch.uint8)),
    (lambda s: disc.randperm(s, 2050, np.float16), lambda: torch.randperm(2050, dtype=torch.half)),
    (lambda s: disc.randperm(s, 2, np.bool_), lambda: torch.randperm(2, dtype=torch.bool)),
    (lambda s: disc.multinomial(s, np.ones(3), 0), lambda: torch.multinomial(torch.ones(3), 0)),
    (lambda s: disc.multinomial(s, np.ones(3), 4), lambda: torch.multinomial(torch.ones(3), 4)),
    (lambda s: rl.multinomial(-rl.ones(3), 1), lambda: torch.multinomial(-torch.ones(3), 1)),
    (
        lambda s: disc.multinomial(s, -np.ones(3), 2, True),
        lambda: torch.multinomial(-torch.ones(3), 2, True),
    ),
    (lambda s: rl.multinomial(rl.zeros(3), 1), lambda: torch.multinomial(torch.zeros(3), 1)),
    (
        lambda s: disc.multinomial(s, np.zeros(3), 2, True),
        lambda: torch.multinomial(torch.zeros(3), 2, True),
    ),
    (
        lambda s: disc.multinomial(s, np.array([np.inf, 1]), 2, True),
        lambda: torch.multinomial(torch.tensor([np.inf, 1]), 2, True),
    ),
    (
        lambda s: disc.multinomial(s, np.ones(3, np.int64), 1),
        lambda: torch.multinomial(torch.ones(3, dtype=torch.int64), 1),
    ),
    (
        lambda s: disc.multinomial(s, np.ones((2, 2, 2)), 1),
        lambda: torch.multinomial(torch.ones(2, 2, 2), 1),
    ),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_what_pytorch_refuses_is_refused_in_its_words(case: int) -> None:
    ours, theirs = CASES[case]
    with pytest.raises(Exception) as expected:
        theirs()
    with pytest.raises(type(expected.value)) as caught:
        ours(Stream(0))
    assert str(caught.value) == str(expected.value)
