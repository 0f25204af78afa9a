"""Convolution over any number of dimensions: the three products of one trilinear form.

Note [One form, three convolutions]
With inputs x, weights w and outputs y, all that convolution does is in

    T(x, w, y) = sum over n, o, c, i, k of
                 y[n, o, i] w[o, c, k] x[n, c, stride i + dilation k - pad]

`correlate` is its derivative for y (convolution), `spread` the one for x (the gradient for the
input, and transposed convolution), `weigh` the one for w. T is linear in each operand, so the
derivatives of any of the three are the other two, to every order.

Windows are copied into columns and multiplied by BLAS, a block of samples at a time, so that the
columns stay small. A kernel of one element needs no copies.

Note [Planes as lines]
With stride 1 a plane can be read as a single line, in which a place of the kernel is a shift, and
copying or adding goes over long lines instead of short rows. What lies between two rows of the
output is computed too, and left away; that is some percent of more multiplications, so it is done
where copies and additions cost more than those: with groups, in `spread` and in `weigh`.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from ..linalg.matmul import matrix_product
from ..shape.as_strided import window
from ..types import FLOAT32, in_order_copy
from .channels_last import follow_layout

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..annotations import Array

Sizes = tuple[int, ...]

BLOCK = 1 << 20  # elements of a block of columns: 4 MB of float32
LINES = 1 << 18  # the same where columns are read once: they stay in the nearer cache
WIDE = 128  # from so many places on, one product for each sample is as quick as one for all


def out_sizes(x: Sizes, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes) -> Sizes:
    """How many windows fit in each dimension."""
    return tuple(
        [
            (n + 2 * p - d * (m - 1) - 1) // s + 1
            for n, m, s, p, d in zip(x, k, stride, pad, dilation)
        ]
    )


def wide(*arrays: Any) -> tuple[Any, list[Any]]:
    """The type of the result, and the operands in the type in which sums are made."""
    dtype = arrays[0].dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return dtype, [None if a is None else a.astype(FLOAT32) for a in arrays]
    return dtype, list(arrays)


def _join_columns(x: Array) -> Array:
    """`x`, or a copy in order where its columns lie apart: they are read several times."""
    return x if x.strides[-1] == x.itemsize or x.shape[-1] == 1 else in_order_copy(x)


def pad_planes(x: Array, pad: Sizes) -> Array:
    """`x` with zeros around its last dimensions."""
    if not any(pad):
        return x
    lead = x.ndim - len(pad)
    shape = x.shape[:lead] + tuple([n + 2 * p for n, p in zip(x.shape[lead:], pad)])
    out = np.zeros(shape, x.dtype)
    out[(...,) + tuple([slice(p, p + n) for n, p in zip(x.shape[lead:], pad)])] = x
    return out


def windows(x: Array, k: Sizes, out: Sizes, stride: Sizes, dilation: Sizes) -> Array:
    """All windows of a padded (N, C, …): a view (N, C, *k, *out)."""
    n, c, *steps = x.strides
    at_k = tuple([s * d for s, d in zip(steps, dilation)])
    at_out = tuple([s * d for s, d in zip(steps, stride)])
    return window(x, x.shape[:2] + k + out, (n, c, *at_k, *at_out))


def places(out: Sizes, k: Sizes, stride: Sizes, dilation: Sizes) -> list[tuple[Any, ...]]:
    """For each place in the kernel, in order: which elements of a padded plane it meets."""
    lines = [
        [slice(j * d, j * d + (n - 1) * s + 1, s) for j in range(m)]
        for n, m, s, d in zip(out, k, stride, dilation)
    ]
    return [(..., *taken) for taken in product(*lines)]


def _plain(k: Sizes, stride: Sizes, pad: Sizes) -> bool:
    """Whether each output meets the one input at its own place."""
    return all(m == 1 for m in k) and all(s == 1 for s in stride) and not any(pad)


def _whole(size: Sizes, k: Sizes, out: Sizes, pad: Sizes, dilation: Sizes) -> bool:
    """Whether there is one output, whose window is the whole input: then all is one product."""
    return size == k and prod(out) == 1 and not any(pad) and all(d == 1 for d in dilation)


def _samples_at_once(per_sample: int, count: int) -> int:
    return max(1, min(count, BLOCK // max(per_sample, 1)))


# ---- the output -------------------------------------------------------------------------------
def correlate(
    x: Array,
    w: Array,
    bias: Array | None,
    stride: Sizes,
    pad: Sizes,
    dilation: Sizes,
    groups: int,
    out: Sizes | None = None,
) -> Array:
    """The convolution of x (N, C, …) with w (O, C / groups, …), plus a bias (O,).

    `out` asks for fewer windows than there are.
    """
    dtype, (x, w, bias) = wide(x, w, bias)
    x = _join_columns(x)
    count, channels, *size = x.shape
    k = w.shape[2:]
    if out is None:
        out = out_sizes(tuple(size), k, stride, pad, dilation)
    rows = w.shape[0]
    if not (prod(out) and count and rows and channels and prod(k)):
        y = np.zeros((count, rows, *out), x.dtype)
        if bias is not None:
            y += _column(bias, len(out))
        return y.astype(dtype, copy=False)
    if _plain(k, stride, pad) and out == tuple(size):
        y = matrix_product(
            w.reshape(groups, rows // groups, channels // groups),
            x.reshape(count, groups, channels // groups, -1),
        ).reshape(count, rows, *out)
    elif _whole(tuple(size), k, out, pad, dilation) and groups == 1:
        y = matrix_product(x.reshape(count, -1), w.reshape(rows, -1).T).reshape(count, rows, *out)
    elif (found := _natively(x, w, bias, stride, pad, dilation, groups, out)) is not None:
        return found.astype(dtype, copy=False)
    elif groups > 1 and all(s == 1 for s in stride):
        y = _correlate_lines(pad_planes(x, pad), w, out, dilation, groups)
    else:
        y = _correlate_columns(pad_planes(x, pad), w, out, stride, dilation, groups)
    if bias is not None:
        y += _column(bias, len(out))
    return y.astype(dtype, copy=False)


def _natively(
    x: Array,
    w: Array,
    bias: Array | None,
    stride: Sizes,
    pad: Sizes,
    dilation: Sizes,
    groups: int,
    out: Sizes,
) -> Array | None:
    """The convolution by emitted code, or None. See `kernels.convolution`."""
    places = x.shape[0] * prod(out)
    if w.size * places < kernels.CONVOLUTION:
        return None
    if x.ndim == 5:
        return kernels.convolution_3d.correlate(x, w, bias, stride, pad, dilation, out, groups)
    return kernels.convolution.correlate(x, w, bias, stride, pad, dilation, out, groups)


def _column(bias: Any, dims: int) -> Array:
    return bias.reshape(-1, *(1,) * dims)


def _correlate_columns(
    x: Array, w: Array, out: Sizes, stride: Sizes, dilation: Sizes, groups: int
) -> Array:
    count, channels = x.shape[:2]
    rows, k = w.shape[0], w.shape[2:]
    per_group = channels // groups
    area = prod(out)
    view = windows(x, k, out, stride, dilation)
    matrix = w.reshape(groups, rows // groups, -1)
    y = np.empty((count, rows, *out), x.dtype)
    block = _samples_at_once(channels * prod(k) * area, count)
    for start in range(0, count, block):
        part = view[start : start + block]
        n = part.shape[0]
        target = y[start : start + block]
        if area >= WIDE or n == 1:
            columns = part.reshape(n, groups, per_group * prod(k), area)
            matrix_product(matrix, columns, out=target.reshape(n, groups, rows // groups, area))
        else:
            columns = _join(part, groups, k, area)
            product = matrix_product(matrix, columns).reshape(rows, n, *out)
            target[...] = product.swapaxes(0, 1)
    return y


def _join(part: Array, groups: int, k: Sizes, area: int) -> Array:
    """The windows of all samples side by side: (groups, C / groups · k, N · area)."""
    n, channels = part.shape[:2]
    moved = part.transpose(1, *range(2, 2 + len(k)), 0, *range(2 + len(k), part.ndim))
    return moved.reshape(groups, channels // groups * prod(k), n * area)


def _by_lines(x: Array, k: Sizes, out: Sizes, dilation: Sizes) -> tuple[int, Any]:
    """The windows of a padded x as lines: their length, and a view (N, C, *k, length).

    See Note [Planes as lines].
    """
    count, channels, *size = x.shape
    x = np.ascontiguousarray(x)
    length, _ = _lines(tuple(size), out, k, dilation)
    n, c, *steps = x.strides
    at_k = tuple([s * d for s, d in zip(steps, dilation)])
    return length, window(x, (count, channels, *k, length), (n, c, *at_k, x.itemsize))


def _correlate_lines(x: Array, w: Array, out: Sizes, dilation: Sizes, groups: int) -> Array:
    count, channels, *size = x.shape
    rows, k = w.shape[0], w.shape[2:]
    length, view = _by_lines(x, k, out, dilation)
    full = out[0] * prod(size[1:])
    matrix = w.reshape(groups, rows // groups, -1)
    y = np.empty((count, rows, *out), x.dtype)
    block = max(1, min(count, LINES // max(channels * prod(k) * full, 1)))
    buffer = np.empty((block, channels, *k, length), x.dtype)
    laid = np.empty((block, groups, rows // groups, full), x.dtype)
    inside: Any = (..., *[slice(0, m) for m in out])
    for start in range(0, count, block):
        part = view[start : start + block]
        n = part.shape[0]
        np.copyto(buffer[:n], part)
        columns = buffer[:n].reshape(n, groups, -1, length)
        matrix_product(matrix, columns, out=laid[:n, ..., :length])
        planes = laid[:n].reshape(n, rows, out[0], *size[1:])
        y[start : start + n] = planes[inside]
    return y


# ---- the input --------------------------------------------------------------------------------
def correlate_transposed(
    y: Array, w: Array, size: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array:
    """What y (N, O, …) contributes to inputs (N, C, *size): the transpose of `correlate` in x."""
    dtype, (y, w) = wide(y, w)
    y = _join_columns(y)
    count, rows, *out = y.shape
    k = w.shape[2:]
    per_group = w.shape[1]
    channels = per_group * groups
    size = tuple(size)
    if not (y.size and w.size and prod(size)):
        return np.zeros((count, channels, *size), dtype)
    if _plain(k, stride, pad) and tuple(out) == size:
        matrix = w.reshape(groups, rows // groups, per_group).swapaxes(-1, -2)
        x = matrix_product(matrix, y.reshape(count, groups, rows // groups, -1))
        return x.reshape(count, channels, *size).astype(dtype, copy=False)
    if groups == 1 and _whole(size, k, tuple(out), pad, dilation):
        x = matrix_product(y.reshape(count, rows), w.reshape(rows, -1))
        return x.reshape(count, channels, *size).astype(dtype, copy=False)
    if w.size * count * prod(out) >= kernels.CONVOLUTION:
        planes = kernels.convolution_3d if y.ndim == 5 else kernels.convolution
        found = planes.correlate_transposed(y, w, size, stride, pad, dilation, groups)
        if found is not None:
            return found.astype(dtype, copy=False)
    if per_group == 1 and rows == groups > 1:
        x = _transposed_depthwise(y, w, size, stride, pad, dilation)
    elif _mirrors(size, tuple(out), k, stride, pad, dilation) and rows <= channels:
        x = _mirror(y, w, size, pad, dilation, groups)
    elif all(s == 1 for s in stride):
        x = _transpose_by_lines(y, w, size, pad, dilation, groups)
    else:
        x = _transpose_by_columns(y, w, size, stride, pad, dilation, groups)
    return x.astype(dtype, copy=False)


def _mirrors(size: Sizes, out: Sizes, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes) -> bool:
    """Whether the transpose is a convolution with the kernel turned around."""
    return (
        all(s == 1 for s in stride)
        and all(d * (m - 1) >= p for d, m, p in zip(dilation, k, pad))
        and out == out_sizes(size, k, stride, pad, dilation)
    )


def _transpose_weights(w: TensorLike, groups: int) -> Array:
    """The weights of the transpose: channels exchanged within groups, the kernel turned around."""
    rows, per_group, *k = w.shape
    split = w.reshape(groups, rows // groups, per_group, *k).swapaxes(1, 2)
    turned = split[(..., *[slice(None, None, -1)] * len(k))]
    # BLAS takes no negative strides.
    return np.ascontiguousarray(turned).reshape(groups * per_group, rows // groups, *k)


def _mirror(y: Array, w: Array, size: Sizes, pad: Sizes, dilation: Sizes, groups: int) -> Array:
    k = w.shape[2:]
    around = tuple([d * (m - 1) - p for d, m, p in zip(dilation, k, pad)])
    ones = (1,) * len(k)
    return _correlate_columns(
        pad_planes(y, around), _transpose_weights(w, groups), size, ones, dilation, groups
    )


def _room(size: Sizes, out: Sizes, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes) -> Sizes:
    """The padded sizes, enough for all windows."""
    return tuple(
        [
            max(n + 2 * p, (o - 1) * s + d * (m - 1) + 1)
            for n, o, m, s, p, d in zip(size, out, k, stride, pad, dilation)
        ]
    )


def _transpose_by_columns(
    y: Array, w: Array, size: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array:
    count, rows, *out = y.shape
    k = w.shape[2:]
    channels = w.shape[1] * groups
    area = prod(out)
    room = _room(size, tuple(out), k, stride, pad, dilation)
    matrix = w.reshape(groups, rows // groups, -1).swapaxes(-1, -2)
    x = np.zeros((count, channels, *room), y.dtype)
    taken = places(tuple(out), k, stride, dilation)
    y = np.ascontiguousarray(y)
    block = _samples_at_once(channels * prod(k) * area, count)
    for start in range(0, count, block):
        part = y[start : start + block]
        n = part.shape[0]
        if area >= WIDE or n == 1:
            columns = matrix_product(matrix, part.reshape(n, groups, rows // groups, area))
            columns = columns.reshape(n, channels, -1, *out)
        else:
            joined = part.reshape(n, groups, rows // groups, area).transpose(1, 2, 0, 3)
            columns = matrix_product(matrix, joined.reshape(groups, rows // groups, n * area))
            columns = columns.reshape(channels, -1, n, *out)
            columns = columns.transpose(2, 0, 1, *range(3, columns.ndim))
        target = x[start : start + block]
        for j, where in enumerate(taken):
            target[where] += columns[:, :, j]
    return _crop(x, size, pad)


def _lines(room: Sizes, out: Sizes, k: Sizes, dilation: Sizes) -> tuple[int, list[int]]:
    """Planes of size `room` read as lines: the length of an output, the shift of each place.

    See Note [Planes as lines].
    """
    steps = [prod(room[d + 1 :]) for d in range(len(room))]
    length = sum((n - 1) * s for n, s in zip(out, steps)) + 1
    shifts = [
        sum(i * d * s for i, d, s in zip(at, dilation, steps))
        for at in product(*[range(m) for m in k])
    ]
    return length, shifts


def _pad_rows(y: Array, room: Sizes, out: Sizes) -> Array:
    """y (N, O, *out) with zeros between its rows, as long as the rows of `room`."""
    if tuple(room[1:]) == tuple(out[1:]):
        return np.ascontiguousarray(y)
    laid = np.zeros(y.shape[:2] + (out[0], *room[1:]), y.dtype)
    inside: Any = (..., *[slice(0, n) for n in out])
    laid[inside] = y
    return laid


def _transpose_by_lines(
    y: Array, w: Array, size: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array:
    count, rows, *out = y.shape
    k = w.shape[2:]
    channels = w.shape[1] * groups
    room = _room(size, tuple(out), k, (1,) * len(k), pad, dilation)
    length, shifts = _lines(room, tuple(out), k, dilation)
    laid = _pad_rows(y, room, tuple(out)).reshape(count, groups, rows // groups, -1)
    matrix = w.reshape(groups, rows // groups, -1).swapaxes(-1, -2)
    x = np.zeros((count, channels, prod(room)), y.dtype)
    block = _samples_at_once(channels * prod(k) * laid.shape[-1], count)
    for start in range(0, count, block):
        part = laid[start : start + block]
        columns = matrix_product(matrix, part).reshape(len(part), channels, len(shifts), -1)
        target = x[start : start + block]
        for j, shift in enumerate(shifts):
            target[:, :, shift : shift + length] += columns[:, :, j, :length]
    return _crop(x.reshape(count, channels, *room), size, pad)


def _crop(x: Array, size: Sizes, pad: Sizes) -> Array:
    if x.shape[2:] == size:
        return x
    inner = tuple([slice(p, p + n) for n, p in zip(size, pad)])
    return np.ascontiguousarray(x[(slice(None), slice(None), *inner)])


def _transposed_depthwise(
    y: Array, w: Array, size: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes
) -> Array:
    count, channels, *out = y.shape
    k = w.shape[2:]
    if _mirrors(size, tuple(out), k, stride, pad, dilation):
        around = tuple([d * (m - 1) - p for d, m, p in zip(dilation, k, pad)])
        turned = w[(slice(None), slice(None), *[slice(None, None, -1)] * len(k))]
        turned = np.ascontiguousarray(turned)  # BLAS takes no negative strides
        return _correlate_lines(pad_planes(y, around), turned, size, dilation, channels)
    room = _room(size, tuple(out), k, stride, pad, dilation)
    x = np.zeros((count, channels, *room), y.dtype)
    column = (channels,) + (1,) * len(k)
    for j, where in enumerate(places(tuple(out), k, stride, dilation)):
        x[where] += y * w.reshape(channels, -1)[:, j].reshape(column)
    return _crop(x, size, pad)


# ---- the weights ------------------------------------------------------------------------------
def weigh(
    x: Array, y: Array, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array:
    """The transpose of `correlate` in w: for each weight the sum of all products that it scales."""
    dtype, (x, y) = wide(x, y)
    x, y = _join_columns(x), _join_columns(y)
    count, channels = x.shape[:2]
    rows, *out = y.shape[1:]
    k = tuple(k)
    per_group = channels // groups
    area = prod(out)
    shape = (rows, per_group, *k)
    if not (x.size and y.size and prod(k)):
        return np.zeros(shape, dtype)
    if groups == 1 and _whole(x.shape[2:], k, tuple(out), pad, dilation):
        found = matrix_product(y.reshape(count, rows).T, x.reshape(count, -1))
        return found.reshape(shape).astype(dtype, copy=False)
    if y.size * per_group * prod(k) >= kernels.CONVOLUTION:
        planes = kernels.convolution_3d if y.ndim == 5 else kernels.convolution
        found = planes.weigh(x, y, k, stride, pad, dilation, groups)
        if found is not None:
            return found.astype(dtype, copy=False)
    total: Any = None
    inputs: Any = None
    view: Any = None
    if all(s == 1 for s in stride) and not _plain(k, stride, pad):
        return _weigh_lines(pad_planes(x, pad), y, k, dilation, groups).astype(dtype, copy=False)
    if _plain(k, stride, pad) and x.shape[2:] == y.shape[2:]:
        inputs = x.reshape(count, groups, per_group, area)
    else:
        roomy = _with_room(pad_planes(x, pad), tuple(out), k, stride, dilation)
        view = windows(roomy, k, tuple(out), stride, dilation)
    block = _samples_at_once(channels * prod(k) * area, count)
    for start in range(0, count, block):
        part = y[start : start + block]
        n = part.shape[0]
        split = part.reshape(n, groups, rows // groups, area).transpose(1, 2, 0, 3)
        left = split.reshape(groups, rows // groups, n * area)
        if view is None:
            own = inputs[start : start + block].transpose(1, 2, 0, 3)
            right = own.reshape(groups, per_group, n * area)
        else:
            right = _join(view[start : start + block], groups, k, area)
        piece = matrix_product(left, right.swapaxes(-1, -2))
        total = piece if total is None else total + piece
    return total.reshape(shape).astype(dtype, copy=False)


def _weigh_lines(x: Array, y: Array, k: Sizes, dilation: Sizes, groups: int) -> Array:
    count, rows, *out = y.shape
    ones = (1,) * len(k)
    x = np.ascontiguousarray(_with_room(x, tuple(out), k, ones, dilation))
    channels, size = x.shape[1], x.shape[2:]
    length, shifts = _lines(size, tuple(out), k, dilation)
    laid = _pad_rows(y, size, tuple(out)).reshape(count, groups, rows // groups, -1)[..., :length]
    if channels == groups:  # a dot product for each weight
        taps = np.empty((len(shifts), rows), x.dtype)
        lines = x.reshape(count, channels, 1, -1)
        for j, shift in enumerate(shifts):
            moved = lines[..., shift : shift + length]
            taps[j] = matrix_product(moved, laid.swapaxes(-1, -2)).sum(0).reshape(rows)
        return np.ascontiguousarray(taps.T).reshape(rows, 1, *k)
    _, view = _by_lines(x, k, tuple(out), dilation)
    block = max(1, min(count, LINES // max(channels * prod(k) * length, 1)))
    buffer = np.empty((block, channels, *k, length), x.dtype)
    total: Any = 0
    for start in range(0, count, block):
        part = view[start : start + block]
        n = part.shape[0]
        np.copyto(buffer[:n], part)
        columns = buffer[:n].reshape(n, groups, -1, length)
        total = total + matrix_product(columns, laid[start : start + n].swapaxes(-1, -2)).sum(0)
    return np.ascontiguousarray(total.swapaxes(-1, -2)).reshape(rows, channels // groups, *k)


def _with_room(x: Array, out: Sizes, k: Sizes, stride: Sizes, dilation: Sizes) -> Array:
    """`x` with zeros after it where windows reach beyond it, as in transposed convolution."""
    have = x.shape[2:]
    need = tuple(
        [
            max(n, (o - 1) * s + d * (m - 1) + 1)
            for n, o, m, s, d in zip(have, out, k, stride, dilation)
        ]
    )
    if need == have:
        return x
    larger = np.zeros(x.shape[:2] + need, x.dtype)
    inside: Any = (..., *[slice(0, n) for n in have])
    larger[inside] = x
    return larger


# ---- further pieces of the gradients and of the result ----------------------------------------
def channel_sums(g: Array) -> Array:
    """The sums of g (N, O, …) for each channel: the gradient of a bias."""
    if g.dtype.kind == "V" or g.dtype.itemsize == 2:
        return channel_sums(g.astype(FLOAT32)).astype(g.dtype)
    if not g.size:
        return np.zeros(g.shape[1], g.dtype)
    if g.size >= kernels.LEAST and (sums := kernels.bias_gradients.by_plane(g)) is not None:
        return sums.sum(0, dtype=g.dtype)
    flat = g.reshape(g.shape[0], g.shape[1], -1)
    # Long lines first: NumPy adds them pairwise, and quickly.
    return flat.sum(2, dtype=g.dtype).sum(0, dtype=g.dtype)


# ---- the three, laid out like their operands ---------------------------------------------------
def conv_output(
    x: Array, w: Array, size: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array:
    """`correlate` without a bias, for outputs of `size`."""
    return follow_layout(correlate(x, w, None, stride, pad, dilation, groups, size), x, w)


def conv_input(
    y: Array, w: Array, size: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array:
    """`correlate_transposed`."""
    x = correlate_transposed(y, w, size, stride, pad, dilation, groups)
    return follow_layout(x, y, w)


def conv_weight(
    x: Array, y: Array, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array:
    """`weigh`; filters of one element are row-major."""
    w = weigh(x, y, k, stride, pad, dilation, groups)
    return w if prod(w.shape[2:]) == 1 else follow_layout(w, x, y)
