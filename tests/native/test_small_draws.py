"""Random numbers by C: the digits and the words of the plain functions."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.random import mt19937
from tests.native.loops import module, same


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield module("draws", tmp_path_factory.mktemp("draws"))


class Alike(np.ndarray):
    """An array of another class."""


def test_few_draws_are_those_of_many(built: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[tuple[int, ...]] = [
        (4, 4), (16,), (3,), (), (2, 8, 3), (5, 7), (600,), (1,), (32,), (0,), (2, 0), (700,),
    ]  # fmt: skip
    draws = (torch.rand, torch.randn, lambda shape: torch.rand_like(torch.empty(shape)),
             lambda shape: torch.randn_like(torch.empty(shape)))  # fmt: skip
    taken = 0

    def run(fresh: Any, seed: int) -> list[Any]:
        nonlocal taken
        monkeypatch.setattr(mt19937, "DRAWS", fresh)
        order = np.random.default_rng(seed)
        torch.manual_seed(seed)
        made: list[Any] = []
        for _ in range(150):
            what, where = order.integers(0, len(draws) + 2), order.integers(0, len(shapes))
            taken += fresh is not None
            if what == len(draws):
                made.append(torch.randperm(int(order.integers(0, 700))))
            elif what > len(draws):
                low, many = int(order.integers(-9, 9)), int(order.choice([1, 7, 64, 1 << 28]))
                made.append(torch.randint(low, low + many, shapes[where]))
            else:
                made.append(draws[what](shapes[where]))
        return [*made, torch.get_rng_state()]

    for seed in range(6):
        if seed == 3:
            mt19937.NATIVE.ask(1 << 20)  # emitted code makes normals, where there is some
        for a, b in zip(run(built, seed), run(None, seed), strict=True):
            assert same(a.numpy(), b.numpy())
    assert taken


def test_coins_are_those_of_plain_draws(built: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    order = np.random.default_rng(0)
    plans = [
        (int(order.integers(0, 9)), int(order.integers(1, 60)), float(order.random()))
        for _ in range(400)
    ]

    def run(fresh: Any, seed: int) -> list[Any]:
        monkeypatch.setattr(mt19937, "DRAWS", fresh)
        torch.manual_seed(seed)
        made: list[Any] = []
        for what, n, p in plans:
            x = torch.zeros(n)
            if what == 0:
                made.append(torch.nn.functional.dropout(x + 1, p))
            elif what == 1:
                made.append(x.double().bernoulli_(p))
            elif what == 2:
                made.append((x > 0).bernoulli_(p))
            elif what == 3:
                made.append(x.long().bernoulli_(p))
            elif what == 4:
                made.append(torch.zeros(2, n).t().bernoulli_(p).contiguous())
            elif what == 5:
                made.append(torch.rand(n))
            elif what == 6:
                made.append(torch.randn(n))
            elif what == 7:
                made.append(torch.zeros(n, 2)[:, 0].bernoulli_(round(p)).contiguous())
            else:
                made.append(torch.zeros(n, 30).bernoulli_(p))
        return [*made, torch.get_rng_state()]

    for seed in range(4):
        for a, b in zip(run(built, seed), run(None, seed), strict=True):
            assert same(a.numpy(), b.numpy())


def test_draws_without_keywords_are_those_with_them() -> None:
    layouts = [
        torch.zeros(4, 4), torch.zeros(5), torch.zeros(()), torch.zeros(1, 3), torch.zeros(0, 3),
        torch.zeros(4, 6).T, torch.zeros(4, 6)[:, ::2], torch.zeros(3, 4, dtype=torch.float64),
        torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last), torch.zeros(3).expand(2, 3),
        torch.zeros(32), torch.zeros(2, 3, dtype=torch.bfloat16),
        torch.nn.Parameter(torch.zeros(3, 2)),
    ]  # fmt: skip
    for like in (torch.rand_like, torch.randn_like):
        for x in layouts:
            torch.manual_seed(3)
            a = like(x)
            torch.manual_seed(3)
            b = like(x, dtype=x.dtype)
            assert torch.equal(a, b) and a.stride() == b.stride() and a.dtype is b.dtype
            assert not a.requires_grad
    for draw in (torch.rand, torch.randn):
        for shape in ((4, 4), (5,), (2, 0), (16, 3)):
            torch.manual_seed(3)
            a = draw(*shape)
            torch.manual_seed(3)
            assert torch.equal(a, draw(shape, dtype=torch.float32))
        for wrong in (((-1, 2),), (1.5,), ("a",)):
            with pytest.raises((RuntimeError, TypeError)):
                draw(*wrong)
        assert draw(()).shape == ()


def _fill(what: int, n: int, kind: Any, a: float, b: float) -> torch.Tensor:
    x = torch.zeros(n, dtype=kind)
    ways: list[Callable[[], torch.Tensor]] = [
        lambda: x.uniform_(a, a + b),
        lambda: x.normal_(a, b),
        lambda: x.exponential_(b + 0.5),
        lambda: x.random_(3, 1 << (7 + n % 17)),
        lambda: x.bernoulli_(torch.linspace(0, 1, n, dtype=kind)),
        lambda: x.int().random_(-9, 70_000),
        lambda: torch.zeros(2, n, dtype=kind).t().uniform_(a, a + b).contiguous(),
        lambda: torch.zeros(n, 2, dtype=kind)[:, 1].normal_(a, b).contiguous(),
    ]
    return ways[what]()


def test_fills_in_place_are_those_of_plain_draws(
    built: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Double precision goes by the C library's functions, which are those of PyTorch."""
    order = np.random.default_rng(0)
    sizes = [1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 200, 311, 312, 313, 500, 623, 624, 625, 2000]
    bounds = [(0.0, 1.0), (-1.0, 2.0), (2.0, 1.5), (0.0, 0.0), (-3e38, 0.0), (1e-3, 0.02)]
    plans = [
        (int(order.integers(0, 8)), int(order.choice(sizes)), bounds[order.integers(0, 6)],
         (torch.float32, torch.float64)[order.integers(0, 2)])
        for _ in range(400)
    ]  # fmt: skip

    def run(draws: Any, seed: int) -> list[Any]:
        monkeypatch.setattr(mt19937, "DRAWS", draws)
        torch.manual_seed(seed)
        made = [_fill(what, n, kind, *ends) for what, n, ends, kind in plans]
        return [*made, torch.get_rng_state()]

    for seed in range(3):
        for (what, *_, kind), a, b in zip(
            [*plans, (0, 0, 0, 0)], run(built, seed), run(None, seed), strict=True
        ):
            x, y = a.numpy(), b.numpy()
            if kind is torch.float64 and what in (1, 2, 7):
                np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-300)
            elif what == 2:
                np.testing.assert_allclose(x, y, rtol=2e-7)
            else:
                assert same(x, y), (what, kind)


def test_odd_wishes_draw_nothing(built: Any) -> None:
    block, key = np.arange(624, dtype=np.uint32), np.arange(625, dtype=np.uint32)
    key[624] = 624
    before = key.copy()
    out = np.full(8, 7.0, np.float32)
    locked = out.copy()
    locked.setflags(write=False)
    assert built.draw("u", block, 0, key, None, out, 0.0, 1.0)[1] == 8
    out[:] = 7

    def refused(kind: Any, *changes: Any, a: Any = 0.0, b: Any = 1.0) -> None:
        given = [kind, block, 0, key, None, out, a, b]
        for at, value in changes:
            given[at] = value
        assert built.draw(*given) is None, given

    for at in (-1, 1 << 70, 1.0, None, True):
        refused("u", (2, at))
    for other in (block[::2], block.astype("i8"), block.reshape(2, -1), block.tolist(), None,
                  block.view(Alike), np.zeros(625, np.uint32)):  # fmt: skip
        refused("u", (1, other))
    for other in (key[:624], key[::-1], np.zeros(625, np.uint32), key.astype("i8"), None, False,
                  key.view(Alike), 7):  # fmt: skip
        refused("u", (2, 620), (3, other))
        assert built.words(other, 1) is None
    for other in (out[::2], out[::-1], out[:0], out.astype("f2"), out.astype("i2"), locked, [1.0],
                  out.view(Alike), None, (8,), out.astype(">f4"), np.zeros(1 << 17)):  # fmt: skip
        refused("u", (5, other))
    refused("n", (4, 1))
    refused("n", (4, "1"))
    nan, inf = float("nan"), float("inf")
    for a, b in ((0, 1.0), (0.0, 1), (1.0, 0.0), (nan, 1.0), (0.0, nan), (-inf, 1.0), (0.0, inf),
                 (-3e38, 3e38), (0.0, 1e39), (None, 1.0), ("0", 1.0)):  # fmt: skip
        refused("u", a=a, b=b)
    for b in (-1.0, nan, 1, None):
        refused("n", a=0.0, b=b)
    for a in (1 << 70, 1.0, None, True):
        refused("c", a=a)
    odds = np.full(8, 0.5)
    for other in (odds[:4], odds[::-1], odds.reshape(2, 4), odds + 1, -odds, odds * nan, None, 0.5,
                  odds.astype("f2"), out):  # fmt: skip
        refused("b", a=other)
    for low, many in ((0, 0), (0, -1), (0, 1 << 28), (1 << 70, 2), (0.0, 2), (0, 2.0), (True, 2),
                      ((1 << 63) - 2, 3), (0, 1 << 70)):  # fmt: skip
        refused("i", a=low, b=many)
        refused("I", (5, (5,)), a=low, b=many)
    for shape in ((0,), [5], (-1,), (1 << 40, 1 << 40), 5, None, (1 << 17,), (2.0,), (True,)):
        for kind in "UN":
            refused(kind, (5, shape))
        refused("I", (5, shape), a=0, b=5)
    like = np.ones((3, 4), np.float32)
    for odd in (like.T, like[:, ::2], like.astype(float), like[:1], like.view(Alike), like[0, 0]):
        refused("U", (5, odd))
    for n in (0, -1, 1 << 17, 1 << 70, 2.0, True, None, (3,)):
        refused("P", (5, n))
    for kind in ("", "uu", "p", "x", "\0", "ü", 1, None):
        refused(kind)
    assert built.draw() is None and built.draw("u", block) is None and built.words() is None
    for blocks in (0, -1, 1 << 20, 1.0, None):
        assert built.words(key, blocks) is None
    assert (out == 7).all() and (locked == 7).all() and (key == before).all()
    shared = np.linspace(0, 1, 9, dtype=np.float32)
    assert built.draw("b", block, 0, key, None, shared[1:], shared[:-1], 0.0) is None


def test_words_go_on_as_numpys_do(built: Any) -> None:
    bits = np.random.MT19937(5)
    np.random.RandomState(bits).seed(7)
    state = bits.state["state"]
    key = np.append(state["key"], state["pos"]).astype(np.uint32)
    assert (built.words(key, 3) == bits.random_raw(3 * 624)).all()
    wanted = bits.random_raw(4 * 624)
    block = wanted[:624].astype(np.uint32)
    assert (built.words(key, 1) == block).all()
    low = built.draw("I", block, 600, key, None, (1000,), 0, (1 << 28) - 1)
    assert low[1] == 600 + 1000 - 2 * 624 and low[2] is None
    assert (low[0] == wanted[2 * 624 : 3 * 624]).all()
    assert (low[3] == wanted[600:1600] % ((1 << 28) - 1)).all()
    assert (key[:624] == _key_after(5, 7, 3 + 3)).all()


def _key_after(seed: int, own: int, blocks: int) -> Any:
    bits = np.random.MT19937(seed)
    np.random.RandomState(bits).seed(own)
    bits.random_raw(blocks * 624)
    return bits.state["state"]["key"]


def test_an_odd_normal_is_kept_back(built: Any) -> None:
    block, key = np.arange(624, dtype=np.uint32) << 20, np.zeros(625, np.uint32)
    out = np.empty(3)
    _, at, kept, made = built.draw("n", block, 0, key, None, out, 0.0, 1.0)
    assert at == 8 and type(kept) is float and made is out
    three = out.copy()
    _, at, none, _ = built.draw("n", block, at, key, kept, out[:1], 0.0, 1.0)
    assert at == 8 and none is None and out[0] == kept
    four = np.empty(4)
    _, at, none, _ = built.draw("n", block, 0, key, None, four, 0.0, 1.0)
    assert at == 8 and none is None and same(four, np.append(three, kept))
    # Many take whole blocks, and leave it where it is.
    assert built.draw("n", block, 0, key, 0.25, np.empty(16), 0.0, 1.0)[2] == 0.25


def test_nothing_is_left_behind(built: Any) -> None:
    block, key = np.arange(624, dtype=np.uint32), np.arange(625, dtype=np.uint32)
    key[624] = 624
    out, odds, number = np.ones(9, np.float32), np.ones(9), 0.5
    kept = [block, key, out, odds, number, None, out.dtype, np.dtype(np.uint32)]
    before = [sys.getrefcount(one) for one in kept]
    for at in (0, 620):
        for _ in range(3000):
            built.draw("n", block, at, key, number, out, number, number)
            built.draw("b", block, at, key, None, out, odds, 0.0)
            built.draw("N", block, at, key, None, (4, 4), 0.0, 1.0)
            built.draw("u", block, at, key, None, out, 2.0, 1.0)
            built.words(key, 1)
    assert all(abs(sys.getrefcount(one) - n) < 50 for one, n in zip(kept, before))


def test_a_fill_counts_as_a_write_and_asks_who_has_to_be() -> None:
    x = torch.zeros(20)
    for fill in (x.uniform_, x.normal_):
        version = x._version
        assert fill() is x and x._version == version + 1
    leaf = torch.zeros(20, requires_grad=True)
    state = torch.get_rng_state()
    for tensor in (leaf, leaf[2:5]):
        with pytest.raises(RuntimeError, match="leaf"):
            tensor.normal_()
    with pytest.raises(TypeError, match="generator"):
        x.normal_(generator=3)
    for wrong in (lambda: x.uniform_(2, 1), lambda: x.normal_(0, -1), lambda: x.long().normal_()):
        with pytest.raises((RuntimeError, NotImplementedError)):
            wrong()
    with pytest.raises(RuntimeError, match="randomness"):
        torch.func.vmap(lambda y: torch.zeros(20).normal_() + y)(torch.zeros(2))
    assert torch.equal(torch.get_rng_state(), state)
    y = leaf * 1
    y[4:9].uniform_()
    y.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [1.0] * 4 + [0.0] * 5 + [1.0] * 11
    with torch.inference_mode():
        assert torch.zeros(20).normal_().is_inference()
    a, b = torch.Generator().manual_seed(3), torch.Generator().manual_seed(3)
    assert torch.equal(x.normal_(generator=a), torch.randn(20, generator=b))
    assert torch.equal(x.uniform_(to=3, generator=a), torch.rand(20, generator=b) * 3)
