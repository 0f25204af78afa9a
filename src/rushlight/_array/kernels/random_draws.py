"""Random draws by emitted code: see `_native.emitted.mt19937`."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.emitted import mt19937 as mersenne
from .launch import _REFUSALS, address, ready, refuse_launch

if TYPE_CHECKING:
    from ..annotations import Array

_BLOCK: Final = mersenne.BLOCK
_PTR, _INT, _F32 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float
# Words from which the interpreter's lock is given up for a call.
_RELEASED: Final = 1 << 14


def find_call(name: str, *kinds: Any) -> tuple[Any, Any]:
    """A function that keeps the interpreter's lock, and one that gives it up."""
    there = mersenne.load()[name]
    return ctypes.PYFUNCTYPE(None, *kinds)(there), ctypes.CFUNCTYPE(None, *kinds)(there)


class Draws:
    """What is made of words, with NumPy's generators and ndarrays."""

    __slots__ = (
        "_coins", "_doubles", "_normals", "_shuffle", "_uniforms", "_words", "of_normals",
    )  # fmt: skip

    def __init__(self) -> None:
        self.of_normals = mersenne.load()["normals"]  # where its code lies
        self._words = find_call("words", _PTR, _PTR, _INT)
        self._normals = find_call("normals", _PTR, _PTR, _INT, _F32, _F32)
        self._uniforms = find_call("uniforms", _PTR, _PTR, _INT, _F32, _F32, _F32)
        self._doubles = find_call("doubles", _PTR, _PTR, _INT)
        self._coins = find_call("coins", _PTR, _PTR, _INT, _INT)
        self._shuffle = find_call("shuffle", _PTR, _PTR, _INT)

    def words(self, bits: Any, blocks: int) -> Array:
        """The words of so many blocks, of uint32, from a generator that stands between two."""
        out = np.empty(blocks * _BLOCK, np.uint32)
        self._words[out.size > _RELEASED](bits.ctypes.state_address, address(out), blocks)
        return out

    def normals(self, words: Array, out: Array, mean: float, std: float) -> None:
        """Fills a flat float32 array, whose size is a multiple of 16."""
        self._normals[out.size > _RELEASED](address(words), address(out), out.size // 16, mean, std)

    def uniforms(self, words: Array, out: Array, low: float, high: float) -> None:
        """Fills a flat float32 array with uniforms in [low, high)."""
        width = float(np.float32(high) - np.float32(low))
        self._uniforms[out.size > _RELEASED](
            address(words), address(out), out.size, low, width, high
        )

    def doubles(self, words: Array) -> Array:
        """Fresh float64 uniforms in [0, 1), one from two words."""
        out = np.empty(words.size // 2)
        self._doubles[words.size > _RELEASED](address(words), address(out), out.size)
        return out

    def coins(self, words: Array, bound: int) -> Array:
        """Fresh booleans: whether the 53 bits of two words are below `bound`."""
        out = np.empty(words.size // 2, np.bool_)
        self._coins[words.size > _RELEASED](address(words), address(out), out.size, bound)
        return out

    def shuffle(self, words: Array, n: int) -> Array:
        """A fresh permutation of range(n), of int64, from n - 1 words."""
        out = np.arange(n, dtype=np.int64)
        self._shuffle[n > _RELEASED](address(words), address(out), n)
        return out


def code() -> Draws | None:
    """The draws by emitted code, if they work here."""
    if not ready():
        return None
    try:
        made = Draws()
    except _REFUSALS as error:
        refuse_launch(error)
        return None
    return made if _agrees(made) else None


def _agrees(draws: Draws) -> bool:
    """Whether NumPy's generator keeps its state where the code looks for it."""
    ours, theirs = np.random.MT19937(0), np.random.MT19937(0)
    for bits in (ours, theirs):
        np.random.RandomState(bits).seed(20260)
    try:
        words = draws.words(ours, 3)
    except AttributeError:  # a NumPy that does not show the state
        return False
    known = ours.state["state"], theirs.random_raw(3 * _BLOCK), theirs.state["state"]
    return bool(
        (words == known[1]).all()
        and (known[0]["key"] == known[2]["key"]).all()
        and known[0]["pos"] == known[2]["pos"]
    )
