"""What convolution refuses, in PyTorch's words and order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..._array import types as T
from ..._base import dtypes as D, errors

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Shape, TensorLike

Sizes = tuple[int, ...]


def _by(sizes: list[int]) -> str:
    return "(" + " x ".join(map(str, sizes)) + ")"


def each(name: str, given: Shape, dims: int, wanted: str) -> tuple[int, ...]:
    """A parameter for each dimension: one number stands for all."""
    values = (given,) if isinstance(given, int) else tuple(given)
    if len(values) == 1:
        return values * dims
    if len(values) != dims:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dims} values to match the "
            f"{wanted} dimensions, but got {name}={list(values)}"
        )
    return values


def check_shapes(
    x: Sizes,
    w: Sizes,
    bias: Sizes | None,
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    transposed: bool,
    extra: Shape,
    groups: int,
) -> None:
    """Refuses shapes and parameters that don't fit.

    Raises:
        RuntimeError: in PyTorch's words and order.
    """
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(p < 0 for p in extra):
        raise RuntimeError("negative output_padding is not supported")
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(d <= 0 for d in dilation):
        listed = "" if any(d < 0 for d in dilation) else f", but got {list(dilation)}"
        raise RuntimeError(f"dilation should be greater than zero{listed}")
    shape, weights = list(x), list(w)
    if len(shape) != len(weights):
        raise RuntimeError(
            f"Expected {len(weights)}-dimensional input for {len(weights)}-dimensional weight "
            f"{weights}, but got {len(shape)}-dimensional input of size {shape} instead"
        )
    if weights[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {weights} instead"
        )
    if weights[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{weights}] instead"
        )
    wanted, rows = (weights[0], weights[1] * groups) if transposed else (
        weights[1] * groups, weights[0]
    )  # fmt: skip
    given = f"transposed={int(transposed)}" if transposed else f"groups={groups}"
    if shape[1] != wanted:
        raise RuntimeError(
            f"Given {given}, weight of size {weights}, expected input{shape} to have {wanted} "
            f"channels, but got {shape[1]} channels instead"
        )
    if bias is not None and bias != (rows,):
        start = f"Given {given}, weight" if transposed else "Given weight"
        raise RuntimeError(
            f"{start} of size {weights}, expected bias to be 1-dimensional with {rows} elements, "
            f"but got bias of size {list(bias)} instead"
        )
    if transposed:
        _check_transposed(shape, weights, stride, padding, dilation, extra)
        _check_places(shape)
        return
    room = [n + 2 * p for n, p in zip(shape[2:], padding)]
    reach = [d * (k - 1) + 1 for k, d in zip(weights[2:], dilation)]
    if any(n < k for n, k in zip(room, reach)):
        raise RuntimeError(
            f"Calculated padded input size per channel: {_by(room)}. Kernel size: {_by(reach)}. "
            "Kernel size can't be greater than actual input size"
        )
    _check_kernel(weights[2:])
    _check_places(shape)


def _check_places(shape: list[int]) -> None:
    """Refuses samples without places: only a batch or channels may be none."""
    if 0 not in shape[:2] and 0 in shape[2:]:
        shown = [*shape[:2], 1, shape[2]] if len(shape) == 3 else shape
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {shown}"
        )


_AXES: Final = ("depth", "height", "width")


def _check_kernel(k: list[int]) -> None:
    if all(k):
        return
    sizes = [1, *k] if len(k) == 1 else list(k)
    text = " ".join(f"kernel_{a}: {n}" for a, n in zip(_AXES[3 - len(sizes) :], sizes))
    raise RuntimeError(f"kernel size should be greater than zero, but got {text}")


def _check_transposed(
    shape: list[int],
    weights: list[int],
    stride: Shape,
    padding: Shape,
    dilation: Shape,
    extra: Shape,
) -> None:
    _check_kernel(weights[2:])
    if len(shape) == 3:  # PyTorch does it in two dimensions
        stride, dilation = (1, *stride), (1, *dilation)
        extra, padding = (0, *extra), (0, *padding)
        shape, weights = [*shape[:2], 1, shape[2]], [*weights[:2], 1, weights[2]]
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation)):
        names = _AXES[3 - len(stride) :]
        listed = " ".join(
            f"{word}_{a}: {n}"
            for word, values in (
                ("output_padding", extra), ("stride", stride), ("dilation", dilation),
            )
            for a, n in zip(names, values)
        )  # fmt: skip
        raise RuntimeError(
            f"output padding must be smaller than either stride or dilation, but got {listed}"
        )
    out = [
        (n - 1) * s - 2 * p + d * (k - 1) + 1 + e
        for n, s, p, d, k, e in zip(shape[2:], stride, padding, dilation, weights[2:], extra)
    ]
    if any(n < 0 for n in out):
        raise _too_small(shape[2:], out)


def _too_small(given: list[int], out: list[int]) -> RuntimeError:
    return RuntimeError(
        f"Given input size per channel: {_by(given)}. Calculated output size per channel: "
        f"{_by(out)}. Output size is too small"
    )


# Elements of a sample from which PyTorch leaves a transposed convolution to oneDNN.
_MUCH: Final = 20_480


def check_some_output(x: Array, w: Array, size: Shape, groups: int) -> None:
    """Refuses a transposed convolution to no places where PyTorch's own kernel computes it.

    oneDNN's gives the empty result. It is taken (by a program with several threads) for bfloat16,
    and for float32 where there are several samples or groups, or much to do.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    kind = T.from_raw(x.dtype)
    large = min(w.shape[-2:]) > 3 and w.ndim > 3
    much = groups > 1 or x.shape[0] > 1 or large or x.size > _MUCH
    if not x.shape[0] or kind is D.bfloat16 or (kind is D.float32 and much):
        return
    one = [1] if x.ndim == 3 else []  # PyTorch does it in two dimensions
    raise _too_small([*one, *x.shape[2:]], [*one, *size])


_SHORT: Final = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>", "int64": "long int",
    "int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char",
    "bool": "bool",
}  # fmt: skip


def _kernel(dims: int, transposed: bool, dilated: bool, by_columns: bool) -> str:
    """PyTorch's kernel of whole numbers."""
    if transposed:
        return f"slow_conv_transpose{max(dims, 2)}d_out_cpu"
    if dilated:
        return "slow_conv_dilated<>"
    if dims == 3:
        return "compute_columns3d" if by_columns else "slow_conv3d_cpu"
    return "slow_conv2d_cpu"


def check_types(
    x: Array,
    w: Array,
    bias: TensorLike | None,
    dims: int,
    transposed: bool,
    dilated: bool = False,
    moved: bool = False,
) -> None:
    """Refuses operands of different types, and those that PyTorch has no kernel for.

    `moved` says that windows are padded or lie apart.

    Raises:
        NotImplementedError: for bools; for whole numbers but int64 in transposed or dilated ones.
        RuntimeError: for operands of different types.
    """
    given = T.from_raw(x.dtype)
    if bias is not None and bias.dtype != x.dtype:
        other = T.from_raw(bias.dtype)
        raise RuntimeError(
            f"Input type ({_SHORT.get(given.name, given.name)}) and bias type "
            f"({_SHORT.get(other.name, other.name)}) should be the same"
        )
    whole = x.dtype.kind in "iu" and given is not D.int64 and (transposed or dilated)
    if (whole or given is D.bool_) and x.size:
        name = _kernel(dims, transposed, dilated, moved or max(w.shape[2:]) > 1)
        raise NotImplementedError(errors.not_implemented(name, D.scalar_name(given)))
    if w.dtype != x.dtype:
        other = T.from_raw(w.dtype)
        if given.is_complex:
            kinds = [f"{D.scalar_name(t)}" for t in (given, other)]
            raise RuntimeError(
                f"Input type (CPU{kinds[0]}Type) and weight type (torch.{kinds[1]}Tensor) should "
                "be the same"
            )
        raise RuntimeError(
            f"expected scalar type {D.scalar_name(given)} but found {D.scalar_name(other)}"
        )
