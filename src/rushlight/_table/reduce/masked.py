"""Reductions and normalisations that leave masked-out elements aside: `torch.masked`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.numeric_limits import iinfo
from ..._core.storage import TensorBase
from ..rows.composite import composite
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import Scalar, TensorLike
    from ..._tensor.tensor import Tensor

_INF = float("inf")


# ---- what they share ----------------------------------------------------------------------------
def _dims(dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """`dim` as sorted dimensions; all for None.

    Raises: RuntimeError for repeated ones, IndexError for ones that aren't there.
    """
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    given = (dim,) if isinstance(dim, int) else tuple(dim)
    limit = ndim or 1
    found: list[int] = []
    for d in given:
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if not -limit <= d < limit:
            raise IndexError(errors.dimension(d, ndim))
        found.append(d % limit)
    return tuple(sorted(found)) if ndim else ()


def _mask(input: Any, mask: Any) -> Tensor:
    """The mask as bools of the input's shape."""
    if mask._raw.ndim > input._raw.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
            "input)"
        )
    if mask._raw.shape != input._raw.shape:
        mask = mask.expand(input._raw.shape)
    return mask if mask._raw.dtype.kind == "b" else mask.to(D.bool_)


def _fill(input: object, mask: object, value: object) -> Any:
    """The input with `value` where it is masked out."""
    if mask is None:
        return input
    fill = table("tensor")(value, dtype=T.dtype_of(input))
    return table("where")(_mask(input, mask), input, fill)


def _lowest(dtype: D.dtype) -> float:
    if dtype.category >= D.FLOAT:
        return -_INF
    return 0 if dtype is D.bool_ else iinfo(dtype).min


def _highest(dtype: D.dtype) -> float:
    if dtype.category >= D.FLOAT:
        return _INF
    return 1 if dtype is D.bool_ else iinfo(dtype).max


def _check(name: str, input: Any, mask: Any) -> None:
    if not isinstance(input, TensorBase):
        raise AttributeError(f"'{type(input).__name__}' object has no attribute 'layout'")
    if mask is not None and not isinstance(mask, TensorBase):
        raise AttributeError(f"'{type(mask).__name__}' object has no attribute 'shape'")


def _sum_dtype(input: object, dtype: D.dtype | None) -> D.dtype:
    """The type of a sum or a product: integers become int64."""
    if dtype is not None:
        return dtype
    have = T.dtype_of(input)
    return D.int64 if have.category < D.FLOAT else have


def _convert_result(result: Any, dtype: D.dtype | None) -> Tensor:
    return result if dtype is None or T.dtype_of(result) is dtype else result.to(dtype)


# ---- reductions ---------------------------------------------------------------------------------
@composite("masked")
def sum(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: D.dtype | None = None,
        mask: object = None) -> Tensor:  # fmt: skip
    """The sum over `dim` of the elements that the mask keeps; 0 where there is none."""
    _check("sum", input, mask)
    want = _sum_dtype(input, dtype)
    x = _fill(input, mask, 0)
    return table("sum")(x, _dims(dim, input._raw.ndim), bool(keepdim), dtype=want)


@composite("masked")
def prod(input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool = False,
         dtype: D.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The product over `dim` of the elements that the mask keeps; 1 where there is none."""
    _check("prod", input, mask)
    want = _sum_dtype(input, dtype)
    x = _convert_result(_fill(input, mask, 1), want)
    for d in reversed(_dims(dim, input._raw.ndim)):
        x = table("prod")(x, d, bool(keepdim))
    return x


@composite("masked")
def amax(input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool = False,
         dtype: D.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The largest of the elements that the mask keeps; the type's lowest where there is none."""
    _check("amax", input, mask)
    x = _fill(input, mask, _lowest(T.dtype_of(input)))
    return _convert_result(table("amax")(x, _dims(dim, input._raw.ndim), bool(keepdim)), dtype)


@composite("masked")
def amin(input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool = False,
         dtype: D.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The smallest of the elements that the mask keeps; the type's highest where there is none."""
    _check("amin", input, mask)
    x = _fill(input, mask, _highest(T.dtype_of(input)))
    return _convert_result(table("amin")(x, _dims(dim, input._raw.ndim), bool(keepdim)), dtype)


@composite("masked")
def argmax(input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool = False,
           dtype: D.dtype | None = None,
           mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The place of the largest element that the mask keeps, in the type of the input."""
    _check("argmax", input, mask)
    x = _fill(input, mask, _lowest(T.dtype_of(input)))
    return table("argmax")(x, dim, bool(keepdim)).to(dtype or T.dtype_of(input))


@composite("masked")
def argmin(input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool = False,
           dtype: D.dtype | None = None,
           mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The place of the smallest element that the mask keeps, in the type of the input."""
    _check("argmin", input, mask)
    x = _fill(input, mask, _highest(T.dtype_of(input)))
    return table("argmin")(x, dim, bool(keepdim)).to(dtype or T.dtype_of(input))


@composite("masked")
def mean(input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool = False,
         dtype: D.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The mean over `dim` of the elements that the mask keeps; nan where there is none.

    Raises: ValueError for integers without a `dtype`.
    """
    _check("mean", input, mask)
    have = T.dtype_of(input)
    if dtype is None and have.category < D.FLOAT:
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {have!r}".replace("rushlight.", "torch.")
        )
    want = have if dtype is None else dtype
    if want.category < D.FLOAT:
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {want!r}".replace("rushlight.", "torch.")
        )
    count = _count(input, dim, keepdim, mask)
    return sum(input, dim, keepdim=keepdim, dtype=want, mask=mask) / count


def _count(input: Any, dim: object, keepdim: bool, mask: Tensor | None) -> Tensor:
    """How many elements the mask keeps over `dim`."""
    if isinstance(dim, (tuple, list)) and len(set(dim)) < len(dim):
        raise RuntimeError(f"dim {dim[0]} appears multiple times in the list of dims")
    ones = table("ones")(input._raw.shape, dtype=D.int64)
    if mask is None:
        if dim is None or dim == ():
            dim = tuple(range(input._raw.ndim))
        return table("sum")(ones, dim, bool(keepdim))
    return sum(ones, dim, keepdim=keepdim, mask=mask)


@composite("masked")
def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: D.dtype | None = None,
           mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The median along `dim` of the elements that the mask keeps; nan where there is none.

    Raises: ValueError for integers of which a row is masked out.
    """
    _check("median", input, mask)
    want = T.dtype_of(input) if dtype is None or input.is_floating_point() else dtype
    d = _dims(dim, input._raw.ndim)
    axis = d[0] if d else 0
    is_float = T.dtype_of(input).is_floating_point
    x = input
    if not is_float:
        if mask is not None and not bool(table("any")(_mask(input, mask), axis).all()):
            raise ValueError(
                "masked median expects no fully masked out rows if dtype is not floating point"
            )
        x = input.to(D.float64)
    x = _fill(x, mask, float("nan"))
    return _convert_result(table("nanmedian")(x, axis, keepdim)[0], want)


@composite("masked")
def logsumexp(input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool = False,
              dtype: D.dtype | None = None,
              mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The logarithm of the sum of exponentials of the elements that the mask keeps."""
    _check("logsumexp", input, mask)
    want = T.dtype_of(input) if dtype is None else dtype
    x = _fill(input, mask, _lowest(T.dtype_of(input)))
    return _convert_result(table("logsumexp")(x, _dims(dim, input._raw.ndim), bool(keepdim)), want)


@composite("masked")
def logaddexp(input: Tensor, other: Tensor | Scalar, *, dtype: D.dtype | None = None,
              input_mask: object = None,
              other_mask: object = None) -> Tensor:  # fmt: skip
    """log(exp(input) + exp(other)), where what is masked out counts as -inf.

    Parameters:
        input, other: the operands.
        dtype: the type of the result; None: the input's.
        input_mask, other_mask: true for the elements that count; None: all.
    Shapes: all are broadcast to one shape, which is the result's.
    Returns: Tensor.
    Raises: TypeError: for arguments of other types. RuntimeError: for shapes that don't fit.
    Example:
        >>> x, mask = torch.tensor([0.0, 0.0]), torch.tensor([True, False])
        >>> torch.masked.logaddexp(x, x, input_mask=mask, other_mask=mask)
        tensor([0.6931,   -inf])
    """
    want = T.dtype_of(input) if dtype is None else dtype
    a = _fill(input, input_mask, -_INF)
    b = _fill(other, other_mask, -_INF)
    return _convert_result(table("logaddexp")(a, b), want)


@composite("masked")
def norm(input: Tensor, ord: float | None = 2.0, dim: int | Sequence[int] | None = None, *,
         keepdim: bool = False,
         dtype: D.dtype | None = None, mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The vector norm over `dim` of the elements that the mask keeps."""
    _check("norm", input, mask)
    order = 2.0 if ord is None else ord
    x = _fill(input, mask, 0.0 if order >= 0 else _INF)
    dims = _dims(dim, input._raw.ndim)
    return table("vector_norm")(x, order, dims, bool(keepdim), dtype=dtype)


def _variance(
    input: TensorLike,
    dim: int | Sequence[int] | None,
    unbiased: object,
    correction: Any,
    keepdim: bool,
    dtype: D.dtype | None,
    mask: Tensor | None,
) -> Tensor:
    """The variance."""
    _check("var", input, mask)
    if unbiased is not None and correction is not None:
        raise RuntimeError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    have = T.dtype_of(input)
    want = dtype if dtype is not None else have
    if want.category < D.FLOAT:
        want = D.float32
    count = _count(input, dim, True, mask)
    center = sum(input, dim, keepdim=True, dtype=want, mask=mask) / count
    if mask is None:
        x = input - center
    else:
        away = table("where")(_mask(input, mask), input, table("zeros_like")(input))
        x = away - center
    total = sum(x * x.conj(), dim, keepdim=keepdim, dtype=want, mask=mask)
    if not keepdim:
        count = count.reshape(total._raw.shape)
    if correction:
        count = (count - correction).clamp(min=0)
    return (total / count).to(want)


@composite("masked")
def var(input: Tensor, dim: int | Sequence[int] | None = None, unbiased: bool | None = None, *,
        correction: Any = None,
        keepdim: bool = False, dtype: D.dtype | None = None,
        mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The variance over `dim` of the elements that the mask keeps."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask)


@composite("masked")
def std(input: Tensor, dim: int | Sequence[int] | None = None, unbiased: bool | None = None, *,
        correction: Any = None,
        keepdim: bool = False, dtype: D.dtype | None = None,
        mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The standard deviation over `dim` of the elements that the mask keeps."""
    return table("sqrt")(_variance(input, dim, unbiased, correction, keepdim, dtype, mask))


# ---- along a dimension --------------------------------------------------------------------------
def _axis(dim: int, input: Tensor) -> int:
    found = _dims(dim, input._raw.ndim)
    return found[0] if found else 0


def _running_type(name: str, input: Tensor, dtype: D.dtype | None) -> D.dtype:
    want: D.dtype = T.dtype_of(input) if dtype is None else dtype
    if want is D.bool_:
        raise NotImplementedError(errors.not_implemented(f"{name}_out_cpu", "Bool"))
    return want


@composite("masked")
def cumsum(
    input: Tensor, dim: int, *, dtype: D.dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Running sums of the elements that the mask keeps."""
    _check("cumsum", input, mask)
    want = _running_type("cumsum", input, dtype)
    return table("cumsum")(_fill(input, mask, 0), _axis(dim, input), dtype=want)


@composite("masked")
def cumprod(
    input: Tensor, dim: int, *, dtype: D.dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Running products of the elements that the mask keeps."""
    _check("cumprod", input, mask)
    want = _running_type("cumprod", input, dtype)
    return table("cumprod")(_fill(input, mask, 1), _axis(dim, input), dtype=want)


def _softmax(
    name: str, input: Tensor, dim: int, dtype: D.dtype | None, mask: Tensor | None
) -> Tensor:
    _check(name, input, mask)
    axis = _axis(dim, input)
    x = _fill(input, mask, _lowest(T.dtype_of(input)))
    return table(name)(x, axis, dtype=dtype)


@composite("masked")
def softmax(
    input: Tensor, dim: int, *, dtype: D.dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Probabilities of the elements that the mask keeps; 0 for the others."""
    return _softmax("softmax", input, dim, dtype, mask)


@composite("masked")
def log_softmax(
    input: Tensor, dim: int, *, dtype: D.dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Log-probabilities of the elements that the mask keeps; -inf for the others."""
    return _softmax("log_softmax", input, dim, dtype, mask)


@composite("masked")
def softmin(
    input: Tensor, dim: int, *, dtype: D.dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Probabilities that fall with the elements that the mask keeps; 0 for the others."""
    _check("softmin", input, mask)
    axis = _axis(dim, input)
    x = _fill(input, mask, _highest(T.dtype_of(input)))
    return table("softmax")(-x, axis, dtype=dtype)


@composite("masked")
def normalize(input: Tensor, ord: float, dim: int, *, eps: float = 1e-12,
              dtype: D.dtype | None = None,
              mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The input divided by its norm along `dim`, or by `eps` where that is larger.

    Parameters:
        input: the tensor.
        ord: which norm.
        dim: the dimension.
        eps: what the norm is at least.
        dtype: the type of the result; None: the input's.
        mask: true for the elements that count; None: all. The others are 0.
    Shapes: the result has the input's.
    Returns: Tensor.
    Raises: TypeError: for arguments of other types. RuntimeError: for shapes that don't fit.
    Example:
        >>> torch.masked.normalize(torch.tensor([3.0, 4.0]), 2, 0)
        tensor([0.6000, 0.8000])
    """
    _check("normalize", input, mask)
    axis = _axis(dim, input)
    want = T.dtype_of(input) if dtype is None else dtype
    length = norm(input, ord, axis, keepdim=True, dtype=want, mask=mask)
    least = table("tensor")(eps, dtype=T.dtype_of(length))
    return _convert_result(_fill(input, mask, 0), want) / table("maximum")(length, least)
