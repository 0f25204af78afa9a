"""Pooling to a given size: adaptive means and maxima, and maxima of windows at random places."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._array.memory.dense_layout import suggests_channels_last
from ..._array.nn.channels_last import follow_layout
from ..._base import errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..calls.python_argument_errors import take_as_c
from ..calls.signed_functions import give_signatures
from ..rows.composite import composite
from ..rows.gradient_kernels import calling
from ..rows.row import Row, linear
from ..rows.tensor_namespace import table
from .pool import max_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from ..._tensor.tensor import Tensor

checks = later("_table.calls.pooling_checks")

raw = later("_array.nn.pooling")
resample = later("_array.nn.interpolation")


def _sizes(output_size: int | Sequence[int | None], shape: Shape, dims: int) -> int | Shape:
    """The sizes asked for; None stands for the input's own.

    Raises:
        ValueError: for more sizes than the input has dimensions.
    """
    if isinstance(output_size, int):
        if not -(2**63) <= output_size < 2**63:
            raise ValueError(errors.LONG)
        return output_size
    if len(shape) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    own = shape[-len(output_size) :]
    return tuple([n if v is None else v for v, n in zip(output_size, own)])


def _refuse_empty(name: str, x: Array, dims: int, is_max: bool) -> None:
    first = 1 if is_max else x.ndim - dims
    if is_max and x.ndim == dims + 1:
        first = 0 if dims == 1 else 1
    for axis in range(first, x.ndim):
        if not x.shape[axis]:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {list(x.shape)} with dimension {axis} being empty"
            )


# ---- means ------------------------------------------------------------------------------------
def _mean_forward(dims: int) -> AnyCallable:
    name = f"adaptive_avg_pool{dims}d"

    def forward(x: Array, output_size: Shape) -> Array:
        _refuse_empty(name, x, dims, dims == 3)
        kernel = name if dims == 2 else name + "_cpu"
        out = tuple(output_size)
        if dims == 2 and (not x.size or 0 in out):  # of any type
            return T.empty((*x.shape[:-2], *out), x.dtype)
        checks.require(x, "fV", kernel)
        y = resample.adaptive_avg_pool(x, out)
        return follow_layout(y, x) if dims == 2 else y

    return forward


def _mean_backward(dims: int) -> AnyCallable:
    def backward(g: Array, size: Shape) -> Array:
        d = resample.adaptive_avg_pool_backward(g, size)
        return follow_layout(d, g) if dims == 2 else d

    return backward


def _mean_rows(dims: int) -> tuple[Row, Row]:
    name = f"_adaptive_avg_pool{dims}d"
    backward = linear(
        f"{name}_backward(Tensor grad_output, int[] size) -> Tensor",
        _mean_backward(dims),
        grad_output=calling(
            lambda: row, output_size=lambda grad_output_shape: grad_output_shape[-dims:]
        ),
        node=f"AdaptiveAvgPool{dims}DBackwardBackward0",
        namespace="private",
        samples=lambda mk: [(mk(2, *(2,) * dims), (5,) * dims)],
        doc="The gradient of adaptive means for their input of `size`.",
    )
    row: Row = linear(
        f"{name}(Tensor self, int[{dims}] output_size) -> Tensor",
        _mean_forward(dims),
        self=calling(lambda: backward, size=lambda self: tuple(self.shape[-dims:])),
        node=f"AdaptiveAvgPool{dims}DBackward0",
        dtypes="float",
        samples=lambda mk: [
            (mk(1, 2, *(5,) * dims), (3,) * dims),
            (mk(2, *(4,) * dims), (2,) * dims),
        ],
        doc="The means of windows that divide the last dimensions evenly.",
    )
    return row, backward


_adaptive_avg_pool2d, _adaptive_avg_pool2d_backward = _mean_rows(2)
_adaptive_avg_pool3d, _adaptive_avg_pool3d_backward = _mean_rows(3)


def _means(input: Tensor, size: Shape, dims: int, row: Row) -> Tensor:
    name = f"adaptive_avg_pool{dims}d"
    if len(size) != dims:
        raise RuntimeError(f"{name}: output_size must be {dims}")
    if any(n < 0 for n in size):
        listed = ", ".join(map(str, size)) if dims == 2 else f"{size[0]}, {size[1]},{size[2]}"
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{listed}}}"
        )
    shape = input._raw.shape
    if not all(n == 1 for n in size):
        if len(shape) not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {list(shape)}"
            )
    else:
        out = input.mean(tuple(range(-1, -dims - 1, -1)), keepdim=True)
        if suggests_channels_last(input._raw):
            n, c = shape[:2]
            return out.as_strided_((n, c, *(1,) * dims), (c, 1, *(c,) * dims))
        return out
    return apply_n(row.op, [input, size])


def _mean_function(dims: int, row: Row) -> AnyCallable:
    name = f"adaptive_avg_pool{dims}d"

    @give_signatures(f"{name}(Tensor self, int[{dims}] output_size) -> Tensor")
    def check_size(input: Tensor, output_size: Shape) -> Tensor:
        size = (output_size,) * dims if isinstance(output_size, int) else tuple(output_size)
        return _means(input, size, dims, row)

    def function(input: Tensor, output_size: int | Sequence[int | None]) -> Any:
        """The means of windows that divide the last dimensions evenly; None keeps a size.

        Raises: RuntimeError for sizes that don't fit.
        """
        return check_size(input, _sizes(output_size, input.size(), dims))

    function.__name__ = function.__qualname__ = name
    return function


for _dims, _row in ((2, _adaptive_avg_pool2d), (3, _adaptive_avg_pool3d)):
    composite("nn.functional", name=f"adaptive_avg_pool{_dims}d")(_mean_function(_dims, _row))


@composite("", "nn.functional")
@give_signatures("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor")
def adaptive_avg_pool1d(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The means of windows that divide the last dimension evenly.

    Raises: RuntimeError for shapes and sizes that don't fit.
    """
    checks.line_of(input._raw, "adaptive_avg_pool1d")
    (size,) = checks.single("adaptive_avg_pool1d", output_size=output_size)
    return _means(input.unsqueeze(-2), (1, size), 2, _adaptive_avg_pool2d).squeeze(-2)


# ---- maxima -----------------------------------------------------------------------------------
def _max_forward(dims: int) -> AnyCallable:
    name = f"adaptive_max_pool{dims}d"

    def forward(x: Array, output_size: Shape) -> tuple[Array, ...]:
        if x.ndim not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(x.shape)}"
            )
        _refuse_empty(name, x, dims, True)
        if len(output_size) != dims:
            raise RuntimeError(f"{name}(): internal error: output_size.size() must be {dims}")
        if any(n < 0 for n in output_size):
            shape = [*x.shape[: x.ndim - dims], *output_size]
            raise RuntimeError(errors.negative_dimension(shape))
        checks.require(x, "fV", name if dims == 2 else name + "_cpu")
        values, where = raw.adaptive_max_pool(x, tuple(output_size))
        if dims == 3:
            return values, where
        return follow_layout(values, x), follow_layout(where, x)

    return forward


def _adaptive_max_rows(dims: int) -> tuple[Row, Row]:
    return max_rows(
        f"AdaptiveMaxPool{dims}D",
        f"adaptive_max_pool{dims}d",
        dims,
        f"Tensor self, int[{dims}] output_size",
        _max_forward(dims),
        namespace="private",
        kernel="adaptive_max_pool2d" if dims == 2 else "",
        samples=lambda mk: [
            (mk(1, 2, *(5,) * dims), (3,) * dims),
            (mk(2, *(4,) * dims), (2,) * dims),
        ],
        doc="The largest elements of windows that divide the last dimensions, and their places.",
    )


_max_row2, adaptive_max_pool2d_backward = _adaptive_max_rows(2)
_max_row3, adaptive_max_pool3d_backward = _adaptive_max_rows(3)


@composite("")
@give_signatures("adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)")
def adaptive_max_pool1d(
    input: Tensor, output_size: int | Sequence[int | None] | None
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows that divide the last dimension, and their places.

    Raises: RuntimeError for shapes and sizes that don't fit.
    """
    x = input._raw
    checks.line_of(x, "adaptive_max_pool1d")
    (size,) = checks.single("adaptive_max_pool1d", output_size=output_size)
    for axis in range(1, x.ndim):
        if not x.shape[axis]:
            raise RuntimeError(
                "adaptive_max_pool1d(): Expected input to have non-zero size for non-batch "
                f"dimensions, but input has sizes {list(x.shape)} with dimension {axis} being empty"
            )
    values, where = apply_n(_max_row2.op, [input.unsqueeze(-2), (1, size)])
    return values.squeeze(-2), where.squeeze(-2)


def _max_function(dims: int) -> None:
    name = f"adaptive_max_pool{dims}d"

    def both(input: Tensor, output_size: int | Sequence[int | None]) -> tuple[Tensor, ...]:
        if dims == 1:
            return adaptive_max_pool1d(input, output_size)
        return table(name)(input, _sizes(output_size, input.size(), dims))

    def with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        """The largest elements of windows that divide the last dimensions, and their places."""
        return both(input, output_size)

    def function(
        input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
    ) -> Any:
        """The largest elements of windows that divide the last dimensions evenly.

        With `return_indices` also their places. Raises: RuntimeError for sizes that don't fit.
        """
        found = both(input, output_size)
        return found if return_indices else found[0]

    function.__name__ = function.__qualname__ = name
    with_indices.__name__ = with_indices.__qualname__ = name + "_with_indices"
    composite("nn.functional", name=name)(function)
    composite("nn.functional", name=name + "_with_indices")(with_indices)


for _dims in (1, 2, 3):
    _max_function(_dims)


# ---- windows at random places -----------------------------------------------------------------
_AXES: Final = ("time", "height", "width")


def _fractional_forward(dims: int) -> AnyCallable:
    name = "fractional_max_pool2d" if dims == 2 else "fractional_max_pool3d_out"

    def forward(x: Array, kernel_size: Shape, output_size: Shape, samples: Any) -> Any:
        for word, value in (("kernel_size", kernel_size), ("output_size", output_size)):
            if len(value) != dims:
                raise RuntimeError(
                    f"fractional_max_pool{dims}d: {word} must either be a single Int or tuple of "
                    + ("Ints" if dims == 2 else "three Ints")
                )
        if x.ndim not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(x.shape)}"
            )
        for axis in range(1, x.ndim):
            if not x.shape[axis]:
                raise RuntimeError(
                    f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
                    f"got{list(x.shape)} with dimension {axis} being empty."
                )
        size = x.shape[x.ndim - dims :]
        for place, n, k, out in zip(_AXES[3 - dims :], size, kernel_size, output_size):
            if out + k - 1 >= n + (dims == 2):
                raise RuntimeError(
                    f"{name}(): pool {place} {k} too large relative to input {place} {n}"
                )
        lead = x.shape[: x.ndim - dims]
        if min(output_size) < 0:
            raise RuntimeError(errors.negative_dimension([*lead, *output_size]))
        if samples.dtype != x.dtype:
            raise RuntimeError("Expect _random_samples to have the same dtype as input")
        if samples.ndim != 3:
            raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
        count, channels = (1, x.shape[0]) if x.ndim == dims + 1 else x.shape[:2]
        if samples.shape[0] < count:
            raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
        if samples.shape[1] != channels:
            raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
        if samples.shape[2] != dims:
            raise RuntimeError(
                f"Expect _random_samples.size(2) equals to {dims}; got {samples.shape[2]}."
            )
        checks.require(x, "fV", f"fractional_max_pool{dims}d_out_frame")
        return raw.fractional_max_pool(x, tuple(kernel_size), tuple(output_size), samples[:count])

    return forward


def _with_sizes(gradient: AnyCallable) -> AnyCallable:
    def formula(
        xp: ModuleType,
        g0: TensorLike,
        self: TensorLike,
        indices: TensorLike,
        kernel_size: Shape,
        output_size: Shape,
    ) -> Any:
        return gradient(xp, g0, self, indices)

    return formula


def _fractional_rows(dims: int) -> tuple[Row, Row]:
    return max_rows(
        f"FractionalMaxPool{dims}D",
        f"fractional_max_pool{dims}d",
        dims,
        f"Tensor self, int[{dims}] kernel_size, int[{dims}] output_size, Buffer random_samples",
        _fractional_forward(dims),
        shown=_with_sizes,
        namespace="private",
        samples=lambda mk: [
            (
                mk(1, 2, *(5,) * dims),
                (2,) * dims,
                (2,) * dims,
                mk(1, 2, dims, low=0.1, high=0.9),
            )
        ],
        doc="The largest elements of windows at places that random numbers choose, and theirs.",
    )


_fractional2, fractional_max_pool2d_backward = _fractional_rows(2)
_fractional3, fractional_max_pool3d_backward = _fractional_rows(3)


def _fractional(dims: int) -> None:
    name = f"fractional_max_pool{dims}d"
    row = _fractional2 if dims == 2 else _fractional3

    def with_indices(
        input: Tensor, kernel_size: int, output_size: Any = None, output_ratio: Any = None,
        return_indices: bool = False, _random_samples: object = None,
    ) -> tuple[Tensor, ...]:  # fmt: skip
        """The largest elements of windows at random places, and where they are.

        Raises: ValueError without a size or a ratio, RuntimeError for sizes that don't fit.
        """
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            ratio = output_ratio
            if dims == 3:
                ratio = tuple(ratio) if isinstance(ratio, Iterable) else (ratio,) * 3
            elif len(ratio) > dims:
                raise ValueError(
                    f"{name} requires output_ratio to either be a single Int or tuple of Ints."
                )
            output_size = [int(input.size(i - dims) * ratio[i]) for i in range(dims)]
        if _random_samples is None:
            count = 1 if input.dim() == dims + 1 else input.size(0)
            planes = input.size(-dims - 1)
            if input._raw.dtype.kind not in "fVc":
                checks.require(input._raw, "", "check_uniform_bounds")
            _random_samples = table("rand")(count, planes, dims, dtype=input.dtype)
        given = input, kernel_size, output_size, _random_samples
        _, kernel_size, output_size, _ = take_as_c("nn", name, given)
        k = checks.by_dimension(kernel_size, dims)
        out = checks.by_dimension(output_size, dims)
        return apply_n(row.op, [input, k, out, _random_samples])

    def function(
        input: Tensor,
        kernel_size: int,
        output_size: int | Shape | None = None,
        output_ratio: object = None,
        return_indices: bool = False,
        _random_samples: object = None,
    ) -> Any:
        """The largest elements of windows at random places; with `return_indices` also theirs.

        Raises: ValueError without a size or a ratio, RuntimeError for sizes that don't fit.
        """
        found = with_indices(
            input, kernel_size, output_size, output_ratio, return_indices, _random_samples
        )
        return found if return_indices else found[0]

    function.__name__ = function.__qualname__ = name
    with_indices.__name__ = with_indices.__qualname__ = name + "_with_indices"
    composite("nn.functional", name=name)(function)
    composite("nn.functional", name=name + "_with_indices")(with_indices)


for _dims in (2, 3):
    _fractional(_dims)
