"""What functions of tensors do with sparse ones: elementwise, sums, selections, joins."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .._array.shape import sparse as raw
from .._base import errors
from .._base.dtypes import bool_, can_cast, scalar_name
from .._core.node import OPERANDS
from .._core.storage import TensorBase, new_tensor
from .._table.calls.argument_parser import complaint_of_c
from .._table.calls.dtype_checks import ONE_BOOL, TWO_BOOLS
from .._tensor.tensor import Tensor
from .coordinates import SparseTensor, functions, lacking, sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import AnyCallable
    from .._base.dtypes import dtype


Rule = TypeVar("Rule", bound="AnyCallable")

_RULES: Final = SparseTensor.RULES

#: Functions that give zero for zero: they act on the values.
_OF_VALUES: Final = (
    "abs", "absolute", "sqrt", "sin", "sinh", "tan", "tanh", "asin", "arcsin", "asinh", "arcsinh",
    "atan", "arctan", "atanh", "arctanh", "sgn", "sign", "floor", "ceil", "round", "trunc", "fix",
    "frac", "expm1", "log1p", "relu", "erf", "erfinv", "square", "deg2rad", "rad2deg", "isnan",
    "isinf", "isposinf", "isneginf", "nan_to_num", "signbit", "conj_physical",
)  # fmt: skip


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers what the functions of these names do with sparse tensors."""

    def register(function: Rule) -> Rule:
        for name in names:
            _RULES[name] = function
        return function

    return register


def _of_values(name: str) -> Callable[..., object]:
    def function(input: SparseTensor, *args: object, **kwargs: object) -> SparseTensor:
        whole: Any = input.coalesce()
        found = getattr(functions, name)(whole.held, *args, **kwargs)
        return _note(whole._with(found), self=whole)

    return function


def _note(found: SparseTensor, **operands: Tensor) -> SparseTensor:
    """A result whose node shows these operands: it has saved their values."""
    node = found.held._node
    if node is not None:
        node.meta = {**(node.meta or {}), OPERANDS: {k: t.detach() for k, t in operands.items()}}
    return found


for _name in _OF_VALUES:
    _RULES[_name] = _of_values(_name)


_SUMS: Final = {"add": 1, "sub": -1}


def _add_into(self: Tensor, sign: int, other: SparseTensor, alpha: float = 1) -> Tensor:
    """A dense tensor with a multiple of a sparse one added, in place."""
    if self._raw.shape != other._raw.shape:
        return self.copy_(_add(self, other, alpha=sign * alpha))
    if sign < 0:
        _refuse_bools(self, other)
    common, held = _times(self, other, sign * alpha)
    if common is not self.dtype:
        _refuse_cast("add", common, self.dtype)
        held = held.to(self.dtype)
    if other.sparse_dim() == 1:
        return self.index_add_(0, other.places[0], held)
    return self.index_put_(tuple(other.places), held, accumulate=True)


def _times(a: Tensor, b: SparseTensor, alpha: float) -> tuple[dtype, Tensor]:
    """The type in which `a` and a multiple of `b` are added, and the elements of that multiple."""
    common: dtype = b.dtype
    if a.dtype is not common:
        common = functions.result_type(a, b)
    held = b.held if b.held.dtype is common else b.held.to(common)
    return common, held if alpha == 1 else held * alpha


def _refuse_bools(a: object, b: object) -> None:
    kinds = [getattr(x, "dtype", None) is bool_ for x in (a, b)]
    if any(kinds):
        raise RuntimeError(TWO_BOOLS if all(kinds) else ONE_BOOL)


def _refuse_cast(name: str, have: dtype, want: dtype, values: bool = False) -> None:
    """Refuses a result of another type in place of a sparse tensor, or into a dense one.

    Raises:
        RuntimeError: where it can't be cast; with `values` also where it would have to be.
    """
    if have is want or (not values and can_cast(have, want)):
        return
    a, b = scalar_name(have), scalar_name(want)
    if values:
        raise RuntimeError(f"dtype of values ({a}) must match dtype of sparse tensor ({b})")
    if name == "div":
        raise RuntimeError(errors.cannot_cast(a, b))
    where = f" in {'mul' if name == 'mul' else 'add'} operation"
    raise RuntimeError(f"Can't convert result type {a} to output {b}{where}")


def _in_place(name: str) -> Callable[..., object]:
    def function(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not isinstance(self, SparseTensor):  # a dense tensor takes over the elements
            if name in _SUMS:
                return _add_into(self, _SUMS[name], *args, **kwargs)
            made = _RULES[name](self, *args, **kwargs)
            _refuse_cast(name, made.dtype, self.dtype)
            return self.copy_(made.to_dense() if _is_sparse(made) else made)
        result = _RULES[name](self, *args, **kwargs)
        if tuple(result.shape) != tuple(self.shape):
            raise RuntimeError(f"{name}_: the result has another size than the sparse tensor")
        _refuse_cast(name, result.dtype, self.dtype, name == "mul" and not _is_sparse(*args))
        held = result.held.to(self.dtype)
        self.places, self.held, self.coalesced = result.places, held, result.coalesced
        return self

    return function


def _is_sparse(*values: object) -> bool:
    return all(isinstance(value, SparseTensor) for value in values)


# ---- arithmetic -------------------------------------------------------------------------------
@rule("neg", "negative")
def _neg(input: SparseTensor) -> SparseTensor:
    return input._with(-input.held)


@rule("_to_copy")
def _to_copy(input: SparseTensor, dtype: dtype, *args: object) -> SparseTensor:
    return input._with(input.held.to(dtype))


@rule("positive", "contiguous")
def _same(input: SparseTensor, **kwargs: object) -> SparseTensor:
    return input


@rule("add", "radd")
def _add(input: Any, other: Any, alpha: float = 1) -> Tensor:
    if _is_sparse(input, other):
        return _sum_of(input, other, alpha)
    if _is_sparse(input):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if tuple(input.shape) != tuple(other.shape):
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but self has size "
            f"{list(input.shape)} while other has size {list(other.shape)} (FYI: dense-sparse "
            "addition does not currently support broadcasting)"
        )
    common, held = _times(input, other, alpha)
    return input.to(common).index_put(tuple(other.places), held, accumulate=True)


def _sum_of(a: SparseTensor, b: SparseTensor, alpha: float) -> SparseTensor:
    if tuple(a.shape) != tuple(b.shape):
        raise RuntimeError(
            "add: expected sizes of 'self' and 'other' to match, but "
            f"{list(a.shape)} != {list(b.shape)}"
        )
    common, added = _times(a, b, alpha)
    a = a._with(a.held.to(common))
    if a.places.shape == b.places.shape and functions.equal(a.places, b.places):
        return a._with(a.held + added)
    places = functions.cat([a.places, b.places], 1)
    joined = sparse(places, functions.cat([a.held, added]), a.shape)
    return joined.coalesce() if a.coalesced and b.coalesced else joined


@rule("sub", "subtract")
def _sub(input: Tensor, other: object, alpha: float = 1) -> Any:
    _refuse_bools(input, other)
    return _add(input, other, alpha=-alpha)


@rule("mul", "multiply", "rmul")
def _mul(input: Any, other: Any) -> Tensor:
    if not _is_sparse(input):
        input, other = other, input
    if not isinstance(other, Tensor) or other._raw.ndim == 0:
        return input._with(input.held * other)
    if isinstance(other, SparseTensor):
        common = functions.result_type(input, other)
        first, second = (t._with(t.held.to(common)) for t in (input, other))
        return _note(_common(first, second.coalesce()), self=input, other=other)
    full = functions.broadcast_to(other, tuple(input.shape))
    return input._with(input.held * full[tuple(input.places)])


def _common(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """The product at the places that both have."""
    shape = tuple(a.shape[: a.sparse_dim()])
    there, at = raw.lookup(raw.keys(a.places._raw, shape), raw.keys(b.places._raw, shape))
    kept, partner = new_tensor(there.nonzero()[0]), new_tensor(at[there])
    return sparse(
        a.places.index_select(1, kept),
        a.held.index_select(0, kept) * b.held.index_select(0, partner),
        a.shape,
        a.coalesced,
    )


@rule("div", "divide", "true_divide")
def _div(input: Tensor, other: object, *, rounding_mode: str | None = None) -> Any:
    if not _is_sparse(input) or (isinstance(other, TensorBase) and other._raw.ndim):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(getattr(other, 'shape', ()))} for divisor)"
        )
    whole: Any = input if rounding_mode is None else input.coalesce()
    return whole._with(functions.div(whole.held, other, rounding_mode=rounding_mode))


@rule("pow")
def _pow(input: SparseTensor, exponent: Tensor | float) -> object:
    if isinstance(exponent, TensorBase) or exponent == 0:
        raise lacking("pow.Tensor_Tensor")
    whole: Any = input.coalesce()
    return whole._with(whole.held**exponent)


for _name in ("add", "sub", "mul", "div", "neg", "pow", *_OF_VALUES):
    _RULES[f"{_name}_"] = _in_place(_name)


@rule("zero_")
def _zero(self: SparseTensor) -> SparseTensor:
    self.places = functions.empty((self.sparse_dim(), 0), dtype=self.places.dtype)
    self.held = functions.empty((0, *self.held.shape[1:]), dtype=self.dtype)
    self.coalesced = True
    return self


def _type_of(t: Tensor) -> str:
    place = "torch.sparse." if _is_sparse(t) else "torch."
    return f"{place}{scalar_name(t.dtype)}Tensor"


@rule("copy_")
def _copy(self: SparseTensor, src: Any, non_blocking: bool = False) -> SparseTensor:
    if not _is_sparse(self, src):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"{_type_of(self)} and src type = {_type_of(src)}"
        )
    self.places, self.coalesced = src.places.clone(), src.coalesced
    self.held = src.held.to(self.dtype).clone()
    return self


@rule("zeros_like", "empty_like")
def _zeros_like(
    input: SparseTensor, *, dtype: dtype | None = None, **kwargs: object
) -> SparseTensor:
    copy = sparse(input.places, input.held.detach().to(dtype or input.dtype), input.shape)
    return _zero(copy)


# ---- sums -------------------------------------------------------------------------------------
@rule("sum")
def sum_of(
    input: SparseTensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    axis: Any = None,
) -> Any:
    """The sum over all dimensions, or over some: sparse while sparse dimensions are left."""
    dim = axis if dim is None else dim
    held = input.held if dtype is None else input.held.to(dtype)
    if dim is None or dim == ():
        return held.sum()
    wanted = (dim,) if isinstance(dim, int) else tuple(dim)
    for d in wanted:
        if not -input.dim() <= d < input.dim():
            raise IndexError(errors.dimension(d, input.dim()))
    gone = {d + input.dim() if d < 0 else d for d in wanted}
    sparse_dims = input.sparse_dim()
    inner = [d - sparse_dims + 1 for d in sorted(gone) if d >= sparse_dims]
    if inner:
        held = held.sum(inner)
    kept = [d for d in range(sparse_dims) if d not in gone]
    if not kept:
        return held.sum(0)
    size = [input.size(d) for d in range(input.dim()) if d not in gone]
    rest = sparse(input.places[kept], held, size).coalesce()
    for d in sorted(gone) if keepdim else ():
        rest = unsqueeze(rest, d)
    return rest


def sum(
    input: Tensor, dim: int | Sequence[int] | None = None, dtype: dtype | None = None
) -> Tensor:
    """The sum over all dimensions, or over some: sparse while sparse dimensions are left.

    Parameters:
        input: a sparse tensor.
        dim: the dimensions that go; None: all.
        dtype: the type in which elements are added; None: their own.
    Shapes: the input's without `dim`.
    Returns: Tensor: dense where no sparse dimension is left.
    Raises: IndexError: where there is no dimension `dim`. RuntimeError: for a dense tensor, and for
        a dimension that stands twice. TypeError: for other arguments.
    Example:
        >>> torch.sparse.sum(torch.eye(2).to_sparse(), 0).to_dense()
        tensor([1., 1.])
    """
    values = (input,) if dim is None else (input, dim)
    problem = complaint_of_c(
        "sparse", "_sparse_sum", values, {} if dtype is None else {"dtype": dtype}
    )
    if problem is not None:
        raise problem
    if not isinstance(input, SparseTensor):
        if dim is None:
            raise RuntimeError("coalesce expected sparse coordinate tensor layout but got Strided")
        raise NotImplementedError(errors.no_kernel("_indices"))
    if dim is not None and not isinstance(dim, int):
        if not dim:
            return input if dtype is None else input.to(dtype)
        places = [d % input.dim() for d in dim]
        for d in places:
            if places.count(d) > 1:
                raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return sum_of(input, dim, dtype=dtype)


@rule("norm", "vector_norm")
def _norm(input: SparseTensor, p: object = "fro", *args: object, **kwargs: object) -> object:
    return input.coalesce().held.norm(2 if p == "fro" else p)


@rule("any")
def _any(input: SparseTensor) -> object:
    return input.coalesce().held.any()


# ---- shapes -----------------------------------------------------------------------------------
@rule("transpose", "swapaxes", "swapdims")
def _transpose(input: SparseTensor, dim0: int, dim1: int) -> SparseTensor:
    a, b = dim0 % input.dim(), dim1 % input.dim()
    order = list(range(input.dim()))
    order[a], order[b] = b, a
    return permute(input, order)


@rule("t", "T", "mT", "adjoint")
def _t(input: SparseTensor) -> SparseTensor:
    if input.dim() > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
            f"{input.sparse_dim()} sparse and {input.dense_dim()} dense dimensions"
        )
    return input if input.dim() < 2 else permute(input, [1, 0])


@rule("permute")
def _permute(input: SparseTensor, *dims: Any) -> SparseTensor:
    order = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    return permute(input, [d % input.dim() for d in order])


def permute(input: SparseTensor, order: list[int]) -> SparseTensor:
    """The tensor with its sparse dimensions, and its dense ones, in another order.

    Raises:
        RuntimeError: where a sparse dimension would become a dense one.
    """
    n = input.sparse_dim()
    if sorted(order[:n]) != list(range(n)):
        raise RuntimeError(
            "permute(sparse): transpositions between sparse and dense dimensions are not allowed."
        )
    size = [input.size(d) for d in order]
    held = input.held.permute(0, *[d - n + 1 for d in order[n:]])
    same = order == list(range(input.dim()))
    return sparse(input.places[order[:n]], held, size, input.coalesced and same)


@rule("unsqueeze")
def unsqueeze(input: SparseTensor, dim: int) -> SparseTensor:
    """The tensor with a dimension of size one more."""
    at = dim + input.dim() + 1 if dim < 0 else dim
    size = [*input.shape[:at], 1, *input.shape[at:]]
    n = input.sparse_dim()
    if at > n:
        return sparse(input.places, input.held.unsqueeze(at - n + 1), size, input.coalesced)
    zeros = functions.zeros((1, input._nnz()), dtype=input.places.dtype)
    places = functions.cat([input.places[:at], zeros, input.places[at:]])
    return sparse(places, input.held, size, input.coalesced)


@rule("select")
def select(input: SparseTensor, dim: int, index: int) -> Tensor:
    """The part at one place of a dimension; dense where no sparse dimension is left."""
    d = dim % input.dim()
    size = [n for i, n in enumerate(input.shape) if i != d]
    if not -input.size(d) <= index < input.size(d):
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at "
            f"dimension {dim}"
        )
    at = index % input.size(d)
    n = input.sparse_dim()
    if d >= n:
        return sparse(input.places, input.held.select(d - n + 1, at), size, input.coalesced)
    hit = (input.places[d] == at).nonzero()[:, 0]
    held = input.held.index_select(0, hit)
    if n == 1:
        return held.sum(0)
    rest = [i for i in range(n) if i != d]
    return sparse(input.places[rest].index_select(1, hit), held, size, input.coalesced)


@rule("getitem")
def _getitem(input: SparseTensor, index: object) -> object:
    result: Any = input
    for one in index if isinstance(index, tuple) else (index,):
        if not isinstance(one, int):
            raise lacking("slice")
        result = select(result, 0, one) if _is_sparse(result) else result[one]
    return result


@rule("index_select")
def _index_select(input: SparseTensor, dim: int, index: Tensor) -> SparseTensor:
    whole, d = input.coalesce(), dim % input.dim()
    size = list(whole.shape)
    size[d] = index.numel()
    n = whole.sparse_dim()
    if d >= n:
        held = whole.held.index_select(d - n + 1, index)
        return sparse(whole.places, held, size, True)
    order = whole.places[d].argsort(stable=True)
    first = raw.starts(whole.places[d].index_select(0, order)._raw, input.size(d))
    new, old = raw.pairs_of(index._raw, first)
    chosen = order.index_select(0, new_tensor(old))
    places = whole.places.index_select(1, chosen)
    places[d] = new_tensor(new)
    return sparse(places, whole.held.index_select(0, chosen), size)


# ---- joins ------------------------------------------------------------------------------------
@rule("cat", "concat", "concatenate")
def _cat(tensors: Sequence[Any], dim: int = 0) -> SparseTensor:
    if not _is_sparse(*tensors):
        raise RuntimeError("Concatenating sparse tensors, but a dense tensor was found")
    d = dim % tensors[0].dim()
    size = list(tensors[0].shape)
    size[d] = builtins.sum(t.size(d) for t in tensors)
    if d >= tensors[0].sparse_dim():
        raise lacking("cat")
    parts, offset = [], 0
    for t in tensors:
        moved = t.places.clone()
        moved[d] += offset
        offset += t.size(d)
        parts.append(moved)
    return sparse(functions.cat(parts, 1), functions.cat([t.held for t in tensors]), size)


@rule("stack")
def _stack(tensors: Sequence[SparseTensor], dim: int = 0) -> SparseTensor:
    at = dim % (tensors[0].dim() + 1)
    return _cat([unsqueeze(t, at) for t in tensors], at)


# ---- other ------------------------------------------------------------------------------------
@rule("is_same_size")
def _is_same_size(input: Tensor, other: Any) -> bool:
    return tuple(input.shape) == tuple(other.shape)


@rule("is_floating_point")
def _is_floating(input: SparseTensor) -> bool:
    return bool(input.held.is_floating_point())


@rule("is_complex")
def _is_complex(input: SparseTensor) -> bool:
    return bool(input.held.is_complex())


@rule("numel")
def _numel(input: SparseTensor) -> int:
    return int(input._raw.size)
