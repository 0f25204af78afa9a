"""Pooling over windows: means, maxima, power means, and the way back from maxima.

What PyTorch does with each mistake differs by operation; see `_pool_checks.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final

from ..._array.nn.channels_last import follow_layout, follow_sample
from ..._base.determinism import alert
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.storage import count_writes
from ..calls.argument_parser import complaint_of_c
from ..calls.signed_functions import give_signatures
from ..rows.composite import composite
from ..rows.gradient_kernels import call_row, calling
from ..rows.row import Row, general, linear, when_settled
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from ..._tensor.tensor import Tensor

checks = later("_table.calls.pooling_checks")

raw = later("_array.nn.pooling")

Sizes = tuple[int, ...]


# ---- means ------------------------------------------------------------------------------------
def _avg_pool(dims: int) -> AnyCallable:
    def forward(
        x: Array, kernel_size: Shape, stride: Shape, padding: Shape, ceil_mode: bool, include: bool,
        divisor: int | None,
    ) -> Array:  # fmt: skip
        k, s, p = checks.avg_parameters(dims, kernel_size, stride, padding, divisor)
        out = checks.pool_shape("", x, k, s, p, (1,) * dims, ceil_mode)
        y = raw.avg_pool(x, k, s, p, out, include, divisor)
        return follow_layout(y, x) if dims == 2 else y

    forward.__name__ = f"avg_pool{dims}d"
    return forward


def _avg_pool_backward(dims: int) -> AnyCallable:
    def forward(
        g: Array, size: Shape, kernel_size: Shape, stride: Shape, padding: Shape, ceil_mode: bool,
        include: bool, divisor: int | None,
    ) -> Array:  # fmt: skip
        k, s, p = checks.avg_parameters(dims, kernel_size, stride, padding, divisor)
        d = raw.avg_pool_backward(g, size, k, s, p, include, divisor)
        return follow_layout(d, g) if dims == 2 else d

    return forward


_AVG_ARGS: Final = (
    "int[{d}] kernel_size, int[{d}]? stride=[], int[{d}] padding=0, bool ceil_mode=False, bool "
    "count_include_pad=True, int? divisor_override=None"
)


def _avg_rows(dims: int) -> tuple[Row, Row]:
    arguments = _AVG_ARGS.format(d=dims)

    backward = linear(
        f"avg_pool{dims}d_backward(Tensor grad_output, int[] size, {arguments}) -> Tensor",
        _avg_pool_backward(dims),
        grad_output=calling(lambda: row),
        node=f"AvgPool{dims}DBackwardBackward0",
        namespace="private",
        samples=lambda mk: [
            (mk(1, 2, *(2,) * dims), (5,) * dims, (2,) * dims, (2,) * dims, (0,) * dims)
        ],
        doc="The gradient of a mean over windows for its input of `size`.",
    )
    row = linear(
        f"avg_pool{dims}d(Tensor self, {arguments}) -> Tensor",
        _avg_pool(dims),
        self=calling(lambda: backward, size=lambda self: tuple(self.shape[-dims:])),
        node=f"AvgPool{dims}DBackward0",
        kernel="avg_pool2d" if dims == 2 else "avg_pool3d_out_frame",
        namespace=("nn.functional", "private"),
        dtypes="float",
        samples=lambda mk: [
            (mk(1, 2, *(5,) * dims), (3,) * dims, (2,) * dims, (1,) * dims, True, False, None),
            (mk(2, *(4,) * dims), (2,) * dims),
            (mk(2, *(3,) * dims), (2,) * dims, (1,) * dims, (0,) * dims, False, True, 3),
        ],
        doc="The mean of each window of the last dimensions.",
    )
    return row, backward


avg_pool2d, avg_pool2d_backward = _avg_rows(2)
avg_pool3d, avg_pool3d_backward = _avg_rows(3)


@composite("", "nn.functional")
@give_signatures(
    "avg_pool1d(Tensor self, int[1] kernel_size, int[1]? stride=[], int[1] padding=0, bool "
    "ceil_mode=False, bool count_include_pad=True) -> Tensor"
)
def avg_pool1d(
    input: Tensor, kernel_size: Shape, stride: Shape, padding: Shape, ceil_mode: bool, include: bool
) -> Tensor:
    """The mean of each window of the last dimension.

    Shapes: input ([N,] C, L). Raises: RuntimeError for parameters that don't fit.
    """
    checks.line_of(input._raw, "avg_pool1d")
    k, s, p = checks.single("avg_pool1d", kernel_size=kernel_size, stride=stride, padding=padding)
    wide = (1, s) if s is not None else ()
    out = apply_n(
        avg_pool2d.op, [input.unsqueeze(-2), (1, k), wide, (0, p), ceil_mode, include, None]
    )
    return out.squeeze(-2)


# ---- maxima -----------------------------------------------------------------------------------
def _max_parameters(
    dims: int,
    name: str,
    x: Array,
    kernel_size: Shape,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    ceil_mode: bool,
) -> tuple[Sizes, Sizes, Sizes, Sizes, Sizes]:
    k, s, p, d = checks.max_parameters(dims, name, kernel_size, stride, padding, dilation)
    out = checks.pool_shape(name, x, k, s, p, d, ceil_mode)
    return k, s, p, d, out


def _max_pool(dims: int) -> AnyCallable:
    name = f"max_pool{dims}d"

    def forward(
        x: Array,
        kernel_size: Shape,
        stride: Shape,
        padding: Shape,
        dilation: Shape,
        ceil_mode: bool,
    ) -> tuple[Array, ...]:
        found = _max_parameters(dims, name, x, kernel_size, stride, padding, dilation, ceil_mode)
        values, where = raw.max_pool(x, *found)
        follow = follow_sample if x.ndim == 4 and dims == 3 else follow_layout
        return follow(values, x), follow(where, x)

    forward.__name__ = name
    return forward


def _returns_plain_tuple(row: Row) -> None:
    """As PyTorch's do; the names of the results are for formulas."""
    row.op.returns = None


def max_rows(
    stem: str,
    name: str,
    dims: int,
    arguments: str,
    forward: AnyCallable,
    shown: AnyCallable | None = None,
    **declared: object,
) -> tuple[Row, Row]:
    """The rows of an operation that gives maxima and their places, and of its gradient.

    `shown(gradient)` is the gradient as a formula that also asks for what its node shows.
    """
    backward = linear(
        f"{name}_backward(Tensor grad_output, Tensor indices, int[] size) -> Tensor",
        raw.place_in_planes,
        grad_output=lambda xp, g, indices: xp.pick_from_planes(g, indices, dims),
        node=f"{stem}BackwardBackward0",
        namespace="private",
        samples=lambda mk: [
            (
                mk(2, *(2,) * dims),
                mk(2, *(2,) * dims, low=0, high=3**dims, integer=True),
                (3,) * dims,
            )
        ],
        refuses_values="any",
        doc="Zeros with planes of `size`, and the elements added at their places.",
    )

    def gradient(
        xp: ModuleType, g0: TensorLike, self: TensorLike, indices: TensorLike
    ) -> TensorLike:
        size = tuple(self.shape[-dims:])
        return call_row(xp, backward, g0, indices, size)

    row = general(
        f"{name}({arguments}) -> (Tensor output, Tensor indices)",
        forward,
        self=gradient if shown is None else shown(gradient),
        node=f"{stem}Backward0",
        saved_as={"indices": "result1"},
        differentiable_out=(True, False),
        dtypes="float",
        **declared,
    )
    when_settled(row, _returns_plain_tuple)
    return row, backward


pick_from_planes = linear(
    "pick_from_planes(Tensor self, Tensor indices, int dims) -> Tensor",
    raw.pick_from_planes,
    self=lambda xp, g, self_shape, indices, dims: xp.place_in_planes(
        g, indices, self_shape[len(self_shape) - dims :]
    ),
    node="GatherBackward0",
    namespace="private",
    refuses_values="any",
    samples=lambda mk: [(mk(2, 3, 3), mk(2, 2, 2, low=0, high=9, integer=True), 2)],
    doc="The elements at flat places of the planes (the last `dims` dimensions).",
    narrow="all",
)
place_in_planes = linear(
    "place_in_planes(Tensor self, Tensor indices, int[] size) -> Tensor",
    raw.place_in_planes,
    self=lambda xp, g, indices, size: xp.pick_from_planes(g, indices, len(size)),
    namespace="private",
    refuses_values="any",
    lowering="place_in_planes",
    samples=lambda mk: [(mk(2, 2, 2), mk(2, 2, 2, low=0, high=9, integer=True), (3, 3))],
    doc="Zeros with planes of `size`, and the elements added at their places.",
    narrow="all",
)


def _with_window(gradient: AnyCallable) -> AnyCallable:
    def formula(
        xp: ModuleType,
        g0: TensorLike,
        self: TensorLike,
        indices: TensorLike,
        kernel_size: Shape,
        stride: Shape,
        padding: Shape,
        dilation: Shape,
        ceil_mode: bool,
    ) -> Any:
        return gradient(xp, g0, self, indices)

    return formula


def _max_window_rows(dims: int) -> tuple[Row, Row]:
    return max_rows(
        f"MaxPool{dims}DWithIndices",
        f"max_pool{dims}d_with_indices",
        dims,
        f"Tensor self, int[{dims}] kernel_size, int[{dims}]? stride=[], int[{dims}] padding=0, "
        f"int[{dims}] dilation=1, bool ceil_mode=False",
        _max_pool(dims),
        shown=_with_window,
        lowering="max_pool" if dims == 2 else "",
        namespace=("nn.functional", "private"),
        samples=lambda mk: [
            (mk(1, 2, *(5,) * dims), (3,) * dims, (2,) * dims, (1,) * dims, (1,) * dims, True),
            (mk(2, *(4,) * dims), (2,) * dims),
        ],
        doc="The largest element of each window, and its place in the plane.",
    )


max_pool2d_with_indices, max_pool2d_with_indices_backward = _max_window_rows(2)
max_pool3d_with_indices, max_pool3d_with_indices_backward = _max_window_rows(3)


@composite("")
@give_signatures(
    "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1]? stride=[], int[1] padding=0, "
    "int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"
)
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Shape,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    ceil_mode: bool,
) -> tuple[Tensor, ...]:
    """The largest element of each window of the last dimension, and its place.

    Shapes: input ([N,] C, L). Raises: RuntimeError for parameters that don't fit.
    """
    checks.line_of(input._raw, "max_pool1d")
    k, s, p, d = checks.single(
        "max_pool1d", kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation
    )
    steps = () if s is None else (1, s)
    values, where = apply_n(
        max_pool2d_with_indices.op,
        [input.unsqueeze(-2), (1, k), steps, (0, p), (1, d), ceil_mode],
    )
    return values.squeeze(-2), where.squeeze(-2)


@composite("")
@give_signatures(
    "max_pool1d(Tensor self, int[1] kernel_size, int[1]? stride=[], int[1] padding=0, int[1] "
    "dilation=1, bool ceil_mode=False) -> Tensor"
)
def max_pool1d(
    input: Tensor,
    kernel_size: Shape,
    stride: int | Sequence[int] | None,
    padding: Shape,
    dilation: Shape,
    ceil_mode: bool,
) -> Tensor:
    """The largest element of each window of the last dimension.

    Shapes: input ([N,] C, L). Raises: RuntimeError for parameters that don't fit.
    """
    checks.max_line(input._raw, kernel_size, stride, padding, dilation, ceil_mode)
    checks.require(input._raw, "fV", "max_pool1d_impl")
    values = max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)[0]
    return values if values._node is not None else count_writes(values, int(input.dim() == 2))


def _values_alone(dims: int, row: Row) -> AnyCallable:
    name = f"max_pool{dims}d"

    @composite("")
    @give_signatures(
        f"{name}(Tensor self, int[{dims}] kernel_size, int[{dims}]? stride=[], int[{dims}] "
        f"padding=0, int[{dims}] dilation=1, bool ceil_mode=False) -> Tensor"
    )
    def function(
        input: Tensor,
        kernel_size: Shape,
        stride: Shape,
        padding: Shape,
        dilation: Shape,
        ceil_mode: bool,
    ) -> Tensor:
        """The largest element of each window of the last dimensions.

        Shapes: input ([N,] C, places…). Raises: RuntimeError for parameters that don't fit.
        """
        return apply_n(row.op, [input, kernel_size, stride, padding, dilation, ceil_mode])[0]

    return function


max_pool2d: Final = _values_alone(2, max_pool2d_with_indices)
max_pool3d: Final = _values_alone(3, max_pool3d_with_indices)


def _functional_max(dims: int, plain: AnyCallable, both: AnyCallable) -> None:
    name = f"max_pool{dims}d"

    def with_indices(
        input: object, kernel_size: int | Sequence[int], stride: Any = None, padding: Any = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> Any:  # fmt: skip
        """The largest element of each window, and its place in the plane."""
        return both(input, kernel_size, _none(stride), padding, dilation, ceil_mode)

    def function(
        input: Tensor,
        kernel_size: int | Shape,
        stride: int | Shape | None = None,
        padding: int | Shape = 0,
        dilation: int | Shape = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """The largest element of each window; with `return_indices` also its place."""
        if return_indices:
            return both(input, kernel_size, _none(stride), padding, dilation, ceil_mode)
        return plain(input, kernel_size, _none(stride), padding, dilation, ceil_mode)

    function.__name__ = function.__qualname__ = name
    with_indices.__name__ = with_indices.__qualname__ = name + "_with_indices"
    composite("nn.functional", name=name)(function)
    composite("nn.functional", name=name + "_with_indices")(with_indices)


def _none(stride: int | Shape | None) -> int | Shape:
    return () if stride is None else stride


def _row_function(row: Row) -> AnyCallable:
    return lambda *args: table(row.schema.name)(*args)


_functional_max(1, max_pool1d, max_pool1d_with_indices)
_functional_max(2, max_pool2d, _row_function(max_pool2d_with_indices))
_functional_max(3, max_pool3d, _row_function(max_pool3d_with_indices))


# ---- power means ------------------------------------------------------------------------------
def _lp_pool(dims: int) -> AnyCallable:
    def function(
        input: Tensor,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
    ) -> Any:
        """The `norm_type`-norm of each window of the last dimensions."""
        k: tuple[int, ...] = checks.by_dimension(kernel_size, dims) if dims > 1 else ()
        if dims == 2:
            _, _ = k  # Python says what doesn't fit
        elif dims == 3:
            _, _, _ = k
        means = table(f"avg_pool{dims}d")
        powers = input.pow(norm_type)
        if stride is None:
            out = means(powers, kernel_size, padding=0, ceil_mode=ceil_mode)
        else:
            out = means(powers, kernel_size, stride, 0, ceil_mode)
        count: Any = kernel_size
        if dims > 1:
            count = 1
            for n in k:
                count = count * n
        return (out.sign() * table("relu")(out.abs())).mul(count).pow(1.0 / norm_type)

    function.__name__ = function.__qualname__ = f"lp_pool{dims}d"
    return function


for _dims in (1, 2, 3):
    composite("nn.functional", name=f"lp_pool{_dims}d")(_lp_pool(_dims))


# ---- the way back from maxima -----------------------------------------------------------------
def _unpool(dims: int) -> AnyCallable:
    def forward(x: Array, indices: Array, output_size: Shape, *steps: Shape) -> Array:
        alert(f"max_unpooling{dims}d_forward_out")
        checks.unpool(dims, x, indices, output_size, *steps[:1])
        if prod(output_size):
            checks.require(x, "fV", f"max_unpool{dims}d")
        out = raw.unpool(x, indices, tuple(output_size))
        return follow_layout(out, x) if dims == 2 else out

    return forward


def _unpool_row(dims: int, further: str, rest: tuple[object, ...]) -> Row:
    return linear(
        f"max_unpool{dims}d(Tensor self, Tensor indices, int[{dims}] output_size{further}) -> "
        "Tensor",
        _unpool(dims),
        self=lambda xp, g, indices: xp.pick_from_planes(g, indices, dims),
        node=f"MaxUnpool{dims}DBackward0",
        namespace="private",
        dtypes="float",
        refuses_values="any",
        samples=lambda mk: [
            (
                mk(2, *(2,) * dims),
                (mk(2, *(2,) * dims, low=0, high=1, integer=True) * 0) + table_of_places(mk, dims),
                (4,) * dims,
                *rest,
            )
        ],
        doc="Zeros with planes of `output_size`, and the elements at their places.",
    )


def table_of_places(mk: object, dims: int) -> Tensor:
    """Distinct places for the samples."""
    return table("arange")(2**dims).reshape((2,) * dims) * 3 % 4**dims


max_unpool2d_row = _unpool_row(2, "", ())
max_unpool3d_row = _unpool_row(3, ", int[3] stride, int[3] padding", ((2, 2, 2), (0, 0, 0)))


def _refuse_sizes(
    dims: int, input: object, indices: object, size: Shape, s: object, p: object
) -> None:
    """Refuses sizes that aren't whole numbers, in the words of the operation that gets them.

    Raises:
        TypeError: where it refuses them.
    """
    if dims == 3:
        problem = complaint_of_c("nn", "max_unpool3d", (input, indices, list(size), s, p), {})
    else:
        problem = complaint_of_c("nn", "max_unpool2d", (input, indices, list(size)), {})
    if problem is not None:
        raise problem


def _unpool_function(dims: int) -> AnyCallable:
    def function(
        input: Tensor,
        indices: Tensor,
        kernel_size: int | Shape,
        stride: Shape | None = None,
        padding: int | Shape = 0,
        output_size: Shape | None = None,
    ) -> Any:
        """The partial inverse of max pooling: zeros, and the elements where they came from.

        Raises: ValueError for an impossible `output_size`, RuntimeError for wrong indices.
        """
        k = checks.by_dimension(kernel_size, dims)
        s = k if stride is None else checks.by_dimension(stride, dims)
        p = checks.by_dimension(padding, dims)
        if len(input.size()) < len(k):
            raise IndexError("tuple index out of range")
        size = checks.unpool_size(input, k, s, p, output_size)
        if any(type(n) is not int for n in (*size, *s, *p)):
            _refuse_sizes(dims, input, indices, tuple(size), s, p)
        if dims == 3:
            return apply_n(max_unpool3d_row.op, [input, indices, tuple(size), s, p])
        if dims == 2:
            return apply_n(max_unpool2d_row.op, [input, indices, tuple(size)])
        out = apply_n(max_unpool2d_row.op, [input.unsqueeze(-1), indices.unsqueeze(-1), (*size, 1)])
        return out.squeeze(-1)

    function.__name__ = function.__qualname__ = f"max_unpool{dims}d"
    return function


for _dims in (1, 2, 3):
    composite("nn.functional", name=f"max_unpool{_dims}d")(_unpool_function(_dims))
