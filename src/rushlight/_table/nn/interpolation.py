"""Interpolation: values between the elements of the last dimensions, in all of PyTorch's modes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

from ..._array import types as T
from ..._array.nn.channels_last import follow_layout
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.op import Op
from ..._core.storage import TensorBase
from ..calls.argument_parser import complaint_of_c
from ..rows.composite import composite
from ..rows.gradient_kernels import calling
from ..rows.out_rules import OutRules
from ..rows.row import Row, linear
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Positional, Shape
    from ..._tensor.tensor import Tensor

raw = later("_array.nn.interpolation")

# stem of the operation -> the mode of `line_map`, whether it has `align_corners`, dimensions
_KINDS: Final[dict[str, tuple[str, bool, tuple[int, ...]]]] = {
    "nearest": ("nearest", False, (1, 2, 3)),
    "_nearest_exact": ("nearest-exact", False, (1, 2, 3)),
    "linear": ("linear", True, (1,)),
    "bilinear": ("linear", True, (2,)),
    "trilinear": ("linear", True, (3,)),
    "bicubic": ("cubic", True, (2,)),
    "_bilinear_aa": ("smooth-linear", True, (2,)),
    "_bicubic_aa": ("smooth-cubic", True, (2,)),
    "_lanczos_aa": ("smooth-lanczos", True, (2,)),
}
_NODES: Final = {
    "nearest": "UpsampleNearest{}D", "_nearest_exact": "UpsampleNearestExact{}D",
    "linear": "UpsampleLinear{}D", "bilinear": "UpsampleBilinear{}D",
    "trilinear": "UpsampleTrilinear{}D", "bicubic": "UpsampleBicubic{}D",
    "_bilinear_aa": "UpsampleBilinear{}DAa", "_bicubic_aa": "UpsampleBicubic{}DAa",
    "_lanczos_aa": "UpsampleLanczos{}DAa",
}  # fmt: skip


def _name(kind: str, dims: int) -> str:
    if kind.endswith("_aa"):
        return f"_upsample_{kind[1:-3]}{dims}d_aa"
    return f"{'_' if kind[0] == '_' else ''}upsample_{kind.lstrip('_')}{dims}d"


def _check(name: str, x: Array, out: Shape, dims: int, kind: str) -> None:
    """Refuses shapes and element types.

    Raises:
        RuntimeError, NotImplementedError: in PyTorch's words.
    """
    if len(out) != dims:
        raise RuntimeError(f"It is expected output_size equals to {dims}, but got size {len(out)}")
    if x.ndim != dims + 2:
        raise RuntimeError(f"It is expected input_size equals to {dims + 2}, but got size {x.ndim}")
    size = x.shape[2:]
    if min(size) < 1 or min(out) < 1:
        if dims == 1:
            raise RuntimeError(
                f"Input and output sizes should be greater than 0, but got input (W: {size[0]}) "
                f"and output (W: {out[0]})"
            )
        axes = ("H", "W") if dims == 2 else ("D", "H", "W")
        shown = [", ".join(f"{a}: {n}" for a, n in zip(axes, v)) for v in (size, out)]
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({shown[0]}) output "
            f"({shown[1]})"
        )
    if not x.shape[1]:
        raise RuntimeError(
            f"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes "
            f"{list(x.shape)}"
        )
    if x.dtype is T.FLOAT32 or x.dtype is T.FLOAT64:
        return
    found = T.from_raw(x.dtype)
    bytes_too = dims == 2 or kind.endswith(("nearest", "exact"))
    if not found.is_floating_point and not (found is D.uint8 and bytes_too):
        kernel = {"nearest": "compute_indices_weights_nearest"}.get(
            kind.lstrip("_").removesuffix("_exact"), "compute_indices_weights_linear"
        )
        if kind == "bicubic":
            kernel = "compute_indices_weights_cubic"
        elif kind in ("bilinear", "nearest", "_nearest_exact") and dims == 2:
            kernel = f"upsample_{kind.lstrip('_').removesuffix('_exact')}2d_channels_last"
        if kind.endswith("_aa"):
            kernel = "compute_index_ranges_weights"
        raise NotImplementedError(errors.not_implemented(kernel, D.scalar_name(found)))


def _rows(kind: str, dims: int) -> Row:
    mode, aligns, _ = _KINDS[kind]
    name = _name(kind, dims)
    node = _NODES[kind].format(dims)
    letters = ["scales"] if dims == 1 else [f"scales_{a}" for a in "dhw"[3 - dims :]]
    scales = ", ".join(f"float? {s}=None" for s in letters)
    corners = ", bool align_corners" if aligns else ""
    follows = "cubic" not in mode and not (dims == 3 and mode.startswith("nearest"))

    def split(rest: tuple[Any, ...]) -> tuple[bool, tuple[Any, ...]]:
        return (rest[0], rest[1:]) if aligns else (False, rest)

    def forward(x: Array, output_size: Shape, *rest: float | None) -> Array:
        _check(name, x, output_size, dims, kind)
        align, factors = split(rest)
        return follow_layout(raw.upsample(x, mode, tuple(output_size), align, factors), x)

    forward.__name__ = name  # by which `small_arrays` knows it

    def backward(g: Array, output_size: Shape, input_size: Shape, *rest: object) -> Array:
        align, factors = split(rest)
        d = raw.upsample_backward(g, mode, tuple(input_size), align, factors)
        return follow_layout(d, g) if follows else follow_layout(d)

    gradient = linear(
        f"{name}_backward(Tensor grad_output, int[] output_size, int[] input_size{corners}, "
        f"{scales}) -> Tensor",
        backward,
        grad_output=calling(lambda: row),
        node=node + "BackwardBackward0",
        namespace="private",
        samples=lambda mk: [
            (
                mk(1, 2, *(4,) * dims),
                (4,) * dims,
                (1, 2, *(3,) * dims),
                *((False,) if aligns else ()),
            )
        ],
        doc="The gradient of an interpolation for its input of `input_size`.",
    )
    row = linear(
        f"{name}(Tensor self, int[{dims}] output_size{corners}, {scales}) -> Tensor",
        forward,
        self=calling(lambda: gradient, input_size=lambda self_shape: self_shape),
        node=node + "Backward0",
        namespace="private",
        dtypes="float",
        out_rules=OutRules(laid_out=True, in_python=True),
        samples=lambda mk: [
            (mk(1, 2, *(3,) * dims), (5,) * dims, *((False,) if aligns else ())),
            (mk(1, 2, *(4,) * dims), (3,) * dims, *((True,) if aligns else ())),
        ],
        doc=f"The last {'dimension' if dims == 1 else 'dimensions'} resampled: {kind.strip('_')}.",
    )
    return row


ROWS_BY_KIND: Final = {
    (kind, dims): _rows(kind, dims)
    for kind, (_, _, all_dims) in _KINDS.items()
    for dims in all_dims
}


# ---- the public functions ---------------------------------------------------------------------
_MODES: Final = {
    ("nearest", 1): "nearest", ("nearest", 2): "nearest", ("nearest", 3): "nearest",
    ("nearest-exact", 1): "_nearest_exact", ("nearest-exact", 2): "_nearest_exact",
    ("nearest-exact", 3): "_nearest_exact", ("linear", 1): "linear", ("bilinear", 2): "bilinear",
    ("trilinear", 3): "trilinear", ("bicubic", 2): "bicubic", ("lanczos", 2): "lanczos",
}  # fmt: skip


@composite("nn.functional")
def interpolate(
    input: Tensor,
    size: object = None,
    scale_factor: object = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """The input resampled over its last dimensions, to `size` or by `scale_factor`.

    Shapes: input (N, C, places…). `mode` is nearest, nearest-exact, linear, bilinear, bicubic,
    trilinear or area. Raises: ValueError, NotImplementedError for options that don't go together.
    """
    shape = input._raw.shape if isinstance(input, TensorBase) else (0,) * input.dim()
    if type(size) is list and len(size) == len(shape) - 2:  # no message shows it
        size = tuple(size)
    options = (size, scale_factor, align_corners, recompute_scale_factor, antialias)
    whole = type(size) is tuple and _WHOLE.issuperset(map(type, size))
    if type(mode) is str and _PLAIN.issuperset(map(type, options[whole:])):
        try:
            op, rest = _settle(shape, mode, *options)
        except TypeError:  # in whose text the tensor is to be named
            op, rest = _resolve(input, shape, mode, *options)
    else:
        op, rest = _resolve(input, shape, mode, *options)
    if op is None:
        return _area(input, rest[0], len(shape) - 2)
    return apply_n(op, [input, *rest])


_PLAIN: Final = frozenset({int, float, bool, type(None)})
_WHOLE: Final = frozenset({int})


def _resolve(
    input: Tensor | None,
    shape: Shape,
    mode: str,
    size: object,
    scale_factor: object,
    align_corners: bool | None,
    recompute: bool | None,
    antialias: bool,
) -> tuple[Op | None, Positional]:
    """The operation that resamples what has this shape, and what it is given; for the means of
    areas None, and their number.

    `input` is for messages.
    Raises: as `interpolate`.
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | "
                "bilinear | bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    ndim = len(shape)
    dims = ndim - 2
    output_size, factors = _targets(shape, size, scale_factor, dims, mode)
    if recompute and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if mode == "area" and output_size is None:
        recompute = True
    if recompute:
        assert factors is not None
        output_size = [math.floor(shape[i + 2] * float(factors[i])) for i in range(dims)]
        factors = None
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if mode == "area" and dims in (1, 2, 3):
        return None, (output_size,)
    kind = _MODES.get((mode, dims))
    if kind is None:
        raise _no_mode(mode, ndim)
    if mode == "lanczos":
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
    if antialias:
        kind = f"_{kind}_aa"
    row, corners = ROWS_BY_KIND[kind, dims], (align_corners,) if _KINDS[kind][1] else ()
    wanted = (int,) if factors is None else (int, float)
    if any(type(n) not in wanted for n in output_size or factors):
        given = (input, output_size, *corners, factors)
        problem = complaint_of_c("nn", row.schema.name, given, {})
        if problem is not None:
            raise problem
    if factors is not None:
        factors = [float(f) for f in factors]
    if output_size is None:
        output_size = [math.floor(float(n) * f) for n, f in zip(shape[2:], factors)]
    steps: Positional = tuple(factors) if factors is not None else (None,) * dims
    return row.op, (tuple([int(n) for n in output_size]), *corners, *steps)


#: `_resolve` where no option is an object of a program's, which is remembered.
_settle: Final = lru_cache(512, typed=True)(partial(_resolve, None))


def _area(input: Tensor, size: list[int], dims: int) -> Tensor:
    space = table("adaptive_avg_pool1d") if dims == 1 else None
    if space is not None:
        return space(input, size)
    from ..rows.composite import COMPOSITES

    return COMPOSITES["nn.functional", f"adaptive_avg_pool{dims}d"](input, size)


def _targets(shape: Shape, size: object, factor: Any, dims: int, mode: str) -> tuple[Any, Any]:
    """The output's sizes and the factors as lists; one of them is None.

    Raises:
        ValueError: unless exactly one is given, with one entry for each dimension.
    """
    if size is not None and factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (list, tuple)):
            return [size] * dims, None
        if len(size) != dims:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(shape[2:])} and output size of {size}. "
                "Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size in "
                "(o1, o2, ...,oK) format."
            )
        for n in size:
            if type(n) is int:
                continue
            if not isinstance(n, SupportsIndex) or (
                isinstance(n, TensorBase) and n.is_floating_point()  # type: ignore[attr-defined]
            ):
                raise TypeError(
                    "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
                    f"Tuple[int, int, int], but got size with types {[type(x) for x in size]}"
                )
        return size, None
    if not isinstance(factor, (list, tuple)):
        return None, [factor] * dims
    if len(factor) != dims:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got "
            f"input with spatial dimensions of {list(shape[2:])} and scale_factor of shape "
            f"{factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format."
        )
    return None, list(factor)


_NEEDS: Final = {"linear": 3, "bilinear": 4, "trilinear": 5}


def _no_mode(mode: str, ndim: int) -> Exception:
    if mode in _NEEDS and ndim in (3, 4, 5):
        return NotImplementedError(
            f"Got {ndim}D input, but {mode} mode needs {_NEEDS[mode]}D input"
        )
    return NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
        f"{ndim}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | "
        f"area | nearest-exact (got {mode})"
    )


@composite("nn.functional")
def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: object = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`interpolate`, under its former name."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite("nn.functional")
def upsample_nearest(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: object = None
) -> Tensor:
    """`interpolate` with mode "nearest", under its former name."""
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="nearest")


@composite("nn.functional")
def upsample_bilinear(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: object = None
) -> Tensor:
    """`interpolate` with mode "bilinear" and aligned corners, under its former name."""
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
