"""Padding of tensors: with a constant, or with their own elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array.nn.channels_last import follow_layout
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.storage import TensorBase
from ..calls import dtype_checks as _checks
from ..calls.argument_parser import complaint_of_c
from ..rows import tensor_namespace as _traced
from ..rows.composite import composite
from ..rows.gradient_kernels import record_gradient
from ..rows.row import Row, linear
from .rearrange import constant_pad_nd

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Shape
    from ..._tensor.tensor import Tensor

raw = later("_array.shape.padding")


def _add_back(g: Tensor, shape: Shape, padding: Shape, mode: str) -> Tensor:
    """The gradient of a borrowing padding, in operations that are recorded."""
    for axis in range(len(shape) - len(padding) // 2, len(shape)):
        k = len(shape) - 1 - axis
        before, after = padding[2 * k], padding[2 * k + 1]
        if before or after:
            at = _traced.constant(raw.places(shape[axis], before, after, mode))
            smaller = g.narrow(axis, 0, 1).detach() * 0
            target = smaller.expand(*g.shape[:axis], shape[axis], *g.shape[axis + 1 :])
            g = target.index_add(axis, at, g)
    return g


def _follow_layout(y: Array, x: Array, mode: str) -> Array:
    return y if mode == "circular" else follow_layout(y, x)


def _declare_padding(name: str, node: str, mode: str) -> Row:
    return linear(
        f"{name}(Tensor self, int[] padding) -> Tensor",
        lambda x, padding: _follow_layout(raw.borrow(x, padding, mode), x, mode),
        check=_checks.takes(name, "bifc" if mode == "circular" else "ifc"),
        self=record_gradient(
            lambda g, self_shape, padding: _add_back(g, self_shape, padding, mode),
            override=lambda g, shape, padding: _follow_layout(
                raw.borrow_backward(g, shape, padding, mode), g, mode
            ),
        ),
        node=node,
        public=False,
        out=False,
        samples=lambda mk: [(mk(2, 3, 4), (1, 2))],
        doc=f"The input with borders of its own elements ({mode}).",
    )


_ROWS = {
    ("reflect", 1): _declare_padding("reflection_pad1d", "ReflectionPad1DBackward0", "reflect"),
    ("reflect", 2): _declare_padding("reflection_pad2d", "ReflectionPad2DBackward0", "reflect"),
    ("reflect", 3): _declare_padding("reflection_pad3d", "ReflectionPad3DBackward0", "reflect"),
    ("replicate", 1): _declare_padding(
        "replication_pad1d", "ReplicationPad1DBackward0", "replicate"
    ),
    ("replicate", 2): _declare_padding(
        "replication_pad2d", "ReplicationPad2DBackward0", "replicate"
    ),
    ("replicate", 3): _declare_padding(
        "replication_pad3d", "ReplicationPad3DBackward0", "replicate"
    ),
}
_CIRCULAR = _declare_padding("_pad_circular", "PadCircularBackward0", "circular")


_WHOLE: Final = frozenset({int})
_PADDINGS: Final = ("constant", "reflect", "replicate", "circular")


@composite("nn.functional")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """The input with borders: `pad` lists (before, after) for the last dimension first.

    Modes: "constant" (`value`), "reflect" (without the edge), "replicate" (the edge), "circular".
    Raises: RuntimeError for a padding that doesn't fit; NotImplementedError for other modes.
    """
    if (
        not isinstance(input, TensorBase)
        or not isinstance(pad, (tuple, list))
        or not isinstance(mode, str)
        or not _WHOLE.issuperset(map(type, pad))
        or not (value is None or type(value) is float or type(value) is int)
    ):
        problem = complaint_of_c("nn", "pad", (input, pad, mode, value), {})
        if problem is not None:
            raise problem
        mode = mode.decode() if isinstance(mode, bytes) else mode
        pad = tuple([int(n) for n in pad])
        value = None if value is None else float(value)
    ndim = input._raw.ndim
    if mode not in _PADDINGS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {ndim}"
        )
    if mode == "constant":
        return apply_n(constant_pad_nd.op, [input, pad, 0 if value is None else value])
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    count = len(pad) // 2
    if count not in (1, 2, 3) or ndim not in (count + 1, count + 2):
        raise NotImplementedError(_UNSUPPORTED.format(size=len(pad), ndim=ndim))
    shape = tuple(input.shape)
    if mode == "circular":
        _check_circular(shape, pad)
        return apply_n(_CIRCULAR.op, [input, pad])
    _check_borrowed(shape, pad, mode)
    return apply_n(_ROWS[mode, count].op, [input, pad])


_UNSUPPORTED = (
    "Padding size {size} is not supported for {ndim}D input tensor.\n"
    "Supported combinations for non-constant padding:\n"
    "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
    "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
    "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
)


def _check_borrowed(shape: tuple[int, ...], pad: tuple[int, ...], mode: str) -> None:
    count, ndim = len(pad) // 2, len(shape)
    own = shape[1:] if ndim == count + 2 else shape
    if not all(own):
        raise RuntimeError(
            f"Expected {count + 1}D or {count + 2}D (batch mode) tensor with possibly 0 batch "
            "size and "
            f"other non-zero dimensions for input, but got: {list(shape)}"
        )
    sizes = [shape[d] for d in range(ndim - count, ndim)]
    padded = [n + pad[2 * k] + pad[2 * k + 1] for k, n in enumerate(reversed(sizes))][::-1]
    if mode != "reflect":
        _check_left(sizes, padded, mode)
        return
    for k in range(count):
        axis = ndim - 1 - k
        before, after = pad[2 * k], pad[2 * k + 1]
        if before >= shape[axis] or after >= shape[axis]:
            raise RuntimeError(
                f"Argument #{2 * k + 4}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({before}, {after}) at dimension {axis} of input "
                f"{list(shape)}"
            )
    _check_left(sizes, padded, mode)


def _check_left(sizes: list[int], padded: list[int], mode: str) -> None:
    """Refuses a cropping that leaves nothing."""
    if min(padded) >= 1:
        return
    words = "DHW"[-len(sizes) :]
    has = ", ".join(f"{w}: {n}" for w, n in zip(words, sizes, strict=True))
    if len(sizes) == 3:
        has = has.replace(", H", " H")
    elif len(sizes) == 2 and mode == "replicate":
        has += " "
    left = " ".join(f"{w}: {n}" for w, n in zip(words, padded, strict=True))
    raise RuntimeError(f"input ({has}) is too small. Calculated output {left}")


def _check_circular(shape: tuple[int, ...], pad: tuple[int, ...]) -> None:
    for k in range(len(pad) // 2):
        extent = shape[len(shape) - 1 - k]
        before, after = pad[2 * k], pad[2 * k + 1]
        if before > extent or after > extent:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if extent + before + after < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
