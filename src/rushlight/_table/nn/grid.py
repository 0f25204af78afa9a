"""Sampling an input at the points of a grid, and the grids of affine maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.storage import new_tensor
from ..calls.argument_parser import misuse
from ..calls.python_argument_errors import take_as_c
from ..rows.composite import composite
from ..rows.gradient_kernels import record_gradient
from ..rows.row import Row, general, linear
from ..rows.tensor_namespace import constant, table
from ..rows.warn_once import warn_the_caller

if TYPE_CHECKING:
    from types import ModuleType

    from ..._array.annotations import Array, RawType
    from ..._base.annotations import Shape, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.nn.grid_sample")

_MODES: Final = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDINGS: Final = {"zeros": 0, "border": 1, "reflection": 2}


def _check_first(input: Shape, grid: Shape, shown: str) -> None:
    """Refuses batches of different sizes, and points of other dimensions than the input's."""
    if not input or not grid:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if input[0] != grid[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got {shown}"
        )
    if grid[-1] != len(input) - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {len(input) - 2} in last dimension, but "
            f"got grid with sizes {list(grid)}"
        )


def _check(x: Any, grid: Array, dims: int, mode: int) -> None:
    shown = f"input with sizes {list(x.shape)} and grid with sizes {list(grid.shape)}"
    _check_first(x.shape, grid.shape, shown)
    for axis in range(2, x.ndim):
        if not x.shape[axis]:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input "
                f"has sizes {list(x.shape)} with dimension {axis} being empty"
            )
    if x.ndim != dims + 2 or x.ndim != grid.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected {dims + 2}D input and grid with same number of dimensions, "
            f"but got {shown}"
        )
    if dims == 3 and mode == 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    found, other = T.from_raw(x.dtype), T.from_raw(grid.dtype)
    if not found.is_floating_point:
        kernel = "grid_sampler_2d_cpu_kernel_impl" if dims == 2 else "grid_sampler3d_cpu"
        raise NotImplementedError(errors.not_implemented(kernel, D.scalar_name(found)))
    if found is not other:
        raise RuntimeError(
            f"expected scalar type {D.scalar_name(found)} but found {D.scalar_name(other)}"
        )


def _recorded_gradients(
    g: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    need: list[bool],
) -> tuple[Any, Any]:
    """The gradients in operations that are recorded: for second derivatives.

    Which neighbours a point has is constant; how far it is from them follows the grid.
    """
    x, mode = input, interpolation_mode
    size = tuple(x.shape[2:])
    count, channels = x.shape[0], x.shape[1]
    dims = len(size)
    points = grid.reshape(count, -1, dims)
    axes = raw.plans(grid._raw, size, mode, padding_mode, align_corners)
    rests = []
    for i, plan in enumerate(axes):
        line = points.select(2, dims - 1 - i)
        moved = (line - line.detach()) * constant(T.as_array(plan.slope).astype(x._raw.dtype))
        rests.append(constant(T.as_array(plan.rest)) + moved)
    by_axis = [raw.weights(t, mode) for t in rests]
    rates = [raw.slopes(t, mode) for t in rests]
    incoming = g.reshape(count, channels, -1)
    values = x.reshape(count, channels, -1)
    d_x = None
    d_points: list[Any] = [None] * dims
    for at, where, real in raw.corners(axes, size):
        index = constant(where).unsqueeze(1).expand(count, channels, -1)
        kept = constant(T.as_array(real)).to(x.dtype)
        if need[0]:
            weight: Any = kept
            for w, j in zip(by_axis, at):
                weight = weight * w[j]
            part = incoming * weight.unsqueeze(1)
            zeros = table("zeros_like")(values)
            piece = table("scatter_add")(zeros, 2, index, part)
            d_x = piece if d_x is None else d_x + piece
        if need[1] and mode != raw.NEAREST:
            along = (table("gather")(values, 2, index) * incoming).sum(1) * kept
            for i, plan in enumerate(axes):
                slope = constant(T.as_array(plan.slope).astype(x._raw.dtype))
                rate: Any = rates[i][at[i]] * slope
                for k, j in enumerate(at):
                    if k != i:
                        rate = rate * by_axis[k][j]
                step = along * rate
                d_points[i] = step if d_points[i] is None else d_points[i] + step
    if d_x is not None:
        d_x = d_x.reshape(x.shape)
    d_grid = None
    if need[1]:
        if mode == raw.NEAREST:
            nowhere = new_tensor(T.as_array(False))
            d_grid = table("where")(nowhere, grid, 0)  # zeros that belong to the graph
        else:
            d_grid = table("stack")(d_points[::-1], -1).reshape(grid.shape)
    return d_x, d_grid


def _rows(dims: int) -> Row:
    def forward(
        x: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
    ) -> Array:
        _check(x, grid, dims, interpolation_mode)
        return raw.grid_sample(x, grid, interpolation_mode, padding_mode, align_corners)

    return general(
        f"grid_sampler_{dims}d(Tensor input, Tensor grid, int interpolation_mode, int "
        "padding_mode, bool align_corners) -> Tensor",
        forward,
        joint=record_gradient(_recorded_gradients, override=raw.grid_sample_backward),
        node=f"GridSampler{dims}DBackward0",
        dtypes="float",
        samples=lambda mk: [
            (mk(1, 2, *(4,) * dims), mk(1, *(2,) * dims, dims, low=-0.9, high=0.9), mode, pad, c)
            for mode, pad, c in [(0, 0, False), (0, 2, True), (1, 1, False), (2, 0, True)]
            if mode < 2 or dims == 2
        ],
        doc="The input's values at the points of a grid of numbers from -1 to 1.",
    )


grid_sampler_2d: Final = _rows(2)
grid_sampler_3d: Final = _rows(3)


@composite("")
def grid_sampler(
    input: Tensor, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """The input's values at the points of a grid; modes by number.

    Shapes: input (N, C, places…), grid (N, points…, dims), output (N, C, points…).
    Raises: RuntimeError for shapes and types that don't fit.
    """
    row = grid_sampler_2d if input.dim() == 4 else grid_sampler_3d
    if input.dim() not in (4, 5) or input.dim() != grid.dim():
        shown = f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        _check_first(input._raw.shape, grid._raw.shape, shown)
        raise RuntimeError(
            f"grid_sampler(): expected {'4D or ' if 2 < input.dim() < 6 else ''}5D input and grid "
            f"with same number of dimensions, but got {shown}"
        )
    return apply_n(row.op, [input, grid, interpolation_mode, padding_mode, align_corners])


@composite("nn.functional")
def grid_sample(
    input: Tensor,
    grid: object,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The input's values at the points of a grid of numbers from -1 to 1, x first.

    Shapes: input (N, C, places…), grid (N, points…, dims), output (N, C, points…).
    Raises: ValueError for unknown modes, RuntimeError for shapes and types that don't fit.
    """
    if not isinstance(mode, str) or mode not in _MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if not isinstance(padding_mode, str) or padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        warn_the_caller(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
            "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
            "documentation of grid_sample for details."
        )
        align_corners = False
    elif type(align_corners) is not bool:
        raise misuse("torch", "grid_sampler", (input, grid, 0, 0, align_corners), {})
    return grid_sampler(input, grid, _MODES[mode], _PADDINGS[padding_mode], align_corners)


# ---- the grids of affine maps -----------------------------------------------------------------
def _affine_forward(theta: Array, size: Shape, align_corners: bool) -> Array:
    if len(size) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    count, places = size[0], tuple(size[2:])
    dims = len(places)
    base = raw.base_grid(places, theta.dtype, align_corners)
    return _products(base, theta).reshape(count, *places, dims)


def _products(base: Array, theta: Array) -> Array:
    if theta.dtype.kind == "V":
        wide = T.FLOAT32
        return (base.astype(wide) @ theta.astype(wide).swapaxes(1, 2)).astype(theta.dtype)
    return base @ theta.swapaxes(1, 2)


def _affine_gradient(xp: ModuleType, g: TensorLike, size: Shape, align_corners: bool) -> TensorLike:
    places = tuple(size[2:])
    dims = len(places)
    flat = xp.reshape(g, (size[0], -1, dims))
    base = xp.constant(raw.base_grid(places, _raw_type(g), align_corners))
    return xp.matmul(xp.matrix_transpose(flat), base)


def _raw_type(g: Any) -> RawType:
    return g.dtype if isinstance(g, T.ndarray) else g._raw.dtype


affine_grid_generator = linear(
    "affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor",
    _affine_forward,
    theta=_affine_gradient,
    real_only=True,
    dtypes="float",
    samples=lambda mk: [(mk(2, 2, 3), (2, 1, 3, 2), False), (mk(1, 3, 4), (1, 1, 2, 2, 2), True)],
    doc="The points to which affine maps take the places of a grid of numbers from -1 to 1.",
)


@composite("nn.functional")
def affine_grid(theta: Tensor, size: Shape, align_corners: bool | None = None) -> Tensor:
    """The sampling grid of a batch of affine maps, for outputs of `size` (N, C, places…).

    Raises: ValueError, NotImplementedError for sizes and matrices that don't fit.
    """
    if align_corners is None:
        warn_the_caller(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
            "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
            "documentation of grid_sample for details."
        )
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size "
            f"{size}. Got {errors.size_text(theta.shape)}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    theta, size, align_corners = take_as_c(
        "torch", "affine_grid_generator", (theta, size, align_corners)
    )
    if align_corners and min(size[2:]) == 1:
        warn_the_caller(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details."
        )
    if theta.shape[0] != size[0]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, "
            f"{dims + 1}] but got: [{theta.shape[0]}, {dims + 1}]."
        )
    return apply_n(affine_grid_generator.op, [theta, tuple(size), align_corners])
