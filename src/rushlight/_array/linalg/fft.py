"""Discrete Fourier transforms of arrays: complex to complex, real to complex, complex to real.

Results lie in memory as PyTorch's do: dimensions that aren't transformed come first, in the order
of the operand's strides, the transformed ones after them.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D
from .. import kernels
from ..memory import parallel
from ..memory.out_of_memory import allocating
from ..types import FLOAT32, FLOAT64, byte_strides, empty, from_raw, in_order_copy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..annotations import Array, RawType

# NumPy's word for a normalisation (0: none, 1: by the root of n, 2: by n) depends on the direction.
_FORWARD: Final = ("backward", "ortho", "forward")
_INVERSE: Final = ("forward", "ortho", "backward")


# Fewer elements than this aren't worth the import of SciPy.
_MANY: Final = 4096
_SHARED: Final = 32768  # elements that are worth waking another thread
_SINGLE: Final = (D.float32, D.complex64)
_NARROW: Final = "efF"  # float16, float32, complex64
_COMPLEX64, _COMPLEX128 = np.dtype(np.complex64), np.dtype(np.complex128)
_ONE: Final = np.ones(())


@cache
def _scipy() -> Any:
    """SciPy's transforms, two to five times as fast on many rows; None where it isn't installed."""
    try:
        import scipy.fft
    except ImportError:
        return None
    return scipy.fft


def _workers(y: Array) -> int:
    """The threads that SciPy's transform may share rows among: each row's result is the same."""
    return parallel.get_num_threads() if y.size >= _SHARED else 1


def _by_numpy(
    name: str, y: Array, axis: int, normalization: int, width: int, dtype: RawType
) -> Array:
    """A transform of `np.fft` along `axis`, of which `width` elements of a type are made; large
    ones share the first dimension among threads: each line's result is the same."""
    shape = list(y.shape)
    shape[axis] = width
    n = width if name == "irfft" else y.shape[axis]
    out = np.empty(shape, dtype)
    parts_of = y.real.dtype if y.dtype.kind in "fc" else _ONE.dtype
    loop, factor = _loop(name, n), _factor(n, normalization, parts_of)
    if loop is None:
        norm = (_INVERSE if name[0] == "i" else _FORWARD)[normalization]
        single = getattr(np.fft, name)

        def run(y: Array, out: Array) -> None:
            single(y, n, axis=axis, norm=norm, out=out)
    elif axis == -1:

        def run(y: Array, out: Array) -> None:
            loop(y, factor, out)
    else:
        axes = [(axis,), (), (axis,)]

        def run(y: Array, out: Array) -> None:
            loop(y, factor, out, axes=axes)

    if y.size < 2 * _SHARED or len(y) < 2 or y.ndim + axis == 0:
        run(y, out)
        return out
    parts = min(parallel.get_num_threads(), len(y))

    def run_part(part: int) -> None:
        piece = slice(part * len(y) // parts, (part + 1) * len(y) // parts)
        run(y[piece], out[piece])

    parallel.run_chunks(parts, run_part)
    return out


@cache
def _loop(name: str, n: int) -> np.ufunc | None:
    """What `np.fft` calls at last for lines of `n`, which itself takes as long as a hundred short
    ones; None where it has others."""
    try:
        from numpy.fft import _pocketfft_umath as ufuncs  # type: ignore[attr-defined]

        found: np.ufunc = getattr(
            ufuncs, name if name != "rfft" else "rfft_n_odd" if n & 1 else "rfft_n_even"
        )
    except (ImportError, AttributeError):
        return None
    return found if found.signature in ("(n),()->(m)", "(m),()->(n)") else None


@lru_cache(maxsize=512)
def _factor(n: int, normalization: int, dtype: RawType) -> Any:
    """What `np.fft` multiplies by; where it is 1, all is computed in double precision."""
    if normalization == 0:
        return _ONE
    return np.reciprocal(n if normalization == 2 else np.sqrt(n, dtype=dtype), dtype=dtype)


def _complex_of(dtype: RawType) -> RawType:
    """The type of the transforms of such elements."""
    return _COMPLEX64 if dtype.char in _NARROW else _COMPLEX128


def _scale(count: int, normalization: int) -> float:
    """What a normalisation multiplies a transform of so many numbers by."""
    return (1.0, count**-0.5, 1.0 / count)[normalization]


def _by_kernel(y: Array, axes: Iterable[int], forward: bool, normalization: int) -> Array | None:
    """The transform over some axes, the last ones first; None where one has no kernel."""
    for axis in axes:
        scale = _scale(y.shape[axis], normalization)
        found = None if axis == -1 else kernels.fft.along_columns(y, axis, forward, scale)
        if found is None:
            turned = y if axis == -1 else in_order_copy(y.swapaxes(-1, axis))
            found = kernels.fft.c2c(turned, forward, scale)
            if found is None:
                return None
            found = found if axis == -1 else found.swapaxes(-1, axis)
        y = found
    return y


def _transform(y: Array, count: int, forward: bool, normalization: int) -> Any:
    """The transform over the last `count` dimensions."""
    if 2 * y.size >= kernels.LEAST:
        found = _by_kernel(y, range(-1, -count - 1, -1), forward, normalization)
        if found is not None:
            return found
    better = _scipy() if y.size >= _MANY else None
    if better is not None:
        norm: Any = (_FORWARD if forward else _INVERSE)[normalization]
        along = better.fftn if forward else better.ifftn
        return along(y, axes=tuple(range(-count, 0)), norm=norm, workers=_workers(y))
    name, dtype = "fft" if forward else "ifft", _complex_of(y.dtype)
    for k in range(1, count + 1):
        y = _by_numpy(name, y, -k, normalization, y.shape[-k], dtype)
    return y


def c2c(x: Array, dim: tuple[int, ...], normalization: int, forward: bool) -> Array:
    """The transform of `x` over `dim`."""
    if not dim:
        return x.copy()
    if _is_last(x, dim):
        return _in_order(_transform(x, 1, forward, normalization))
    strides = byte_strides(x)
    dim = _by_stride(strides, dim)
    order = _order(strides, dim)
    return _back(_transform(x.transpose(order), len(dim), forward, normalization), order)


def r2c(x: Array, dim: tuple[int, ...], normalization: int, onesided: bool) -> Array:
    """The transform of a real `x` over `dim`; `onesided` leaves out what symmetry gives."""
    if _is_last(x, dim):
        y, order = x, tuple(range(x.ndim))
    else:
        strides = byte_strides(x)
        dim = (*_by_stride(strides, dim[:-1]), dim[-1])
        order = _order(strides, dim)
        y = x.transpose(order)
    if not onesided:
        return _back(_transform(y, len(dim), True, normalization), order)
    if y.size >= kernels.LEAST:
        found = kernels.fft.r2c(y, _scale(y.shape[-1], normalization))
        rest = range(-2, -len(dim) - 1, -1)
        if found is not None and rest:
            found = _by_kernel(found, rest, True, normalization)
        if found is not None:
            return _back(found, order)
    better = _scipy() if y.size >= _MANY else None
    if better is not None:
        axes, norm = tuple(range(-len(dim), 0)), _FORWARD[normalization]
        return _back(better.rfftn(y, axes=axes, norm=norm, workers=_workers(y)), order)
    y = _by_numpy("rfft", y, -1, normalization, y.shape[-1] // 2 + 1, _complex_of(y.dtype))
    for k in range(2, len(dim) + 1):
        y = _by_numpy("fft", y, -k, normalization, y.shape[-k], y.dtype)
    return _back(y, order)


def c2r(x: Array, dim: tuple[int, ...], normalization: int, last_dim_size: int) -> Array:
    """The real inverse transform of the half `x` of a symmetric array."""
    if len(dim) > 1:
        columns = None
        if 2 * x.size >= kernels.LEAST and x.ndim - 1 not in dim[:-1]:
            columns = _by_kernel(x, dim[:-1], False, normalization)
        x = c2c(x, dim[:-1], normalization, False) if columns is None else columns
    if _is_last(x, dim[-1:]):
        y, order = x, tuple(range(x.ndim))
    else:
        order = _order(byte_strides(x), dim[-1:])
        y = x.transpose(order)
    if 2 * y.size >= kernels.LEAST:
        found = kernels.fft.c2r(y, last_dim_size, _scale(last_dim_size, normalization))
        if found is not None:
            return _back(found, order)
    better = _scipy() if y.size >= _MANY else None
    if better is not None:
        norm = _INVERSE[normalization]
        made = better.irfft(y, last_dim_size, axis=-1, norm=norm, workers=_workers(y))
        return _back(made, order)
    dtype = FLOAT32 if y.dtype.char in _NARROW else FLOAT64
    # Those of other lengths are cut, or zeros stand for what isn't there.
    width = last_dim_size // 2 + 1
    if y.shape[-1] > width:
        y = y[..., :width]
    elif y.shape[-1] < width:
        y = np.concatenate([y, np.zeros((*y.shape[:-1], width - y.shape[-1]), y.dtype)], -1)
    return _back(_by_numpy("irfft", y, -1, normalization, last_dim_size, dtype), order)


def _is_last(x: Array, dim: tuple[int, ...]) -> bool:
    """Whether `dim` is the last dimension of elements in order; sizes of 1 may have other steps."""
    return dim == (x.ndim - 1,) and x.flags.c_contiguous and not (0 in x.shape or 1 in x.shape)


def _by_stride(strides: tuple[int, ...], dim: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(dim, key=lambda d: -strides[d]))


def _order(strides: tuple[int, ...], dim: tuple[int, ...]) -> tuple[int, ...]:
    rest = [d for d in range(len(strides)) if d not in dim]
    return (*sorted(rest, key=lambda d: -strides[d]), *dim)


def _in_order(y: Array) -> Array:
    return y if y.flags.c_contiguous else in_order_copy(y)


def _back(y: Array, order: tuple[int, ...]) -> Array:
    y = _in_order(y)
    if order == tuple(range(len(order))):
        return y
    inverse = [0] * len(order)
    for place, d in enumerate(order):
        inverse[d] = place
    return y.transpose(inverse)


def weigh_inside(shape: tuple[int, ...], dim: int, full: int, dtype: D.dtype, by: float) -> Array:
    """Ones along the half dimension `dim` of an array, `by` where its mirror image was left out.

    Args:
        shape: that of the array; the weights broadcast against it.
        full: the places of the dimension with the mirror images.
        dtype: the array's, or that of its parts.
    """
    weights = np.ones(shape[dim], np.float32 if dtype in _SINGLE else np.float64)
    weights[1 : 1 + full - shape[dim]] = by
    return weights.reshape([-1 if d == dim else 1 for d in range(len(shape))])


def complex_type(dtype: D.dtype) -> D.dtype:
    """The complex type whose parts are of the real type `dtype`."""
    return D.complex64 if dtype is D.float32 else D.complex128


_BLOCK: Final = 1 << 20  # places at a time


@allocating
def frequencies(n: int, d: float, half: bool, raw: RawType) -> Array:
    """The frequencies of the places of a transform of `n` samples, `d` apart.

    Half of a negative number of places is counted as in C.
    """
    count = int(n / 2) + 1 if half else n
    found = empty((count,), raw)
    with np.errstate(all="ignore"):
        step = np.float64(1.0) / np.float64(n * d)
        for start in range(0, count, _BLOCK):  # no more memory than the result's
            places = np.arange(start, min(start + _BLOCK, count))
            if not half:
                places[max((n + 1) // 2 - start, 0) :] -= n
            found[start : start + _BLOCK] = (places.astype(raw) * step).astype(raw)
    if not n:
        found[...] = np.nan
    return found


def raw_name(raw: RawType) -> str:
    """The name of an element type as error messages write it."""
    return D.scalar_name(from_raw(raw))
