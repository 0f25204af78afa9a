"""Operators under the names that PyTorch's own code calls them by, over the public ones."""

from __future__ import annotations

from itertools import pairwise, product
from math import prod
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..._array import types as T
from ..._array.number import exact_integers
from ..._array.shape.nested_sequences import element_of
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._base.memory_format import channels_last, memory_format as MemoryFormat
from ..._core.apply import apply_n
from ..._core.plain_writes import may_record
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase, new_tensor
from ..calls import dtype_checks as _checks
from ..calls.argument_parser import is_integer
from ..calls.deprecated_orders import REINFORCE, say_better
from ..elementwise.complexes import conj_physical_row, conj_row
from ..nn.attention import _safe_softmax as safe_softmax_row
from ..nn.ctc_loss import _ctc as ctc_row
from ..nn.distance_loss import norm_over
from ..nn.normalization import GROUP_NORM, check_groups
from ..random.fill import refuse_leaf
from ..random.generator import stream_of
from ..reduce.norm import norm
from ..rows.composite import COMPOSITES, composite
from ..rows.meta import is_meta
from ..rows.out_rules import as_out
from ..rows.reduction_argument import refuse_gradient
from ..rows.row import linear
from ..rows.tensor_namespace import table
from ..rows.warn_once import say_once
from ..shape.shape import is_laid_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from ..._tensor.tensor import Tensor

draw = later("_array.random.discrete")

# ---- copies and conjugates ----------------------------------------------------------------------


@composite("")
def detach(input: Tensor) -> Tensor:
    """The tensor without history: a view of the same memory."""
    return input.detach()


@composite("")
def detach_(input: Tensor) -> Tensor:
    """The tensor itself, whose history is forgotten."""
    return input.detach_()


_detach_copy = linear(
    "detach_copy(Tensor self) -> Tensor",
    T.copy,
    self=_checks.no_derivative("detach_copy"),
    node="NotImplemented",
    method=False,
    samples=lambda mk: [(mk(3, 4),)],
    doc="A copy without history.",
    narrow="all",
)


@composite("")
def _conj(input: Tensor) -> Tensor:
    """The complex conjugate of each element."""
    return apply_n(conj_row.op, [input]) if input.is_complex() else input


@composite("")
def _conj_physical(input: Tensor) -> Tensor:
    """The complex conjugate of each element, in memory."""
    return apply_n(conj_physical_row.op, [input])


# ---- reductions and softmax ---------------------------------------------------------------------
@composite("")
def _softmax(input: Tensor, dim: int, half_to_float: bool = False) -> Tensor:
    """Probabilities along a dimension."""
    return table("softmax")(input, dim)


@composite("")
def _log_softmax(input: Tensor, dim: int, half_to_float: bool = False) -> Tensor:
    """Log-probabilities along a dimension."""
    return table("log_softmax")(input, dim)


@composite("")
def _safe_softmax(input: Tensor, dim: int, dtype: D.dtype | None = None) -> Tensor:
    """Probabilities along a dimension, zeros for rows of -inf."""
    x = input if dtype is None else input.to(dtype)
    if dim % max(x.dim(), 1) == x.dim() - 1:
        return apply_n(safe_softmax_row.op, [x, -1])
    return apply_n(safe_softmax_row.op, [x.transpose(dim, -1), -1]).transpose(dim, -1)


@composite("")
def _masked_softmax(
    input: Tensor, mask: Any, dim: int | None = None, mask_type: int | None = None
) -> Tensor:
    """Probabilities along a dimension (the last), zeros where the mask is True.

    Shapes: the mask has that of the input; of an input (B, H, L, L) it may be (L, L), by mask type
    0, or (B, L), by 1.
    Raises: RuntimeError for other masks, NotImplementedError for integers.
    """
    kind = T.dtype_of(input)
    if T.dtype_of(mask) is not D.bool_:
        raise RuntimeError("Mask should be a boolean tensor")
    if kind.category < D.FLOAT:
        raise NotImplementedError(errors.not_implemented("masked_softmax", D.scalar_name(kind)))
    if input.dim() == 4 and mask.dim() == 2 and mask_type in (0, 1):
        batch, _, _, length = input.shape
        wanted, letters = ((length, length), "(L, L)") if not mask_type else (
            (batch, length), "(B, L)")  # fmt: skip
        if tuple(mask.shape) != wanted:
            raise RuntimeError(f"For mask_type == {mask_type} mask shape should be {letters}")
        mask = mask.reshape(batch, 1, 1, length) if mask_type else mask
    elif mask.shape != input.shape:
        raise RuntimeError("For mask_type == 2 mask shape should match input shape")
    shown = table("where")(mask, float("-inf"), input)
    return table("softmax")(shown, -1 if dim is None else dim)


@composite("")
def _new_zeros_with_same_feature_meta(
    input: Tensor, other: Tensor, *, self_num_batch_dims: int = 0
) -> Tensor:
    """Zeros laid out like `other`, in memory as large as its, for each of the first dimensions."""
    batch = tuple(input.shape[:self_num_batch_dims])
    memory = other.untyped_storage().nbytes() // other.element_size()
    if not memory * prod(batch):
        return table("zeros")((*batch, *other.shape), dtype=T.dtype_of(other))
    steps = [memory]
    for n in reversed(batch[1:]):
        steps.insert(0, steps[0] * n)
    count = memory * prod(batch)
    zeros = table("zeros")(count, dtype=T.dtype_of(other))
    inner: Any = other.stride()
    stride = (*steps, *inner) if batch else inner
    return table("as_strided")(zeros, (*batch, *other.shape), stride, other.storage_offset())


@composite("")
def _add_relu(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """relu(input + alpha·other)."""
    return table("relu")(table("add")(input, other, alpha=alpha))


@composite("")
def _grid_sampler_2d_cpu_fallback(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`grid_sampler_2d`, which has one kernel here."""
    args = (input, grid, interpolation_mode, padding_mode, align_corners)
    return table("grid_sampler_2d")(*args)


COMPOSITES["special", "logsumexp"] = lambda input, dim, keepdim=False, *, out=None: (
    table("logsumexp")(input, dim, keepdim)
    if out is None
    else table("logsumexp")(input, dim, keepdim, out=out)
)


@composite("")
def _assert(condition: Tensor | int, message: str) -> None:
    """Checks a condition; unlike the statement, a trace sees it.

    Raises:
        AssertionError: with the message, where the condition is false.
    """
    if not condition:
        raise AssertionError(message)


@composite("")
def _is_all_true(input: Tensor) -> Tensor:
    """Whether all elements are true."""
    return input.all()


@composite("")
def _is_any_true(input: Tensor) -> Tensor:
    """Whether any element is true."""
    return input.any()


@composite("")
def nuclear_norm(
    input: Tensor, dim: Any = (-2, -1), keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The sum of the singular values of matrices."""
    say_better("nuclear_norm")
    if isinstance(dim, bool):  # the overload without dimensions
        dim, keepdim = (-2, -1), dim
    both = (dim, dim) if is_integer(dim) else dim
    return table("matrix_norm")(input, "nuc", both, keepdim, out=out)


@composite("")
def frobenius_norm(
    input: Tensor, dim: Shape | int = (), keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The square root of the sum of squares."""
    say_better("frobenius_norm")
    if isinstance(dim, (tuple, list)) and len(dim) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    have = T.dtype_of(input)
    if T.is_discrete(input._raw.dtype):
        wanted = "norm(): input dtype should be either floating point or complex."
        raise RuntimeError(f"{wanted} Got {D.scalar_name(have)} instead.")
    if out is None:
        return norm_over(input, 2, dim, keepdim)
    as_out(have.to_real(), T.dtype_of(out), have)
    return norm(input, 2, dim, keepdim, out)


@composite("")
def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Tensor:
    """The norms over all dimensions but `dim`; over all of them for -1."""
    if dim == -1:
        return v.norm(pow)
    if dim == 0:
        if not v.dim():
            raise IndexError(errors.no_dimension(0, 0))
        shape = (v.shape[0],) + (1,) * (v.dim() - 1)
        return norm_over(v.contiguous().view(v.shape[0], -1), pow, 1).view(shape)
    if dim == v.dim() - 1:
        last = v.shape[-1]
        return norm_over(v.contiguous().view(-1, last), pow, 0).view((1,) * (v.dim() - 1) + (last,))
    return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


@composite("")
def _weight_norm(v: object, g: TensorLike, dim: int = 0) -> Tensor:
    """`v` scaled to the norms `g` over all dimensions but `dim`."""
    return v * (g / norm_except_dim(v, 2, dim))


@composite("")
def _stack(tensors: object, dim: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension."""
    return table("stack")(tensors, dim)


@composite("")
def _shape_as_tensor(input: Tensor) -> Tensor:
    """The shape as an int64 tensor."""
    return table("tensor")(list(input.shape), dtype=D.int64)


@composite("")
def get_device(input: Tensor) -> int:
    """-1: the tensor is on the CPU."""
    return -1


@composite("private", method=True)
def is_nonzero(input: Tensor) -> bool:
    """Whether a tensor of one element isn't zero.

    Raises: RuntimeError for another number of elements.
    """
    return bool(input)


def _cast(name: str, dtype: D.dtype) -> None:
    def cast(input: Tensor, non_blocking: bool = False) -> Tensor:
        return input.to(dtype)

    cast.__name__ = cast.__qualname__ = f"_cast_{name}"
    cast.__doc__ = f"The tensor as {dtype.name}."
    composite("", name=cast.__name__)(cast)


for _name, _dtype in (
    ("Byte", D.uint8), ("Char", D.int8), ("Short", D.int16), ("Int", D.int32), ("Long", D.int64),
    ("Half", D.float16), ("Float", D.float32), ("Double", D.float64),
):  # fmt: skip
    _cast(_name, _dtype)


# ---- layers -------------------------------------------------------------------------------------
_scaled = linear(
    "_native_dropout(Tensor self, Tensor mask, float scale) -> Tensor",
    lambda x, mask, scale: draw.scale_masked(x, mask, scale),
    self=lambda xp, g, mask, scale: g * mask * scale,
    public=False,
    out=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4, dtype="bool"), 2.0)],
    doc="The elements that the mask keeps, scaled.",
    kernel="bernoulli_scalar_cpu_",
)


@composite("")
def native_dropout(input: Tensor, p: float, train: bool | None) -> Any:
    """The input with elements zeroed with probability `p` and the rest scaled, and the mask."""
    raw = input._raw
    if raw.dtype.kind == "c" and may_record(input):
        raise RuntimeError(errors.real_only("native_dropout"))
    if not raw.size:
        return apply_n(_scaled.op, [input, input, 1.0]), table("empty_like")(input)
    if train is False:
        mask = table("ones_like")(input, dtype=D.bool_)
        return apply_n(_scaled.op, [input, mask, 1.0]), mask
    mask = new_tensor(draw.keep_mask(stream_of(None), raw, 1 - p))
    if raw.dtype.kind in "biu":  # which is found once the mask is drawn
        raise RuntimeError(errors.cannot_cast("Float", D.scalar_name(T.dtype_of(input))))
    return apply_n(_scaled.op, [input, mask, 0.0 if p == 1 else 1.0 / (1 - p)]), mask


@composite("")
def native_batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: object,
    running_var: object, training: bool,
    momentum: float, eps: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The normalised input, and in training the means and inverse deviations of the batch."""
    refuse_gradient("native_batch_norm", running_mean=running_mean, running_var=running_var)
    unknown = input._raw.dtype.kind not in "fV"
    if input.dim() < 2 and not (unknown and not training):
        raise IndexError(errors.dimension(1, input.dim()))
    if (running_mean is None) is not (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if unknown:
        name = D.scalar_name(T.dtype_of(input))
        raise NotImplementedError(errors.not_implemented("batch_norm", name))
    if training and not input._raw.size:
        raise RuntimeError(
            f"input tensor must have at least one element, but got input_sizes = {[*input.shape]}"
        )
    out = table("batch_norm")(
        input, weight, bias, running_mean, running_var, training, momentum, eps, False
    )
    parameters: tuple[Any, ...] = weight, bias, running_mean, running_var
    kind = next((T.dtype_of(p) for p in parameters if p is not None), T.dtype_of(input))
    if not training:
        return out, table("empty")(0, dtype=kind), table("empty")(0, dtype=kind)
    x = input.detach().to(kind)
    dims = [d for d in range(x.dim()) if d != 1]
    return out, x.mean(dims), (x.var(dims, correction=0) + eps).rsqrt()


@composite("")
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """The normalised input, and the means and inverse deviations of the groups."""
    check_groups(input.shape, C, group, weight, bias)
    if input.numel() != N * C * HxW:
        raise RuntimeError(
            "Expected X.numel() == N * C * HxW to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    shaped = input.reshape(N, C, HxW)
    out = apply_n(GROUP_NORM.op, [shaped, weight, bias, group, eps])[0].reshape(input.shape)
    x = input.detach().reshape(N, group, -1)
    return out, x.mean(-1), (x.var(-1, correction=0) + eps).rsqrt()


@composite("")
def _ctc_loss(
    log_probs: Any, targets: object, input_lengths: Any, target_lengths: Any, blank: int = 0,
    zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """Minus the log-probability of each target, and the forward variables."""
    found = apply_n(
        ctc_row.op,
        [log_probs, targets, tuple(input_lengths), tuple(target_lengths), blank, zero_infinity],
    )
    return tuple(found)


@composite("")
def embedding_renorm_(self: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """The table, whose rows that `indices` name are scaled down to `max_norm` in place."""
    from ..._array.nn import embedding as bags
    from ..._core.storage import bump

    refuse_leaf(self)
    if self._raw.ndim != 2:
        raise RuntimeError(
            f"Expected 2-dimensional tensor, but got {self._raw.ndim}-dimensional tensor for "
            "argument #1 'self' (while checking arguments for embedding_renorm_)"
        )
    bags.require_indices(indices._raw, "embedding_renorm_", 2)
    used = read_by_python(indices, "embedding_renorm_()")
    bags.renormalise(self._raw, used, float(max_norm), float(norm_type))
    bump(self)
    return self


@composite("")
def _aminmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """`aminmax` under a name of old."""
    say_once(
        "_aminmax",
        "_aminmax is deprecated as of PyTorch 1.11 and will be removed in a future release. Use "
        "aminmax instead. This warning will only appear once per process.",
    )
    least, most = table("aminmax")(input, dim=dim, keepdim=keepdim)
    return least, most


# ---- removed functions, which say what replaced them --------------------------------------------
_SINCE: Final = "This function was deprecated since version 1.9 and is now removed."
_REMOVED: Final = {
    "solve": " `torch.solve` is deprecated in favor of `torch.linalg.solve`. "
    "`torch.linalg.solve` has its arguments reversed and does not return the LU factorization.\n\n"
    "To get the LU factorization see `torch.lu`, which can be used with `torch.lu_solve` or "
    "`torch.lu_unpack`.\nX = torch.solve(B, A).solution should be replaced with:\n"
    "X = torch.linalg.solve(A, B)",
    "eig": " `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather "
    "than real tensors mimicking complex tensors.\n\n"
    "L, _ = torch.eig(A) should be replaced with:\nL_complex = torch.linalg.eigvals(A)\n\nand\n\n"
    "L, V = torch.eig(A, eigenvectors=True) should be replaced with:\n"
    "L_complex, V_complex = torch.linalg.eig(A)",
    "symeig": " The default behavior has changed from using the upper triangular portion of the "
    "matrix by default to using the lower triangular portion.\n\n"
    "L, _ = torch.symeig(A, upper=upper) should be replaced with:\n"
    "L = torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\nand\n\n"
    "L, V = torch.symeig(A, eigenvectors=True) should be replaced with:\n"
    "L, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')",
    "matrix_rank": "\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter "
    "'symmetric' was renamed in `torch.linalg.matrix_rank()` to 'hermitian'.",
    "lstsq": " `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n"
    "`torch.linalg.lstsq` has reversed arguments and does not return the QR decomposition in the "
    "returned tuple (although it returns other information about the problem).",
}


def _remove(name: str, text: str) -> None:
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError(_SINCE + text)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = (
        "Raises RuntimeError, which names what replaced it.\n\n"
        "Parameters:\n    args: whatever it was called with; nothing is looked at.\n"
    )
    composite("", name=name, method=name != "matrix_rank")(refuse)


for _name, _text in _REMOVED.items():
    _remove(_name, _text)


# ---- methods ------------------------------------------------------------------------------------
@composite("private", method=True)
def apply_(self: Tensor, callable: Any) -> Tensor:
    """Replaces each element by what the function gives for it: a Python loop.

    Raises: RuntimeError for a tensor that requires grad.
    """
    return _map("apply_", self, (), callable)


@composite("private", method=True)
def map_(self: Tensor, tensor: Tensor, callable: AnyCallable) -> Tensor:
    """Replaces each element by a function of it and of one of `tensor`: a Python loop."""
    return _map("map_", self, (tensor,), callable)


@composite("private", method=True)
def map2_(self: Tensor, x: Any, y: Any, callable: Any) -> Tensor:
    """Replaces each element by a function of it and of those of `x` and `y`: a Python loop."""
    return _map("map2_", self, (x, y), callable)


def _map(name: str, self: Tensor, others: tuple[Tensor, ...], function: AnyCallable) -> Tensor:
    words = ("x", "y") if len(others) == 2 else ("other",)
    for place, (word, t) in enumerate(zip(words, others), 1):
        if not isinstance(t, TensorBase):
            raise TypeError(errors.no_tensor(name, word, t, place))
    if self.requires_grad or any(t.requires_grad for t in others):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead."
        )
    wanted = _type_of(self)
    for word, t in zip(words, others):
        if (found := _type_of(t)) != wanted:
            argument = "argument " * (len(others) == 2) + f"'{word}'"
            raise TypeError(f"{name}: expected {wanted} for {argument} (got {found})")
    if is_meta(self):
        return self
    array, dtype = self._raw, T.dtype_of(self)
    arrays = [array, *(t.expand(self.shape)._raw for t in others)]
    parts: list[Any] = arrays
    read: list[Callable[..., Any]] = [a.item for a in arrays]
    if array.dtype.char in _QUICK:
        parts = [memoryview(a) for a in arrays]
        read = [part.__getitem__ for part in parts]
    floats, (low, high) = array.dtype.char in "fd", exact_integers(array.dtype)
    for at in product(*[range(n) for n in array.shape]):
        # Each sees what has been written before it. PyTorch doesn't count it as a write.
        value = function(*[item(at) for item in read])
        kind = type(value)
        if not ((floats and kind is float) or (kind is int and low <= value <= high)):
            value = element_of(value, dtype).item()
        parts[0][at] = value
    return self


#: The types whose elements Python reads and writes in place by itself, sooner than NumPy.
_QUICK: Final = "?bBhHiIlLqQfd"


def _type_of(tensor: Tensor) -> str:
    name = T.type_name(tensor._raw.dtype)
    return f"Meta{name[6:-6]}Type" if is_meta(tensor) else name


@composite("private", method=True)
def is_same_size(self: Tensor, other: Any) -> bool:
    """Whether two tensors have one shape."""
    if other.is_nested:
        return bool(other.is_same_size(self))
    return bool(self._raw.shape == other._raw.shape)


@composite("private", method=True)
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors are the same part of the same memory."""
    a, b = self._raw, tensor._raw
    if a.size == 0 and T.owner(a) is not T.owner(b):  # NumPy doesn't tell where it would begin
        return False
    return bool(T.address(a) == T.address(b) and a.shape == b.shape and a.strides == b.strides)


@composite("private", method=True)
def dim_order(self: Any, *, ambiguity_check: object = False) -> tuple[int, ...]:
    """The dimensions from the outermost to the innermost in memory."""
    formats: list[Any] = ambiguity_check if isinstance(ambiguity_check, list) else []
    plain = isinstance(ambiguity_check, (bool, list))
    if not plain or not all(isinstance(f, MemoryFormat) for f in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    strides, sizes = self.stride(), self._raw.shape
    if ambiguity_check is not False:
        several = 1 in sizes or any(a == b for a, b in pairwise(strides))
        if several and sum(self.is_contiguous(memory_format=f) for f in formats) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the "
                "given memory formats."
            )
    contiguous = bool(self._raw.flags.c_contiguous)
    if len(sizes) < 2 or contiguous is not is_laid_out(self, channels_last):
        return tuple(range(len(sizes))) if contiguous or len(sizes) < 2 else (0, 2, 3, 1)
    order, unique = _sort_by_stride(sizes, strides)
    if ambiguity_check is not False and not unique:
        raise RuntimeError("The tensor does not have unique dim order.")
    return order


def _sort_by_stride(sizes: Shape, strides: Shape) -> tuple[tuple[int, ...], bool]:
    """The dimensions by falling strides, and whether there is no other such order.

    Dimensions without a stride stay where they are, as do equal ones.
    """
    order: list[int] = []
    unique = True
    for d in reversed(range(len(sizes))):
        place = len(order)
        for i in reversed(range(len(order))):
            one, other = strides[order[i]], strides[d]
            if not one or not other or (one == other and sizes[d] >= sizes[order[i]]):
                unique = False
            elif one >= other:
                place = i
            else:
                break
        order.insert(place, d)
    return tuple(reversed(order)), unique


@composite("private", method=True)
def reinforce(self: Tensor, reward: object) -> NoReturn:
    """Raises RuntimeError, which names what replaced it."""
    raise RuntimeError(REINFORCE)
