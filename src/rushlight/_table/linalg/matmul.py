"""Matrix products: of matrices, of vectors, of stacks; linear layers; einsum."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.axes import axis_of
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply2, apply_n
from ..._core.mode import current
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase
from ..calls import dtype_checks as _checks, product_writes
from ..calls.deprecated_orders import say_better
from ..calls.operand_fit import explain_product
from ..calls.python_argument_errors import take_as_c
from ..rows import tensor_namespace as _traced
from ..rows.composite import composite
from ..rows.node_classes import matrix_sizes
from ..rows.node_decompositions import comes_apart
from ..rows.out_argument import apply_out, fit, give, give_copied, refuse_other, run_into
from ..rows.out_rules import OutRules, before_others, before_products
from ..rows.row import Row, multilinear, when_settled

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Arguments, Namespace, Scalar, Shape, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.linalg.matmul")
paths = later("_array.linalg.einsum")
composed = later("_table.rows.composed_nodes")

_PAIR = lambda mk: [(mk(3, 4), mk(4, 2)), (mk(1, 4), mk(4, 1)), (mk(0, 4), mk(4, 2))]  # noqa: E731

# How `out` is looked at: its type before the shapes of vectors, and before those of factors.
_VECTORS = OutRules(types_first=before_others)
_PRODUCT = OutRules(types_first=before_products)

mm = multilinear(
    "mm(Tensor self, Tensor mat2) -> Tensor",
    raw.mm,
    self=lambda xp, g, mat2: xp.matmul(g, mat2.T),
    mat2=lambda xp, g, self: xp.matmul(self.T, g),
    node_shows=matrix_sizes,
    lowering="matmul",
    samples=_PAIR,
    out_rules=_PRODUCT,
    doc="The product of two matrices.",
    narrow="float8",
    kernel="addmm_impl_cpu_",
    without_data="fewer",
)
mv = multilinear(
    "mv(Tensor self, Tensor vec) -> Tensor",
    raw.mv,
    self=lambda xp, g, vec: xp.expand_dims(g, 1) * vec,
    vec=lambda g, self: self.T @ g,
    samples=lambda mk: [(mk(3, 4), mk(4))],
    doc="The product of a matrix and a vector.",
    kernel="addmv_impl_cpu",
    without_data="fewer",
)
dot = multilinear(
    "dot(Tensor self, Tensor tensor) -> Tensor",
    raw.dot,
    self=lambda g, tensor: g * tensor,
    tensor=lambda g, self: g * self,
    samples=lambda mk: [(mk(4), mk(4)), (mk(0), mk(0))],
    out_rules=_VECTORS,
    doc="The inner product of two vectors, without conjugation.",
    kernel="dot",
    without_data="fewer",
)
vdot = multilinear(
    "vdot(Tensor self, Tensor other) -> Tensor",
    raw.vdot,
    self=lambda xp, g, other: xp.conj(g) * other,
    other=lambda g, self: g * self,
    holomorphic=False,
    samples=lambda mk: [(mk(4), mk(4)), (mk(0), mk(0))],
    out_rules=_VECTORS,
    doc="The inner product of two vectors, the first one conjugated.",
    kernel="vdot",
    without_data="fewer",
)
bmm = multilinear(
    "bmm(Tensor self, Tensor mat2) -> Tensor",
    raw.bmm,
    self=lambda xp, g, mat2: xp.matmul(g, xp.matrix_transpose(mat2)),
    mat2=lambda xp, g, self: xp.matmul(xp.matrix_transpose(self), g),
    lowering="matmul",
    samples=lambda mk: [(mk(2, 3, 4), mk(2, 4, 2))],
    doc="A stack of products of matrices.",
    kernel="bmm",
    without_data="fewer",
)


def _left_gradient(xp: Namespace, g: TensorLike, self_shape: Shape,
                   other: TensorLike) -> TensorLike:  # fmt: skip
    """Of a b with respect to a, where both were broadcast: g bᵀ, summed back."""
    if other.ndim == 1:
        return xp.sum_to(xp.expand_dims(g, -1) * other, self_shape)
    if len(self_shape) == 1:
        return xp.sum_to(
            xp.matmul(other, xp.expand_dims(g, -1)).reshape(g.shape[:-1] + self_shape), self_shape
        )
    return xp.sum_to(xp.matmul(g, xp.matrix_transpose(other)), self_shape)


def _right_gradient(xp: Namespace, g: TensorLike, self: TensorLike,
                    other_shape: Shape) -> TensorLike:  # fmt: skip
    """Of a b with respect to b: aᵀ g, summed back; a stack times one matrix is one product."""
    if len(other_shape) <= 2 and self.ndim > 1:
        rows = prod(self.shape[:-1])
        flat = self.reshape((rows, self.shape[-1]))
        if len(other_shape) == 1:
            return flat.T @ g.reshape((rows,))
        return xp.matmul(flat.T, g.reshape((rows, other_shape[-1])))
    if self.ndim == 1:
        return xp.sum_to(xp.expand_dims(self, -1) * xp.expand_dims(g, -2), other_shape)
    return xp.sum_to(xp.matmul(xp.matrix_transpose(self), g), other_shape)


def _product_kernel(raws: Arguments) -> str:
    a, b = (raw.ndim for raw in raws[:2])
    if a == 1 or b == 1:
        return "dot" if a == b else "addmv_impl_cpu"
    return "addmm_impl_cpu_" if a == b == 2 else "bmm"


def _declare_stacked(name: str, *delivers: str) -> Row:
    return multilinear(
        "_matmul(Tensor self, Tensor other) -> Tensor",
        raw.matmul,
        self=_left_gradient,
        other=_right_gradient,
        node=name,
        delivers=delivers,
        public=False,
        out=False,
        lowering="matmul",
        kernel=_product_kernel,
        explain=explain_product,
        samples=lambda mk: [
            (mk(5, 2, 3), mk(3, 4)), (mk(5, 2, 3), mk(5, 3, 4)), (mk(2, 3), mk(5, 3, 4)),
            (mk(5, 2, 3), mk(3)), (mk(3), mk(5, 3, 2)), (mk(3), mk(3, 2)),
            (mk(1, 5, 2, 3), mk(2, 1, 3, 4)),
        ],
        doc="The product of stacks of matrices, broadcast over their leading dimensions.",
        without_data="fewer",
    )  # fmt: skip


_stack_product = _declare_stacked("UnsafeViewBackward0", "other", "self")
comes_apart(_stack_product, composed.stack, composed.both_shapes)
_row_product = _declare_stacked("SqueezeBackward4", "other", "self")
_clone_product = _declare_stacked("CloneBackward0")
_vector_by_stack = _declare_stacked("UnsafeViewBackward0")


@composite("", "linalg", method=True)
def matmul(input: TensorBase, other: TensorBase, *, out: Tensor | None = None) -> Tensor:
    """The product of vectors, matrices or stacks of matrices, as their dimensions say.

    Raises:
        RuntimeError: where shapes or types don't fit.
        TypeError: where an operand isn't a tensor.
    """
    if not isinstance(input, TensorBase) or not isinstance(other, TensorBase):
        bad, name, place = (
            (input, "input", 1) if not isinstance(input, TensorBase) else (other, "other", 2)
        )
        raise TypeError(
            f"matmul(): argument '{name}' (position {place}) must be Tensor, "
            f"not {errors.type_name(bad)}"
        )
    a = input._raw.ndim
    b = other._raw.ndim
    if a == 2 and b == 2:
        row = mm
    elif b == 1 and 0 < a < 3:
        row = mv if a == 2 else dot
        mode = current()
        if mode.autocast is not None and out is None:  # which leaves mv and dot by themselves alone
            input, other = mode.autocast.lower(input), mode.autocast.lower(other)
    elif a == 1 and b == 2:
        row = _row_product
    elif a == 2 and b > 2:
        row = _clone_product
    elif a == 1:
        row = _vector_by_stack
    else:
        row = _stack_product
    if out is not None:
        rules = _VECTORS if row is dot else _PRODUCT
        return apply_out(row, [input, other], out, "matmul", rules)
    if row.op.simple:
        return apply2(row.op, input, other)
    return apply_n(row.op, [input, other])


def _input_gradient(xp: Namespace, g: TensorLike, weight: TensorLike) -> TensorLike:
    return xp.matmul(g, weight)


def _weight_gradient(xp: Namespace, g: TensorLike, input: TensorLike) -> TensorLike:
    """gᵀ x over all rows: one product for a stack too."""
    if g.ndim == 2:
        return xp.matmul(g.T, input)
    if g.ndim == 1:
        return g.reshape((-1, 1)) * input
    rows = prod(g.shape[:-1])  # -1 can't be told where a size is 0
    return xp.matmul(g.reshape((rows, g.shape[-1])).T, input.reshape((rows, input.shape[-1])))


def _linear(name: str, *delivers: str) -> Row:
    return multilinear(
        "_linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
        raw.linear,
        input=_input_gradient,
        weight=_weight_gradient,
        bias=lambda xp, g, bias_shape: xp.sum_to(g, bias_shape),
        node=name,
        public=False,
        out=False,
        saved_as={"input": "mat1", "weight": "mat2"},
        lowering="linear",
        narrow="float8",
        kernel=lambda raws: "addmm_impl_cpu_" if raws[0].ndim == 2 else "bmm",
        delivers=delivers,
        samples=lambda mk: [
            (mk(2, 3), mk(4, 3), mk(4)),
            (mk(5, 2, 3), mk(4, 3), mk(4)),
            (mk(2, 3), mk(4, 3)),
        ],
        doc="x Wᵀ + b over the last dimension.",
        without_data="fewer",
        beside_data="unless biased",
    )


_linear_2d = _linear("AddmmBackward0", "bias", "input", "weight")
_linear_nd = _linear("ViewBackward0", "bias", "weight", "input")
_linear_2d_plain = _linear("MmBackward0")
_linear_nd_plain = _linear("UnsafeViewBackward0")
_linear_1d_plain = _linear("SqueezeBackward4")
for _row, _shapes, _ndim in (
    (_linear_2d, composed.biased_shapes, 2), (_linear_nd, composed.biased_shapes, 3),
    (_linear_2d_plain, composed.linear_shapes, 2), (_linear_nd_plain, composed.linear_shapes, 3),
    (_linear_1d_plain, composed.linear_shapes, 1),
):  # fmt: skip
    comes_apart(_row, composed.linear, partial(_shapes, _ndim))


def _joins_product(input: Tensor, bias: Tensor) -> bool:
    """Whether the bias is added within the product, over all rows of the input as one matrix."""
    shape = bias._raw.shape
    row = len(shape) == 1 or sum(n != 1 for n in shape) == 1
    return row and input.is_contiguous() and bias.is_contiguous()


def _product_and_bias(input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """x Wᵀ + b for a bias, or a weight, that isn't of the usual number of dimensions."""
    if weight._raw.ndim == 2 and _joins_product(input, bias):
        *stack, width = input._raw.shape
        rows = apply_n(_linear_2d.op, [input.reshape((prod(stack), width)), weight, bias])
        return rows.reshape((*stack, weight._raw.shape[0]))
    return matmul(input, _traced.table("t")(weight)).add_(bias)


def _no_tensor(*operands: object) -> TypeError:
    """The error for the first of the operands of a linear layer that is no tensor."""
    k = next(k for k, t in enumerate(operands) if not isinstance(t, TensorBase))
    name = ("input", "weight", "bias")[k]
    return TypeError(
        f"linear(): argument '{name}' (position {k + 1}) must be Tensor, not "
        f"{errors.type_name(operands[k])}"
    )


@composite("nn.functional")
def linear(input: Any, weight: Any, bias: Any = None, *, out: object = None) -> Tensor:
    """x Wᵀ + b.

    Shapes: input (*, in), weight (out, in) or (in), bias (out), (), or one that fits the product;
    the result (*, out).

    Raises:
        RuntimeError: where shapes or types don't fit.
        TypeError: where an operand isn't a tensor.
    """
    if out is not None:
        args = [input, weight, bias]
        return run_into("linear", lambda: linear(input, weight, bias), args, out)
    if not isinstance(input, TensorBase) or not isinstance(weight, TensorBase):
        raise _no_tensor(input, weight, bias)
    ndim = input._raw.ndim
    if weight._raw.ndim != 2:
        rank = weight._raw.ndim
        if not ndim or not rank:
            raise RuntimeError(
                f"both arguments to linear need to be at least 1D, but they are {ndim}D and {rank}D"
            )
        if bias is not None:
            if not isinstance(bias, TensorBase):
                raise _no_tensor(input, weight, bias)
            if rank == 1 and (ndim == 2 or _joins_product(input, bias)):  # type: ignore[arg-type]
                raise RuntimeError("mat2 must be a matrix, got 1-D tensor")
            return _product_and_bias(input, weight, bias)  # type: ignore[arg-type]
        return matmul(input, _traced.table("t")(weight))
    if bias is not None:
        if ndim == 2:
            row = _linear_2d
        elif not isinstance(bias, TensorBase):
            raise _no_tensor(input, weight, bias)
        elif bias._raw.ndim != 1:
            return _product_and_bias(input, weight, bias)  # type: ignore[arg-type]
        else:
            row = _linear_nd
    elif ndim == 2:
        row = _linear_2d_plain
    else:
        row = _linear_nd_plain if ndim > 1 else _linear_1d_plain
    return apply_n(row.op, [input, weight, bias])


@composite("", "nn.functional")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x₁ᵀ W[k] x₂ + b[k], for each k.

    Shapes: inputs (*, i) and (*, j), weight (k, i, j), bias (k); the result (*, k).

    Raises:
        RuntimeError: where shapes don't fit.
    """
    given = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    types = {name: T.dtype_of(x) for name, x in given.items() if x is not None}
    if len(set(types.values())) > 1:
        shown = ", ".join(f"{name}: {D.c_name(dtype)}" for name, dtype in types.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {shown}")
    first, second, sizes = input1._raw.shape, input2._raw.shape, weight._raw.shape
    if len(first) != len(second):
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {len(first)} and {len(second)}"
        )
    for dim, (n, m) in enumerate(zip(first[:-1], second[:-1], strict=True)):
        if n != m:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {n} and {m}"
            )
    for number, have in ((1, first), (2, second)):
        if number >= len(sizes):
            raise IndexError(errors.no_dimension(number, len(sizes)))
        if not have:
            raise IndexError(errors.no_dimension(-1, 0))
        if have[-1] != sizes[number]:
            raise RuntimeError(
                f"bilinear(): input{number} size does not match weight size: got {have[-1]} but "
                f"expected {sizes[number]}"
            )
    if bias is not None and bias._raw.shape != sizes[:1]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias._raw.shape[0]} but "
            f"expected {sizes[0]}"
        )
    k, i, j = sizes
    columns = input1.reshape((-1, i, 1))  # the oldest step: its gradient comes last
    rows = linear(input2.reshape((-1, j)), weight.reshape((k * i, j))).reshape((-1, k, i))
    products = matmul(rows, columns)
    out = products.reshape((*first[:-1], k))
    return out if bias is None else out + bias


def _times(x: TensorLike, number: Scalar) -> TensorLike:
    """A product with a number, which is mostly 1."""
    return x if number.__class__ in (int, float) and number == 1 else x * number


def _declare_scaled(
    forward: AnyCallable, name: str, first: str, second: str, **formulas: object
) -> Row:
    return multilinear(
        f"{name}(Tensor self, Tensor {first}, Tensor {second}, *, "
        "Scalar beta=1, Scalar alpha=1) -> Tensor",
        forward,
        self=lambda xp, g, self_shape, beta: _times(xp.sum_to(g, self_shape), beta),
        inplace=True,
        saved_as={"self_shape": None},
        without_data="fewer",
        **formulas,
    )


addmm = _declare_scaled(
    raw.addmm, "addmm", "mat1", "mat2", narrow="float8", kernel="addmm_impl_cpu_",
    mat1=lambda xp, g, mat2, alpha: _times(xp.matmul(g, mat2.T), alpha),
    mat2=lambda xp, g, mat1, alpha: _times(xp.matmul(mat1.T, g), alpha),
    node_shows=matrix_sizes,
    samples=lambda mk: [(mk(3, 2), mk(3, 4), mk(4, 2)), (mk(2), mk(3, 4), mk(4, 2))],
    doc="`beta` times `input` plus `alpha` times the product of two matrices.",
)  # fmt: skip
addmv = _declare_scaled(
    raw.addmv, "addmv", "mat", "vec", kernel="addmv_impl_cpu",
    mat=lambda xp, g, vec, alpha: xp.expand_dims(g, 1) * vec * alpha,
    vec=lambda g, mat, alpha: (mat.T @ g) * alpha,
    samples=lambda mk: [(mk(3), mk(3, 4), mk(4))],
    doc="`beta` times `input` plus `alpha` times the product of a matrix and a vector.",
)  # fmt: skip
baddbmm = _declare_scaled(
    raw.baddbmm, "baddbmm", "batch1", "batch2", kernel="baddbmm",
    batch1=lambda xp, g, batch2, alpha: _times(xp.matmul(g, xp.matrix_transpose(batch2)), alpha),
    batch2=lambda xp, g, batch1, alpha: _times(xp.matmul(xp.matrix_transpose(batch1), g), alpha),
    samples=lambda mk: [(mk(2, 3, 2), mk(2, 3, 4), mk(2, 4, 2))],
    doc="`beta` times `input` plus `alpha` times a stack of products of matrices.",
)  # fmt: skip
addbmm = _declare_scaled(
    raw.addbmm, "addbmm", "batch1", "batch2", narrow="float8", out_rules=OutRules(quiet=True),
    kernel="addmm_impl_cpu_",
    batch1=lambda xp, g, batch2, alpha: (
        xp.matmul(xp.expand_dims(g, 0), xp.matrix_transpose(batch2)) * alpha
    ),
    batch2=lambda xp, g, batch1, alpha: (
        xp.matmul(xp.matrix_transpose(batch1), xp.expand_dims(g, 0)) * alpha
    ),
    samples=lambda mk: [(mk(3, 2), mk(2, 3, 4), mk(2, 4, 2))],
    doc="`beta` times `input` plus `alpha` times the sum of a stack of products of matrices.",
)  # fmt: skip
addr = multilinear(
    "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    raw.addr,
    promote="same",
    promote_at=("self", "vec1", "vec2"),
    check=_checks.outer_factors,
    self=lambda xp, g, self_shape, beta: xp.sum_to(g, self_shape) * beta,
    vec1=lambda g, vec2, alpha: (g @ vec2) * alpha,
    vec2=lambda g, vec1, alpha: (g.T @ vec1) * alpha,
    inplace=True,
    saved_as={"self_shape": None},
    samples=lambda mk: [(mk(3, 4), mk(3), mk(4))],
    doc="`beta` times `input` plus `alpha` times the outer product of two vectors.",
    without_data="fewer",
)


@composite("", method=True)
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The outer product of two vectors."""
    for name, v in (("self", input), ("vec2", vec2)):
        if v._raw.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {v._raw.ndim}-D")
    result = _traced.table("mul")(input.reshape(-1, 1), vec2)
    return give("outer", result, out, named="mul")


@composite("", method=True)
def inner(input: Tensor, other: Any, *, out: Tensor | None = None) -> Tensor:
    """The inner product over the last dimensions."""
    if input._raw.ndim == 0 or other._raw.ndim == 0:
        return _traced.table("mul")(input, other, out=out)
    if out is None and input._raw.ndim == 1 and input._raw.shape == other._raw.shape:
        if input._raw.dtype != other._raw.dtype:
            raise RuntimeError("both inputs should have same dtype")
        input, other = through_views([input, other])
        return apply2(dot.op, input, other)
    if input._raw.shape[-1] != other._raw.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input._raw.shape)} and {list(other._raw.shape)}"
        )
    return tensordot(input, other, ([-1], [-1]), out)


def through_views(tensors: list[Tensor]) -> list[Tensor]:
    """The tensors, each seen through a view where several are leaves.

    PyTorch turns every operand first, so the last of several leaves is the first to accumulate.
    """
    if len(tensors) < 2 or not current().grad:
        return list(tensors)
    leaves = [t._requires_grad and t._node is None for t in tensors]
    if sum(leaves) < 2:
        return list(tensors)
    return [
        t.permute(*range(t._raw.ndim)) if leaf and t._raw.ndim else t
        for t, leaf in zip(tensors, leaves)
    ]


def _find_contracted(dims: Any, a: Any, b: Any) -> tuple[list[int], list[int]]:
    """The dimensions of both operands to sum over."""
    if not isinstance(dims, (tuple, list, int, TensorBase)):
        raise RuntimeError(errors.describe_contraction(dims))
    if isinstance(dims, TensorBase):
        if dims._raw.size > 1:
            if dims._raw.shape[0] != 2:
                raise AssertionError(
                    f"dims tensor must have size 2 in first dimension, got {dims._raw.shape[0]}"
                )
            dims = read_by_python(dims, "tensordot()").tolist()
        else:
            dims = int(read_by_python(dims, "tensordot()").item())
    elif isinstance(dims, int) and dims >= 0 and dims > min(a.dim(), b.dim()):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        return list(range(-dims, 0)), list(range(dims))
    first, second = dims
    *_, first, second = take_as_c("torch", "tensordot", (a, b, first, second))
    return list(first), list(second)


@composite()
def tensordot(a: Any, b: Any, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """The sum of products over several dimensions of `a` and `b`; one of size one broadcasts.

    Raises:
        RuntimeError: where the dimensions' sizes differ.
    """
    refuse_other("tensordot", out)
    over = _find_contracted(dims, a, b)
    return give_copied("tensordot", _tensordot(a, b, *over), out)


def _tensordot(a: Any, b: Any, over_a: list[int], over_b: list[int]) -> Any:
    if len(over_a) != len(over_b):
        raise RuntimeError("both dimension lists should have same length")
    if a._raw.dtype != b._raw.dtype:
        raise RuntimeError("both inputs should have same dtype")
    for i, j in zip(over_a, over_b):
        for t, d in ((a, i), (b, j)):
            if not t._raw.ndim:
                raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
            axis_of(d, t._raw.ndim)
        n, m = a._raw.shape[i], b._raw.shape[j]
        if n == 1 != m:
            b = b.sum(j, True, dtype=b.dtype)
        elif m == 1 != n:
            a = a.sum(i, True, dtype=a.dtype)
        elif n != m:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} "
                f"in dim {i} and second has size {m} in dim {j}"
            )
    over_a = [d % a._raw.ndim for d in over_a]
    over_b = [d % b._raw.ndim for d in over_b]
    free_a = [d for d in range(a._raw.ndim) if d not in over_a]
    free_b = [d for d in range(b._raw.ndim) if d not in over_b]
    kept_a, kept_b = [a._raw.shape[d] for d in free_a], [b._raw.shape[d] for d in free_b]
    inner_size = prod(a._raw.shape[d] for d in over_a)
    left = a.permute(free_a + over_a).reshape(prod(kept_a), inner_size)
    right = b.permute(over_b + free_b).reshape(inner_size, prod(kept_b))
    if not free_a and not free_b:
        return apply2(dot.op, left.reshape(inner_size), right.reshape(inner_size))
    return apply2(mm.op, left, right).reshape(kept_a + kept_b)


@composite()
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the order that takes the fewest multiplications.

    Raises: RuntimeError for what isn't a matrix, and where shapes or types don't fit.
    """
    for place, m in enumerate(matrices):
        if not isinstance(m, TensorBase):
            raise TypeError(
                f"expected Tensor as element {place} in argument 0, but got {errors.type_name(m)}"
            )
    refuse_other("chain_matmul", out)
    say_better("chain_matmul")
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for m in matrices:
        if m._raw.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {m._raw.ndim}, expected 2 instead.")
    if len(matrices) > 1:
        return _traced.table("multi_dot")(list(matrices), out=out)
    if out is not None:
        fit(out, matrices[0]._raw)
    return matrices[0] if out is None else out.copy_(matrices[0])


def _say_fits(row: Row, fits: AnyCallable) -> None:
    def note(settled: Row) -> None:
        for op in (settled.op, settled.simple_op):
            if op is not None:
                op.fits = fits

    when_settled(row, note)


_say_fits(addmm, product_writes.check_addmm)
_say_fits(addmv, product_writes.check_addmv)
_say_fits(baddbmm, product_writes.check_baddbmm)
_say_fits(addr, product_writes.check_addr)
