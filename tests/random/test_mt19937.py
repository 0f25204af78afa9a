"""Random streams against numbers that PyTorch 2.13 has drawn (x86-64, AVX2), from the seed 1234."""

from __future__ import annotations

import pickle
import sys
import threading
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.random import discrete as disc, distributions as dist
from rushlight._array.random.mt19937 import STATE_BYTES, Stream

N = 10007
F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
C64, U8, I32, I64 = (np.dtype(t) for t in (np.complex64, np.uint8, np.int32, np.int64))

# The first four values, and the CRC-32 of all the bytes.
EXACT: dict[str, tuple[list[Any], int]] = {
    "rand float32": (
        [0.028979241847991943, 0.4018985629081726, 0.25984418392181396, 0.3666413426399231],
        2444492460,
    ),
    "rand float64": (
        [0.2318341720884639, 0.07875386135027063, 0.46640616040796923, 0.41437948768611854],
        2953559944,
    ),
    "rand float16": ([0.0289764404296875, 0.40185546875, 0.259765625, 0.36669921875], 671624113),
    "rand complex64": (
        [
            (0.028979241847991943 + 0.4018985629081726j),
            (0.25984418392181396 + 0.3666413426399231j),
            (0.05830073356628418 + 0.7006447315216064j),
            (0.05179738998413086 + 0.4681392312049866j),
        ],
        3680533629,
    ),
    "uniform float32": (
        [-2.9986157417297363, 0.8797449469566345, -0.5976205468177795, 0.5130698680877686],
        3047415026,
    ),
    "uniform float64": (
        [-0.8889246102799755, -2.480959841957185, 1.5506240682428796, 1.0095466719356325],
        4254465174,
    ),
    "randn float32": (
        [-0.1117185652256012, -0.49659010767936707, 0.16307370364665985, -0.8816877603530884],
        998808957,
    ),
    "randn float16": ([-0.1116943359375, -0.49658203125, 0.1630859375, -0.8818359375], 2482201660),
    "normal float32": (
        [0.4217970073223114, 0.15238693356513977, 0.6141515970230103, -0.11718142032623291],
        3096254242,
    ),
    "randint narrow": ([85, 76, 16, 0], 880367355),
    "randint wide": ([203984846263, 166669160343, 878765609683, 656082113962], 79789255),
    "random int32": ([822569775, 2137449171, 524453158, 1365105717], 752972920),
    "random int64": (
        [3532910284440527571, 2252509165406510133, 8074651545468362100, 5263936763381405689],
        2997194325,
    ),
    "random float32": ([486142.0, 6742612.0, 4359303.0, 6151012.0], 3063776696),
    "randperm": ([4382, 7476, 1508, 4896], 2171716076),
    "randperm small": ([25, 33, 8, 47], 532103826),
    "bernoulli": ([1, 1, 0, 0], 3760562277),
    "bernoulli many": ([0.0, 0.0, 0.0, 0.0], 253402827),
    "geometric": ([5, 8, 3, 3], 1728926352),
    "multinomial": ([1, 0, 2, 2], 781550061),
    "multinomial without": ([55, 25, 52, 91], 1032106205),
}

# The first four values, the sum of all and the sum of their magnitudes.
CLOSE: dict[str, tuple[list[float], float, float]] = {
    "randn float64": (
        [-0.0883100793877292, 0.34204875400356316, 0.41116805645419313, 1.005114995835244],
        1.7613439533637063,
        8008.183163217582,
    ),
    "randn few": (
        [0.04613046189666927, 0.4024028259218943, -1.0115290977852016, 0.21673823500721034],
        -0.22395314124392918,
        3.023651281877072,
    ),
    "exponential": (
        [0.15514685140141202, 0.04825178053668424, 0.36948254672930186, 0.3147548759353484],
        5824.872155277126,
        5824.872155277126,
    ),
    "cauchy": (
        [-1.1211869526608493, -3.9590227402542455, -0.10593175201355345, -0.2756654535766361],
        43967.47600092762,
        90225.81727765757,
    ),
    "log_normal": (
        [1.7028295750931048, 2.1851445416517663, 0.8121498849728412, 1.9188321859511182],
        20968.1344812206,
        20968.1344812206,
    ),
}

Draw = Callable[[Stream], Any]
DRAWS: dict[str, Draw] = {
    "rand float32": lambda s: dist.rand(s, (N,), F32),
    "rand float64": lambda s: dist.rand(s, (N,), F64),
    "rand float16": lambda s: dist.rand(s, (N,), F16),
    "rand complex64": lambda s: dist.rand(s, (N,), C64),
    "uniform float32": lambda s: dist.uniform_(s, np.empty(N, F32), -3.3, 7.1),
    "uniform float64": lambda s: dist.uniform_(s, np.empty(N, F64), -3.3, 7.1),
    "randn float32": lambda s: dist.randn(s, (N,), F32),
    "randn float16": lambda s: dist.randn(s, (N,), F16),
    "normal float32": lambda s: dist.normal_(s, np.empty(N, F32), 0.5, 0.7),
    "randint narrow": lambda s: disc.randint(s, -5, 100, (N,), I64),
    "randint wide": lambda s: disc.randint(s, -5, 2**40, (N,), I64),
    "random int32": lambda s: disc.random_(s, np.empty(N, I32)),
    "random int64": lambda s: disc.random_(s, np.empty(N, I64)),
    "random float32": lambda s: disc.random_(s, np.empty(N, F32)),
    "randperm": lambda s: disc.randperm(s, N, I64),
    "randperm small": lambda s: disc.randperm(s, 50, I64),
    "bernoulli": lambda s: disc.bernoulli_(s, np.empty(N, U8), 0.3),
    "bernoulli many": lambda s: disc.bernoulli_tensor_(
        s, np.empty(1025, F32), np.arange(1025, dtype=F32) / F32.type(1024)
    ),
    "geometric": lambda s: disc.geometric_(s, np.empty(N, I64), 0.3),
    "multinomial": lambda s: disc.multinomial(s, np.array([0.1, 0.2, 0.3, 0.4], F32), N, True),
    "multinomial without": lambda s: disc.multinomial(s, np.arange(1, 101, dtype=F32), 50),
    "randn float64": lambda s: dist.randn(s, (N,), F64),
    "randn few": lambda s: dist.randn(s, (7,), F64),
    "exponential": lambda s: dist.exponential_(s, np.empty(N, F64), 1.7),
    "cauchy": lambda s: dist.cauchy_(s, np.empty(N, F64)),
    "log_normal": lambda s: dist.log_normal_(s, np.empty(N, F64), 0.5, 0.7),
}


@pytest.mark.parametrize("name", EXACT)
def test_draws_are_the_recorded_ones_to_the_last_bit(name: str) -> None:
    first, checksum = EXACT[name]
    drawn = DRAWS[name](Stream(1234))
    assert drawn[:4].tolist() == first
    assert zlib.crc32(drawn.tobytes()) == checksum


@pytest.mark.parametrize("name", CLOSE)
def test_draws_in_double_precision_are_the_recorded_ones_nearly(name: str) -> None:
    first, total, magnitude = CLOSE[name]
    drawn = DRAWS[name](Stream(1234))
    np.testing.assert_allclose(drawn[:4], first, rtol=1e-15)
    np.testing.assert_allclose(np.abs(drawn).sum(), magnitude, rtol=1e-12)
    np.testing.assert_allclose(drawn.sum(), total, rtol=0, atol=1e-12 * magnitude)


@pytest.mark.parametrize(
    ("seed", "fresh", "used"),
    [
        (0, 1831558866, 2423457537),
        (1234, 3072169676, 2215479403),
        (-1, 1372939787, 1961009931),
        (2**64 - 1, 1372939787, 1961009931),
    ],
)
def test_the_state_has_the_recorded_bytes(seed: int, fresh: int, used: int) -> None:
    stream = Stream(seed)
    assert stream.initial_seed() == seed % 2**64
    assert zlib.crc32(stream.get_state().tobytes()) == fresh
    dist.rand(stream, (1000,), F32)
    dist.randn(stream, (3,), F32)
    assert zlib.crc32(stream.get_state().tobytes()) == used


def test_a_mixed_sequence_is_the_recorded_one() -> None:
    stream = Stream(1234)
    drawn: list[Any] = []
    for n in (1, 16, 3, 17, 700, 2, 5):
        drawn.append(dist.randn(stream, (n,), F32)[0].item())
        drawn.append(dist.rand(stream, (n,), F32)[-1].item())
        drawn.append(disc.randint(stream, 0, 1000, (n,), I64)[0].item())
    assert drawn == [
        0.0461304634809494, 0.05830073356628418, 564, -0.05965760722756386, 0.4265083074569702, 66,
        0.4024028182029724, 0.49661123752593994, 203, 0.9257423877716064, 0.42968809604644775, 468,
        0.9294529557228088, 0.2145611047744751, 934, -1.666900873184204, 0.8754470348358154, 591,
        -0.5447367429733276, 0.1449710726737976, 488,
    ]  # fmt: skip
    assert zlib.crc32(stream.get_state().tobytes()) == 1889693378


def test_dropout_keeps_the_recorded_elements() -> None:
    kept = disc.keep_mask(Stream(1234), np.ones(20, F32), 1 - 0.4)
    assert kept.dtype == np.bool_
    assert kept.astype(int).tolist() == [1] * 9 + [0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("used", [0, 1, 2, 623, 624, 625, 1247, 1248, 30000])
def test_a_state_continues_where_it_was_taken(used: int) -> None:
    stream = Stream(99)
    dist.rand(stream, (used,), F32)
    dist.randn(stream, (1,), F32)  # keeps a normal back
    state = stream.get_state()
    assert state.shape == (STATE_BYTES,)
    assert state.dtype == U8
    other = Stream()
    other.set_state(state)
    np.testing.assert_array_equal(other.get_state(), state)
    assert other.initial_seed() == 99
    for n in (2, 5, 700, 40000):
        np.testing.assert_array_equal(dist.randn(other, (n,), F32), dist.randn(stream, (n,), F32))
        np.testing.assert_array_equal(dist.rand(other, (n,), F64), dist.rand(stream, (n,), F64))
    np.testing.assert_array_equal(other.get_state(), stream.get_state())


def test_seeding_again_starts_again() -> None:
    stream = Stream(5)
    first = dist.randn(stream, (3,), F32)  # keeps a normal back, which seeding forgets
    stream.restart(5)
    np.testing.assert_array_equal(dist.randn(stream, (3,), F32), first)


def test_a_draw_is_the_same_in_one_piece_and_in_many() -> None:
    whole = dist.rand(Stream(3), (50000,), F32)
    stream = Stream(3)
    pieces = [dist.rand(stream, (n,), F32) for n in (1, 623, 624, 625, 7, 48120)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)


def test_drawn_arrays_are_not_the_memory_of_the_stream() -> None:
    stream, other = Stream(3), Stream(3)
    for n in (3, 100, 700):
        for draw in (dist.rand, dist.randn):
            draw(stream, (n,), F32)[...] = -1
            draw(other, (n,), F32)
    np.testing.assert_array_equal(dist.rand(stream, (5,), F32), dist.rand(other, (5,), F32))


def test_close_normals_take_the_same_words() -> None:
    exact, close = Stream(3), Stream(3)
    close.exact_normals = False
    for n in (16, 33, 5000):
        a, b = dist.randn(exact, (n,), F32), dist.randn(close, (n,), F32)
        assert (np.abs(a - b) <= 5 * np.spacing(np.abs(a))).all()
    np.testing.assert_array_equal(exact.get_state(), close.get_state())


def test_a_matrix_is_filled_in_the_order_of_its_memory() -> None:
    straight = np.empty((6, 5), F32)
    dist.uniform_(Stream(1), straight)
    turned = np.empty((6, 5), F32).T
    dist.uniform_(Stream(1), turned)
    np.testing.assert_array_equal(turned, straight.T)
    spread = np.zeros((6, 10), F32)[:, ::2]
    dist.uniform_(Stream(1), spread)
    np.testing.assert_array_equal(spread, straight)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 300, 301, 302, 5000])
def test_a_permutation_has_every_number_once(n: int) -> None:
    np.testing.assert_array_equal(np.sort(disc.randperm(Stream(n), n, I64)), np.arange(n))


def test_long_and_short_permutations_are_the_same_shuffle() -> None:
    n = 2000
    words = Stream(8).words(n - 1).tolist()
    order = list(range(n))
    for i, word in enumerate(words):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    assert disc.randperm(Stream(8), n, I64).tolist() == order


def test_threads_share_a_stream_without_losing_words() -> None:
    stream = Stream(21)
    drawn: list[Any] = []

    def work() -> None:
        for _ in range(50):
            drawn.append(disc.random_(stream, np.empty(101, I64)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = disc.random_(Stream(21), np.empty(4 * 50 * 101, I64)).reshape(-1, 101)
    # Whole draws in some order: none is torn, none is lost.
    assert sorted(a.tolist() for a in drawn) == sorted(alone.tolist())


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_a_seed_of_more_than_64_bits_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        Stream(0).restart(seed)


def test_a_state_that_is_none_is_refused_and_changes_nothing() -> None:
    stream = Stream(4)
    before = stream.get_state()
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        stream.set_state(np.zeros(STATE_BYTES, U8))
    with pytest.raises(RuntimeError, match="size 5056 but found the input RNG state size to be 10"):
        stream.set_state(np.zeros(10, U8))
    with pytest.raises(TypeError, match=r"RNG state must be a torch.ByteTensor"):
        stream.set_state(np.zeros(STATE_BYTES))
    np.testing.assert_array_equal(stream.get_state(), before)


def test_bounds_out_of_order_are_refused() -> None:
    stream = Stream(0)
    with pytest.raises(RuntimeError, match="found from=2 > to=1"):
        dist.uniform_(stream, np.empty(3), 2, 1)
    with pytest.raises(RuntimeError, match=r"normal expects std >= 0\.0, but found std -1"):
        dist.normal_(stream, np.empty(3), 0, -1)
    with pytest.raises(RuntimeError, match="got from=3 >= to=3"):
        disc.randint(stream, 3, 3, (1,), I64)
    with pytest.raises(RuntimeError, match=r"p to be in \[0, 1\], but got p=1.5"):
        disc.bernoulli_(stream, np.empty(3), 1.5)
    with pytest.raises(RuntimeError, match="to - 1 is out of bounds for unsigned char"):
        disc.randint(stream, 0, 257, (1,), U8)


def test_integers_beyond_a_floating_grid_are_drawn_with_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-\(2\^24\), 2\^24\]"):
        disc.randint(Stream(0), 0, 2**28, (3,), F32)


def test_a_generator_is_pickled_by_its_state_alone() -> None:
    generator = torch.Generator().manual_seed(7)
    torch.randn(3, generator=generator)
    written = pickle.dumps(generator)
    assert b"numpy" not in written
    again = pickle.loads(written)
    assert again.initial_seed() == 7
    assert torch.equal(torch.randn(5, generator=again), torch.randn(5, generator=generator))
    kind, given, (seed, offset, state) = generator.__reduce__()
    assert (kind, given, seed, offset) == (torch.Generator, (torch.device("cpu"),), 7, None)
    assert state.dtype is torch.uint8 and state.shape == (5056,)


def test_a_generator_of_the_cpu_has_no_offset() -> None:
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        torch.Generator().get_offset()
    with pytest.raises(NotImplementedError, match="graphsafe_get_state is not supported in this"):
        torch.Generator().graphsafe_get_state()


def test_a_state_is_kept_and_taken_up_where_numpys_name_is_hidden(monkeypatch):
    torch.manual_seed(0)
    torch.randn(3)
    monkeypatch.setitem(sys.modules, "numpy", None)
    state = torch.get_rng_state()
    drawn = torch.rand(5)
    torch.set_rng_state(state)
    again = torch.rand(5)
    monkeypatch.undo()
    assert again.tolist() == drawn.tolist()
