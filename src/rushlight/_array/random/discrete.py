"""Discrete distributions: integers, coin throws, geometric draws, permutations and categories.

As in `distributions`, a final underscore says that the array given is filled, in memory order.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import errors
from ..._base.dtypes import FLOATS_OF_8_BITS
from ..memory.out_of_memory import allocating
from ..shape.views import expand
from ..types import empty
from .distributions import exponential_
from .draws import (
    C_NAMES,
    FLOATS,
    doubles,
    in_memory_order,
    name_of,
    parts,
    refuse,
    words53,
    words64,
)
from .mt19937 import NATIVE, Stream

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
_LONG_MAX = 2**63 - 1
# From this range on an integer takes two words: the remainder of one would be visibly uneven.
_LISTED = 300  # places up to which a list is shuffled faster
_TWO_WORDS = 2**28
_UNSIGNED = frozenset({"uint16", "uint32", "uint64"})
#: Types that kernels which draw few kinds of numbers don't know.
_NARROW = frozenset(d.name for d in FLOATS_OF_8_BITS)
_RARE = _UNSIGNED | _NARROW | {"complex32"}


@allocating
def randint(stream: Stream, low: int, high: int, shape: tuple[int, ...], dtype: RawType) -> Array:
    """A fresh array of integers in [low, high)."""
    return random_from_(stream, empty(shape, dtype), low, high)


def random_(stream: Stream, out: Array) -> Array:
    """`out`, filled with integers from all that its dtype counts without gaps, from 0 on.

    Integer dtypes count to their maximum, floating ones to 2**digits, and both ends are drawn.
    """
    name = name_of(out.dtype)
    if name in _DIGITS:
        count, wide = 2 ** _DIGITS[name] + 1, name == "float64"
    elif name == "bool":
        count, wide = 2, False
    elif out.dtype.kind in "iu" and name not in _UNSIGNED:
        count, wide = int(np.iinfo(out.dtype).max) + 1, name == "int64"
    else:
        raise refuse("random_kernel_cpu", out.dtype)
    return _integers(stream, out, 0, count, wide)


def random_from_(stream: Stream, out: Array, low: int, high: int | None) -> Array:
    """`out`, filled with integers in [low, high), or from `low` to the dtype's largest for None.

    Raises: RuntimeError where the bounds are out of order or don't fit the dtype.
    """
    dtype = out.dtype
    name = name_of(dtype)
    if name in _NARROW:
        raise refuse("random_update_from_to", dtype)
    if name not in _DIGITS and dtype.kind not in "iub":
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types"
        )
    if high is None:
        if low == -(2**63):
            return _all_bits(stream, out)
        if name in _DIGITS:
            last = 2 ** _DIGITS[name]
            start = _on_grid_up(low, dtype)
            if start > last:
                raise RuntimeError(
                    "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' "
                    f"casted to dtype, but got from={start} > to_inc={last}"
                )
            _check_bounds(dtype, low, last)
        else:
            last = 1 if name == "bool" else min(int(np.iinfo(dtype).max), _LONG_MAX)
            start = low
            _check_bounds(dtype, low, last if name != "uint64" else -1)
        count = last - start + 1
        return _integers(stream, out, start, count, count >= _TWO_WORDS)
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    _check_bounds(dtype, low, high - 1)
    if name in _DIGITS:
        low, high = _on_grid_up(low, dtype), _on_grid_down(high, dtype)
        if low >= high:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                f"but got from={low} >= to={high}"
            )
    count = high - low
    return _integers(stream, out, low, count, count >= _TWO_WORDS)


def bernoulli_(stream: Stream, out: Array, p: float = 0.5) -> Array:
    """`out`, each element one with probability `p`, else zero.

    Dtypes: integer, boolean, floating. Raises: RuntimeError where `p` is outside [0, 1].
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if not out.size:
        return out
    if out.dtype.kind == "c" or name_of(out.dtype) in _RARE:
        raise refuse("bernoulli_scalar_cpu_", out.dtype)
    # u < p for u = k / 2**53 is k < p * 2**53, whose right side needs no rounding.
    bound = math.ceil(p * 2.0**53)
    if stream.draw("c", out, bound) is not None:
        return out
    code = NATIVE.code or NATIVE.ask(out.size)

    def draw(flat: Array) -> None:
        for part in parts(flat.size):
            n = part.stop - part.start
            if code is not None:
                flat[part] = code.coins(stream.words(2 * n), bound)
            else:
                flat[part] = words53(stream, n) < bound

    return _fill(stream, out, draw)


@allocating
def keep_mask(stream: Stream, like: Array, keep: float) -> Array:
    """A fresh boolean array, of the shape and memory order of `like`: true with probability `keep`.

    Source: `F.dropout(x, p)` and `native_dropout` keep where `bernoulli_(1 - p)` draws a one.
    """
    return bernoulli_(stream, np.empty_like(like, np.bool_), keep)


def bernoulli_tensor_(stream: Stream, out: Any, p: Array) -> Any:
    """`out`, each element one with the probability in its place in `p`, else zero.

    A float64 probability takes a uniform double, any other a float32 uniform.

    Shapes: `p` broadcasts to `out`. Raises: RuntimeError where a probability is outside [0, 1].
    """
    if not out.size:
        return out
    if out.dtype.kind == "c" or name_of(out.dtype) in _RARE:
        raise refuse("bernoulli_tensor_cpu_self_", out.dtype)
    if stream.draw("b", out, p) is not None:
        return out
    p = expand(p, out.shape)
    name = name_of(p.dtype)
    if name not in FLOATS:
        raise refuse("bernoulli_tensor_cpu_p_", p.dtype)
    if not (p.min() >= 0 and p.max() <= 1):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message "
            "be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    turned, odds = in_memory_order(out, p)
    odds = odds.reshape(-1)
    hits = np.empty(odds.size, np.bool_)
    with stream.lock:
        for part in parts(hits.size):
            n = part.stop - part.start
            if name == "float64":
                hits[part] = doubles(stream, n) < odds[part]
            else:
                low = stream.words(n) & np.uint32(0xFFFFFF)
                # The numerator below 2**24 is exact in float32, and so is the bound scaled up.
                scaled = odds[part].astype(np.float32) * np.float32(2.0**24)
                hits[part] = low.view(np.int32).astype(np.float32) < scaled
    turned[...] = hits.reshape(turned.shape)
    return out


def geometric_(stream: Stream, out: Array, p: float) -> Array:
    """`out`, filled with the number of throws until the first success, each of probability `p`.

    Raises: RuntimeError where `p` is outside (0, 1).
    """
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if out.dtype.kind in "bc" or name_of(out.dtype) in _RARE:
        raise refuse("geometric_cpu", out.dtype)
    scale = math.log1p(-p)

    def draw(flat: Array) -> None:
        for part in parts(flat.size):
            with np.errstate(divide="ignore"):
                throws = np.ceil(np.log(doubles(stream, part.stop - part.start)) / scale)
            if flat.dtype.kind in "iu":
                with np.errstate(invalid="ignore"):
                    throws = throws.astype(np.int64)
            elif flat.itemsize == 2:
                throws = throws.astype(np.float32)
            flat[part] = throws

    return _fill(stream, out, draw)


@allocating
def randperm(stream: Stream, n: int, dtype: RawType | type) -> Array:
    """A fresh random permutation of range(n).

    Dtypes: integer and floating. Raises: RuntimeError where the dtype can't hold n - 1.
    """
    dtype = np.dtype(dtype)
    few: Array | None = stream.draw("P", n) if dtype == np.int64 else None
    if few is not None:
        return few
    name = name_of(dtype)
    if n < 0:
        raise RuntimeError(errors.negative_dimension([n]))
    if name in ("float16", "float32", "float64"):
        largest = 2 ** _DIGITS[name] + 1
        if n > largest:
            kind = {"float16": "Half", "float32": "Float", "float64": "Double"}[name]
            raise RuntimeError(f"n cannot be greater than {largest} for {kind} type.")
    elif dtype.kind in "iu" and name not in _UNSIGNED:
        if n > int(np.iinfo(dtype).max) + 1:
            raise RuntimeError(f"value cannot be converted to type {name}_t without overflow")
    elif name != "bfloat16":
        raise refuse("randperm", dtype)
    steps = max(n - 1, 0)
    with stream.lock:
        if n < (2**32 - 1) // 20:
            words = stream.words(steps)
            code = NATIVE.code or NATIVE.ask(steps)
            if code is not None and steps:
                return code.shuffle(words, n).astype(dtype, copy=False)
            words = words.astype(np.uint64)
        else:
            words = words64(stream, steps)
    if n <= _LISTED:
        order = list(range(n))
        for i, word in enumerate(words.tolist()):
            j = i + word % (n - i)
            order[i], order[j] = order[j], order[i]
        return np.array(order, np.int64).astype(dtype)
    return _shuffle(words, n).astype(dtype, copy=False)


@allocating
def multinomial(stream: Stream, weights: Array, n: int, replacement: bool = False) -> Array:
    """A fresh int64 array of `n` indices for each row of `weights`, drawn in proportion to them.

    Shapes: (c) -> (n), (rows, c) -> (rows, n). Dtypes: `weights` floating.
    Raises: RuntimeError where the weights are no distribution or too few.
    """
    if not 0 < weights.ndim <= 2:
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if name_of(weights.dtype) not in FLOATS:
        kind = refuse("", weights.dtype).args[0].split("'")[1]
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {kind}"
        )
    if n <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and n > weights.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    rows = weights.reshape(-1, weights.shape[-1])
    if rows.shape[0] == 0:
        return np.empty((*weights.shape[:-1], n), np.int64)
    if replacement and n > 1:
        drawn = _categories(stream, rows, n)
    else:
        drawn = np.ascontiguousarray(_race(stream, rows, n))
    return drawn.reshape(*weights.shape[:-1], n)


def tell_bad_weight(weights: Array, replacement: bool) -> str:
    """What PyTorch says of the first weight that is none."""
    if not replacement:
        return "probability tensor contains either `inf`, `nan` or element < 0"
    # In the order in which the running sums are made: the first bad entry is the one named.
    flat = weights.reshape(-1)
    first = flat[~((flat >= 0) & (flat < float("inf")))][0]
    what = "= infinity or NaN" if first == float("inf") else "< 0"
    return f"invalid multinomial distribution (encountering probability entry {what})"


def _race(stream: Stream, rows: Array, n: int) -> Array:
    """Draws without replacement: the first `n` past the post, the weights being the speeds."""
    times = exponential_(stream, np.empty(rows.shape, rows.dtype))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        speed = rows / times
    if n == 1:
        return speed.argmax(axis=1)[:, None]
    return np.argsort(-speed, axis=1, kind="stable")[:, :n]


def _categories(stream: Stream, rows: Array, n: int) -> Array:
    """Draws with replacement: a uniform double looked up in the running sums, one row at a time."""
    if not (rows >= 0).all():
        raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
    if not np.isfinite(rows).all():
        raise RuntimeError(
            "invalid multinomial distribution (encountering probability entry = infinity or NaN)"
        )
    sums = np.cumsum(rows, axis=1, dtype=np.promote_types(rows.dtype, np.float32))
    if not (sums[:, -1] > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    sums /= sums[:, -1:].copy()
    sums[:, -1] = 1
    drawn = np.empty((rows.shape[0], n), np.int64)
    with stream.lock:
        for k in range(rows.shape[0]):
            drawn[k] = np.searchsorted(sums[k].astype(np.float64), doubles(stream, n))
    return drawn


def _fill(stream: Stream, out: Array, draw: Callable[[Any], None]) -> Array:
    """`out` after `draw` has filled it through a flat array."""
    contiguous = out.flags.c_contiguous
    flat = out.reshape(-1) if contiguous else np.empty(out.size, out.dtype)
    with stream.lock:
        draw(flat)
    if not contiguous:
        (turned,) = in_memory_order(out)
        turned[...] = flat.reshape(turned.shape)
    return out


def _all_bits(stream: Stream, out: Any) -> Any:
    """`out`, filled with integers of all 64 bits, signed."""
    kernel = "random_full_64_bits_range_kernel_cpu"
    if name_of(out.dtype) in {"bool", "float16", *_UNSIGNED}:
        raise refuse(kernel, out.dtype)
    if out.dtype.kind in "iu" and out.dtype != np.int64:
        raise RuntimeError(f"{kernel} handles only int64, double, float and bfloat16")
    return _integers(stream, out, 0, 2**64, True)


def _integers(stream: Stream, out: Array, low: int, count: int, wide: bool) -> Array:
    """`out`, filled with `low` plus the remainders modulo `count` of words or of pairs of words."""
    if not wide and stream.draw("i", out, low, count) is not None:
        return out
    half = out.dtype.itemsize == 2 and out.dtype.kind not in "iu"

    def draw(flat: Array) -> None:
        for part in parts(flat.size):
            n = part.stop - part.start
            values = words64(stream, n) if wide else stream.words(n).copy()
            _reduce(values, count)
            if name_of(flat.dtype) == "uint64":
                values = values.astype(np.uint64, copy=False)
            else:
                values = values.view(np.int64) if wide else values.astype(np.int64)
            if low:
                # Wraps around where the range is wider than int64, as it must.
                values += np.array(low % 2**64, np.uint64).astype(values.dtype)
            flat[part] = values.astype(np.float32) if half else values

    return _fill(stream, out, draw)


def _reduce(values: Array, count: int) -> None:
    """Replaces `values` by their remainders modulo `count`; division is vectorised, `%` is not."""
    if count >= 1 << (8 * values.itemsize):
        return
    if count & (count - 1) == 0:
        np.bitwise_and(values, values.dtype.type(count - 1), values)
        return
    divisor = values.dtype.type(count)
    multiples = np.floor_divide(values, divisor)
    np.multiply(multiples, divisor, multiples)
    np.subtract(values, multiples, values)


def _shuffle(words: Array, n: int) -> Array:
    """What swapping i with j[i] = i + words[i] % (n - i), for i = 0, 1, …, makes of range(n).

    Place i ends with what lay in place j[i] at step i: what an earlier step had swapped into j[i],
    or j[i] itself. Sorting finds the last earlier step with the same target; what it had put there
    is what lay in its own place then, and so on down a chain, whose links double in length until
    all end.
    """
    steps = np.arange(n - 1)
    left = n - steps
    if n < 2**28:
        # Below 2**53 the floor of a quotient of doubles is exact, and division vectorises.
        draws = words.view(np.int64)
        targets = (draws / left).astype(np.int64)
        targets *= left
        np.subtract(draws, targets, targets)
    else:
        targets = (words % left.astype(np.uint64)).view(np.int64)
    targets += steps
    # One key for (target, step) sorts several times faster than a stable argsort.
    keys = targets << 32
    keys |= steps
    keys.sort()
    target, step = keys >> 32, keys & 0xFFFFFFFF
    # A number below n is a step, n + i an end: what lay in place i at the start. Arithmetic chooses
    # between the two, for a branch per element is a slow one.
    untouched = target + n
    same = (target[1:] == target[:-1]).view(np.int8)
    earlier = untouched.copy()
    earlier[1:] += same * (step[:-1] - untouched[1:])
    before = np.empty(n - 1, np.int64)
    before[step] = earlier
    # held[i], what lay in place i at step i: a link to a step, or an end. Ends link to themselves.
    held = np.arange(2 * n)
    held[:n] += n
    # The last step into each place; one that swaps a place with itself brings nothing.
    itself = (target == step).view(np.int8)
    held[target] = step + itself * (earlier - step)
    links = held[:n]
    further = held.take(links)
    while not np.array_equal(further, links):
        links[...] = further
        further = held.take(links)
    final = np.empty(n, np.int64)
    final[:-1] = held.take(before)
    final[-1] = held[n - 1]
    final -= n
    return final


def _check_bounds(dtype: RawType, low: int, last: int) -> None:
    name = name_of(dtype)
    if name in _DIGITS:
        # The largest of the wider floats are beyond every integer that can be asked for.
        smallest, largest = (-65504, 65504) if name == "float16" else (-(2**63), 2**63)
    elif name == "bool":
        smallest, largest = 0, 1
    else:
        info = np.iinfo(dtype)
        smallest, largest = int(info.min), int(info.max)
    for word, bound in (("from", low), ("to - 1", last)):
        if not smallest <= bound <= largest:
            raise RuntimeError(f"{word} is out of bounds for {C_NAMES[name]}")
    if name in _DIGITS:
        digits = _DIGITS[name]
        for word, bound in (("from", low), ("to - 1", last)):
            if not -(2**digits) <= bound <= 2**digits:
                warnings.warn(
                    f"{word} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision "
                    f"limitations {C_NAMES[name]} can support discrete uniform distribution only "
                    "within this range. This warning will become an error in version 1.7 release, "
                    "please fix the code in advance",
                    stacklevel=4,
                )


def _round(value: int, dtype: RawType) -> int:
    """The int64 that `value` becomes by way of a floating dtype."""
    wide = np.float64(value) if dtype.itemsize == 8 else np.float32(value)
    with np.errstate(over="ignore"):
        rounded = float(np.asarray(wide).astype(dtype))
    # What doesn't fit becomes the smallest, as of a cast on x86-64.
    return int(rounded) if -(2.0**63) <= rounded < 2.0**63 else -(2**63)


def _on_grid_up(low: int, dtype: RawType) -> int:
    """A lower bound that is at least `low` after rounding to `dtype`."""
    above = _round(low + 1, dtype)
    if above >= low:
        return low
    return above + (1 << (abs(low + 1).bit_length() - _DIGITS[name_of(dtype)]))


def _on_grid_down(high: int, dtype: RawType) -> int:
    """An upper bound whose predecessor stays below it after rounding to `dtype`."""
    below = _round(high - 1, dtype)
    if below < high:
        return high
    return below - (1 << ((high - 1).bit_length() - _DIGITS[name_of(dtype)]))


# ---- slopes of the randomised rectifier -------------------------------------------------------
def slopes(stream: Stream, x: Array, low: float, high: float) -> Array:
    """A slope for each element of `x`: one where it is positive, else uniform in [low, high)."""
    negative = np.less_equal(x, 0).reshape(-1)
    out = np.ones(x.shape, x.dtype)
    flat = out.reshape(-1)
    low, high = (float(np.asarray(bound).astype(x.dtype)) for bound in (low, high))
    with stream.lock:
        flat[negative] = doubles(stream, int(negative.sum())) * (high - low) + low
    return out


def leaky(x: Array, slope: Array | float) -> Array:
    """`x` where it is positive, else `slope` times it."""
    if x.dtype.itemsize == 2:
        if isinstance(slope, np.ndarray):
            slope = slope.astype(np.float32)
        return leaky(x.astype(np.float32), slope).astype(x.dtype)
    return np.where(np.greater(x, 0), x, x * slope)


def scale_masked(x: Array, mask: Array, scale: float) -> Array:
    """`x` times `scale` where the mask is true, else zero."""
    return (x * mask * np.asarray(scale).astype(x.dtype)).astype(x.dtype, copy=False)
