"""The source of every random number: a 32-bit Mersenne Twister in PyTorch's words and layout.

NumPy's MT19937 yields the words; this file keeps their order, and the state, PyTorch's. What a word
means (a uniform, a normal, a shuffle) is told in `distributions`.

Note [Draws become native]
After a million words a program is one that draws much, and emitted code takes over (sooner where it
came with the package, or llvmlite is loaded anyway), to the same digits: see Note [The same digits]
in `_native.emitted.mt19937`.
"""

from __future__ import annotations

import operator
import struct
import sys
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base.fork_locks import lock as make_lock
from ..._native import prebuilt
from ..._native.cpython import memory
from ..._native.ufunc_loops import DRAWS
from .. import kernels
from .box_muller import Polar, Scratch

if TYPE_CHECKING:
    from ..annotations import Array
    from ..kernels.random_draws import Draws

BLOCK = 624
"""Words that one twist of the generator yields."""

DEFAULT_SEED = 67280421310721
"""The seed of a generator that nobody has seeded."""

STATE_BYTES = 5056

# The layout of a state: seed, words left, whether seeded, next word; 624 words of 8 bytes each; and
# a normal, whether it is there, a float, whether it is there. Two doubles that are always zero lie
# around the normal; padding follows both flags.
_HEAD: Final = struct.Struct("<QiiQ")
_KEY: Final = slice(24, 24 + 8 * BLOCK)
_TAIL: Final = struct.Struct("<d8xi4xf?")
_TAIL_AT: Final = 5024

_LOW24 = np.uint32(0xFFFFFF)

# Generators of streams that are gone, each with its way of seeding and where its words lie: making
# one takes NumPy 60 µs, seeding one anew takes 1. Programs make a stream for a single draw.
# A few locks shared by all streams: one of its own for each would have to be registered.
# See Note [Locks and forks] in `_locks`.
_LOCKS: Final = tuple([make_lock() for _ in range(16)])
_number: Final = count()
_FREE: list[tuple[Any, Any, Any]] = []
_KEPT = 8


def _at_hand() -> bool:
    """Whether the emitted code costs no compiler that isn't there already."""
    return prebuilt.library() is not None or "llvmlite.binding" in sys.modules


class _Native:
    """The emitted code for draws, once enough has been drawn. See Note [Draws become native]."""

    __slots__ = ("code", "spent")

    LATE: Final = 1 << 20
    EARLY: Final = 1 << 17

    def __init__(self) -> None:
        self.code: Any = None
        self.spent = 0

    def ask(self, n: int) -> Draws | None:
        """The code, or None, for a draw of `n` words."""
        self.spent += n + BLOCK  # a small draw works out a whole block
        if self.spent < self.EARLY or sys.maxsize == kernels.LEAST:
            return None
        if self.spent < self.LATE and not _at_hand():
            return None
        self.code = kernels.random_draws.code()
        if self.code is None:
            self.spent = -sys.maxsize  # never again
        return self.code


NATIVE: Final = _Native()


def _see_memory(bits: Any) -> Any:
    """The 625 numbers in the memory of a generator: its words and its place; False where they
    aren't those that it shows."""
    try:
        address = bits.ctypes.state_address
        found = np.frombuffer(memory.window(address, 4 * (BLOCK + 1)), np.uint32)
        shown = bits.state["state"]
    except (AttributeError, TypeError, ImportError):  # a NumPy that doesn't show it
        return False
    same = bool((found[:BLOCK] == shown["key"]).all()) and int(found[BLOCK]) == shown["pos"]
    return found if same else False


class Stream:
    """One stream of random words, which stays in step with a PyTorch CPU generator.

    The words of the current block lie in memory, so that a small draw is a slice; NumPy's generator
    always stands at the end of that block. Hold `lock` around a draw: `words` and the attributes
    below don't take it.

    Source: PyTorch 2.13, `torch.Generator` on the CPU.
    """

    __slots__ = (
        "_at", "_bits", "_block", "_fresh", "_memory", "_normals", "_scratch", "_seed", "_seeder",
        "_units", "exact_normals", "lock", "next_float", "next_normal",
    )  # fmt: skip

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self.lock = _LOCKS[next(_number) & 15]
        self._units: Any = None
        self._normals: Any = None
        self._scratch: Scratch | None = None
        self._memory: Any = None
        try:
            self._bits, self._seeder, self._memory = _FREE.pop()
        except IndexError:
            # The seed given here saves a question to the operating system; `restart` replaces it.
            self._bits = np.random.MT19937(0)
            # NumPy's public way to the generator's first, 32-bit way of seeding.
            self._seeder = np.random.RandomState(self._bits)
        self.next_normal: float | None = None
        self.next_float: float | None = None
        # Whether large float32 normals are PyTorch's to the last digit, or near them and faster.
        self.exact_normals = True
        self.restart(seed)

    def restart(self, n: int) -> None:
        """Starts the stream of the seed `n` and forgets the normal that was kept back.

        Raises: ValueError where `n` is outside [-2**63, 2**64).
        """
        n = operator.index(n)
        if not -(2**63) <= n < 2**64:
            raise ValueError("Overflow when unpacking long long")
        with self.lock:
            self._seed = n & 0xFFFFFFFFFFFFFFFF
            self._seeder.seed(n & 0xFFFFFFFF)
            self._block = np.empty(0, np.uint32)
            self._at = BLOCK
            self._fresh = True
            self._forget_block()
            self.next_normal = None
            self.next_float = None

    def __del__(self) -> None:
        free = _FREE
        if free is not None and len(free) < _KEPT:  # None: the interpreter is ending
            free.append((self._bits, self._seeder, self._memory))

    def initial_seed(self) -> int:
        """The seed that the stream was started with, in [0, 2**64)."""
        return self._seed

    def get_state(self) -> Array:
        """A fresh uint8 array of 5056 bytes in the layout of `torch.get_rng_state()`."""
        state = np.zeros(STATE_BYTES, np.uint8)
        with self.lock:
            at = 0 if self._fresh else self._at
            left = 1 if self._fresh else BLOCK + 1 - at
            _HEAD.pack_into(state.data, 0, self._seed, left, 1, at)
            memory = self._find_memory()
            key = self._bits.state["state"]["key"] if memory is None else memory[:BLOCK]
            state[_KEY].view("<u8")[:] = key
            normal, single = self.next_normal, self.next_float
            if normal is not None or single is not None:
                _TAIL.pack_into(
                    state.data, _TAIL_AT, normal or 0.0, normal is not None, single or 0.0,
                    single is not None,
                )  # fmt: skip
        return state

    def _find_memory(self) -> Array | None:
        """The words of the block of NumPy's generator and its place there, where they lie; or None
        where that isn't known. NumPy's own way to them asks for each word: 40 µs."""
        if self._memory is None:
            self._memory = _see_memory(self._bits)
        return None if self._memory is False else self._memory

    def set_state(self, raw: Array) -> None:
        """Continues from a state that `get_state` (or PyTorch) has written.

        Raises: RuntimeError where the size is wrong or the state is no generator's.
        """
        raw = np.ascontiguousarray(raw)
        if raw.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if raw.size != STATE_BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_BYTES} "
                f"but found the input RNG state size to be {raw.size}"
            )
        seed, left, seeded, at = _HEAD.unpack_from(raw.data)
        if not seeded or not 0 < left <= BLOCK or at > BLOCK:
            raise RuntimeError("Invalid mt19937 state")
        used_up = left == 1
        key = raw[_KEY].view("<u8").astype(np.uint32)
        normal, has_normal, single, has_single = _TAIL.unpack_from(raw.data, _TAIL_AT)
        with self.lock:
            self._seed = seed
            memory, place = self._find_memory(), BLOCK if used_up else 0
            if memory is None:
                self._bits.state = {
                    "bit_generator": "MT19937",
                    "state": {"key": key, "pos": place},
                }
            else:
                memory[:BLOCK] = key
                memory[BLOCK] = place
            self._fresh = used_up and at == 0
            self._block = np.empty(0, np.uint32)
            if not used_up:
                self._block = self._bits.random_raw(BLOCK).astype(np.uint32)
            self._at = BLOCK if used_up else at
            self._forget_block()
            self.next_normal = normal if has_normal else None
            self.next_float = single if has_single else None

    def words(self, n: int) -> Array:
        """The next `n` words, of uint32. Read only: perhaps a view."""
        start = self._at
        end = start + n
        if end <= BLOCK:
            self._at = end
            return self._block[start:end]
        head = self._block[start:]
        need = end - BLOCK
        blocks = (need + BLOCK - 1) // BLOCK
        fresh = None if DRAWS is None else DRAWS.words(self._find_memory(), blocks)
        if fresh is None and NATIVE.code is not None:
            fresh = NATIVE.code.words(self._bits, blocks)
        elif fresh is None:
            fresh = self._bits.random_raw(blocks * BLOCK).astype(np.uint32)
        # A copy, so that a block of 2 kB doesn't keep a long draw alive.
        self._block = fresh[-BLOCK:].copy() if blocks > 1 else fresh
        self._at = need - (blocks - 1) * BLOCK
        self._fresh = False
        self._forget_block()
        return fresh[:need] if start == BLOCK else np.concatenate((head, fresh[:need]))

    def list_left(self) -> Array:
        """The words of the block that are still to come, of uint32; none is drawn."""
        return self._block[self._at :]

    def put_back(self, n: int) -> None:
        """The last `n` words of the block are to come again; all of it has been drawn."""
        self._at = BLOCK - n

    def units(self, n: int) -> Any | None:
        """The next `n` float32 uniforms in [0, 1), a view; None (nothing drawn) past the block."""
        start = self._at
        end = start + n
        if end > BLOCK:
            return None
        units = self._units
        if units is None:
            units = (self._block & _LOW24).view(np.int32).astype(np.float32)
            units *= np.float32(2.0**-24)
            self._units = units
        self._at = end
        return units[start:end]

    def normals(self, n: int) -> tuple[Any, int] | None:
        """Normals from the next `n` words; None (nothing drawn) past the block.

        An array of the block's shape twice, and where the words start in it: a word and the one
        eight places on make the first normal (row 0) at the one's place and the second (row 1).

        A call on eight numbers costs as much as one on a block, so the whole block is worked out at
        once: small normal draws then cost a copy each.
        """
        start = self._at
        end = start + n
        if end > BLOCK:
            return None
        normals = self._normals
        if normals is None:
            self.units(0)
            polar = self.points(self._units, self._units)
            normals = np.empty((2, BLOCK), np.float32)
            np.multiply(polar.radius[:-8], polar.cos[8:], normals[0, :-8])
            np.multiply(polar.radius[:-8], polar.sin[8:], normals[1, :-8])
            self._normals = normals
        self._at = end
        return normals, start

    def draw(self, kind: str, out: object, a: object = 0.0, b: object = 1.0) -> Any:
        """`out`, filled in C with numbers of a kind; None, and nothing drawn, for what it leaves.

        - `"u"`: uniforms from `a` to below `b`; `"n"`: normals of mean `a` and deviation `b`;
          `"e"`: logarithms of uniforms, times `a`
        - `"c"`: ones where 53 bits are below `a`, else zeros; `"b"`: ones with the chances in `a`
        - `"i"`: `b` whole numbers, from `a` on
        - `"U"`, `"N"`, `"I"`: the same in a fresh array of the shape `out`, for the first two
          perhaps an array of float32 that is alike; `"P"`: a permutation of so many numbers

        Dtypes: float32, float64 and, for coins and whole numbers, some others; `"I"`, `"P"`: int64.
        """
        if DRAWS is None or not self.exact_normals:
            return None
        if self._memory is None:
            self._find_memory()
        with self.lock:
            before, normal = self._block, self.next_normal
            made = DRAWS.draw(kind, before, self._at, self._memory, normal, out, a, b)
            if made is None:
                return None
            self._block, self._at, self.next_normal, filled = made
            if self._block is not before:
                self._fresh = False
                self._forget_block()
            return filled

    def points(self, radial: Array, angular: Array) -> Polar:
        """The points of float32 uniforms, exact or close as `exact_normals` says."""
        if not self.exact_normals:
            return Polar.close(radial, angular)
        scratch = self._scratch
        if scratch is None or scratch.value.size < radial.size:
            scratch = self._scratch = Scratch(radial.size)
        return Polar.exact(radial, angular, scratch)

    def mark(self) -> Any:
        """Where the stream stands, for `back`: costs next to nothing, as a rule."""
        if self._block.size != BLOCK:
            return self.get_state()
        with self.lock:
            return self._block, self._at, self.next_normal, self.next_float

    def back(self, mark: Any) -> None:
        """Continues from a mark of this stream's own; it must not have been seeded since."""
        if type(mark) is not tuple:
            self.set_state(mark)
            return
        with self.lock:
            block, at, self.next_normal, self.next_float = mark
            if self._block is not block:
                state = {"key": _untemper(block), "pos": BLOCK}
                self._bits.state = {"bit_generator": "MT19937", "state": state}
                self._block = block
                self._forget_block()
            self._at = at
            self._fresh = False

    def _forget_block(self) -> None:
        self._units = None
        self._normals = None


def _untemper(words: Array) -> Array:
    """The state of which a block of words was made: the last step of each word, undone."""
    y = words.astype(np.uint32)
    y ^= y >> np.uint32(18)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    left = y.copy()
    for _ in range(5):
        left = y ^ ((left << np.uint32(7)) & np.uint32(0x9D2C5680))
    right = left.copy()
    for _ in range(3):
        right = left ^ (right >> np.uint32(11))
    return right
