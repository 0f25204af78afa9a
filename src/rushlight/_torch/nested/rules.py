"""What functions of tensors do with nested ones; see Note [Nested tensors]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._base.memory_format import jagged
from ..._core.storage import TensorBase
from ...autograd.function import Function
from .tensor import NestedTensor, functions, lacking, of_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._base.annotations import AnyCallable
    from ..._tensor.tensor import Tensor

_RULES: Final = NestedTensor.RULES

#: Functions that go element by element: they act on the values.
_ELEMENTWISE: Final = (
    "abs", "acos", "add", "asin", "atan", "ceil", "celu", "clamp", "clone", "cos", "deg2rad",
    "dropout", "div", "elu", "empty_like", "eq", "erf", "erfc", "exp", "exp2", "expm1", "floor",
    "fmod", "frac", "full_like", "ge", "gelu", "gt", "hardsigmoid", "hardswish", "hardtanh",
    "isfinite", "isinf", "isnan", "le", "leaky_relu", "log", "log10", "log1p", "log2",
    "logical_and", "logical_not", "logical_or", "logsigmoid", "lt", "masked_fill", "maximum",
    "minimum", "mish", "mul", "nan_to_num", "ne", "neg", "ones_like", "pow", "rad2deg",
    "rand_like", "randn_like", "reciprocal", "relu", "remainder", "round", "rsqrt", "selu", "sgn",
    "sigmoid", "sign", "silu", "sin", "sinh", "softplus", "sqrt", "square", "sub", "tan", "tanh",
    "trunc", "where", "zeros_like", "bernoulli",
)  # fmt: skip
_IN_PLACE: Final = (
    "abs_", "add_", "clamp_", "copy_", "div_", "exp_", "fill_", "gelu_", "masked_fill_", "mul_",
    "neg_", "normal_", "relu_", "sigmoid_", "silu_", "sin_", "cos_", "sub_", "tanh_", "uniform_",
    "zero_",
)  # fmt: skip


def rule(*names: str) -> Callable[[Any], Any]:
    """Registers what the functions of these names do with nested tensors."""

    def register(function: AnyCallable) -> AnyCallable:
        for name in names:
            _RULES[name] = function
        return function

    return register


def _join(name: str, args: tuple[Any, ...]) -> tuple[NestedTensor, list[Any]]:
    """The first nested argument, and the arguments with values for nested ones.

    Raises:
        RuntimeError: where nested arguments have parts of other sizes, or one isn't nested.
    """
    like = next(x for x in args if isinstance(x, NestedTensor))
    found: list[Any] = []
    for x in args:
        if isinstance(x, NestedTensor):
            same = x.layout is like.layout and x.parts.shapes == like.parts.shapes
            if not same or (like.layout is jagged and x.parts.ragged is not like.parts.ragged):
                raise RuntimeError(
                    f"cannot call binary pointwise function {name} with nested tensors whose parts "
                    "have other sizes, or sizes that aren't known to be the same"
                )
            found.append(x.held)
        elif isinstance(x, TensorBase) and x._raw.ndim:
            raise RuntimeError(
                "Expected both self and other to be nested, but got a nested self and non-nested "
                "other"
            )
        else:
            found.append(x)
    return like, found


def _elementwise(name: str) -> Callable[..., object]:
    def function(*args: Any, **kwargs: Any) -> Any:
        like, values = _join(name, args)
        named = {k: _join(name, (like, v))[1][1] for k, v in kwargs.items()}
        return like._with(_call(name, values, named))

    return function


def _call(name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from ...nn import functional

    found = getattr(functional, name, None) or getattr(functions, name)
    return found(*args, **kwargs)


def _in_place(name: str) -> Callable[..., object]:
    def function(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(self, NestedTensor):
            raise lacking(name)
        _, values = _join(name, (self, *args))
        getattr(values[0], name)(*values[1:], **kwargs)
        return self

    return function


for _name in _ELEMENTWISE:
    _RULES[_name] = _elementwise(_name)
for _name in _IN_PLACE:
    _RULES[_name] = _in_place(_name)
for _name, _short in (("multiply", "mul"), ("subtract", "sub"), ("divide", "div"),
                      ("true_divide", "div"), ("negative", "neg")):  # fmt: skip
    _RULES[_name] = _RULES[_short]
_RULES["rsub"] = _RULES["_rsub"] = _elementwise("rsub")
for _name in ("unbind", "numel", "is_same_size", "offsets", "values", "contiguous",
              "_nested_tensor_size", "detach", "to", "size", "is_contiguous", "tolist", "item",
              "requires_grad_", "dim", "to_padded_tensor", "backward"):  # fmt: skip
    _RULES[_name] = NestedTensor.__dict__.get(_name) or getattr(NestedTensor, _name)
for _name in ("float", "double", "half", "bfloat16", "int", "long", "bool", "cpu"):

    def _cast(self: NestedTensor, _name: str = _name, **kwargs: object) -> NestedTensor:
        held = getattr(self.held, _name)(**kwargs)
        return self if held is self.held else self._with(held)

    _RULES[_name] = _cast


# ---- part by part ----------------------------------------------------------------------------


def _partwise(self: NestedTensor, function: AnyCallable) -> NestedTensor:
    """A nested tensor of what a function makes of each part, whose first size it keeps."""
    return of_parts([function(part) for part in self.unbind()], self.layout, self.parts.ragged)


def _inner(self: NestedTensor, dim: int) -> int:
    """The dimension of the parts that is a dimension of a nested tensor.

    Raises:
        IndexError: where there is none.
        RuntimeError: for the dimension of the parts, and that in which jagged ones differ.
    """
    try:
        place = range(self.dim())[dim]
    except IndexError:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-self.dim()}, "
            f"{self.dim() - 1}], but got {dim})"
        ) from None
    if place < (2 if self.layout is jagged else 1):
        raise RuntimeError(f"this isn't supported along dimension {place} of nested tensors")
    return place - 1


@rule("linear")
def _linear(input: Any, weight: Any, bias: Any = None) -> NestedTensor:
    if not isinstance(input, NestedTensor):
        raise lacking("linear")
    from ...nn import functional

    return _partwise(input, lambda part: functional.linear(part, weight, bias))


@rule("layer_norm")
def _layer_norm(input: NestedTensor, normalized_shape: Any, *args: Any, **kwargs: Any) -> Any:
    from ...nn import functional

    return _partwise(
        input, lambda part: functional.layer_norm(part, normalized_shape, *args, **kwargs)
    )


def _along(name: str) -> Callable[..., object]:
    def function(input: NestedTensor, dim: int, *args: Any, **kwargs: Any) -> NestedTensor:
        inner = _inner(input, dim)
        return _partwise(input, lambda part: getattr(functions, name)(part, inner, *args, **kwargs))

    return function


for _name in ("softmax", "log_softmax", "cumsum"):
    _RULES[_name] = _along(_name)


@rule("transpose")
def _transpose(input: NestedTensor, dim0: int, dim1: int) -> NestedTensor:
    first, second = _inner(input, dim0), _inner(input, dim1)
    return _partwise(input, lambda part: part.transpose(first, second))


@rule("unsqueeze")
def _unsqueeze(input: NestedTensor, dim: int) -> NestedTensor:
    place = range(input.dim() + 1)[dim]
    if place < (2 if input.layout is jagged else 1):
        raise RuntimeError(f"this isn't supported along dimension {place} of nested tensors")
    return _partwise(input, lambda part: part.unsqueeze(place - 1))


@rule("chunk")
def _chunk(input: NestedTensor, chunks: int, dim: int = 0) -> tuple[NestedTensor, ...]:
    inner = _inner(input, dim)
    rows = [part.chunk(chunks, inner) for part in input.unbind()]
    return tuple(of_parts(row, input.layout, input.parts.ragged) for row in zip(*rows))


@rule("matmul", "bmm")
def _matmul(input: Any, other: Any) -> NestedTensor:
    if isinstance(input, NestedTensor) and isinstance(other, NestedTensor):
        if len(input) != len(other):
            raise RuntimeError(
                f"matmul: Expected size for the 1st dimension of 2nd input tensor to be: "
                f"{len(input)} but got: {len(other)}."
            )
        both = [functions.matmul(a, b) for a, b in zip(input.unbind(), other.unbind())]
        return of_parts(both, input.layout, input.parts.ragged)
    if isinstance(input, NestedTensor) and input.layout is jagged and other.dim() == 2:
        return _partwise(input, lambda part: functions.matmul(part, other))
    which = (
        "nested self and non-nested other"
        if isinstance(input, NestedTensor)
        else "non-nested self and nested other"
    )
    raise RuntimeError(f"Expected both to be nested, but got a {which}")


@rule("cat", "concat")
def _cat(tensors: Any, dim: int = 0) -> NestedTensor:
    if not all(isinstance(t, NestedTensor) for t in tensors):
        raise RuntimeError("expected each tensor in given list to be nested")
    first = tensors[0]
    if dim == 0:
        return of_parts([part for t in tensors for part in t.unbind()], first.layout)
    inner = _inner(first, dim)
    rows = zip(*(t.unbind() for t in tensors), strict=True)
    return of_parts([functions.cat(row, inner) for row in rows], first.layout, first.parts.ragged)


@rule("select")
def _select(input: NestedTensor, dim: int, index: int) -> Tensor:
    if range(input.dim())[dim] == 0:
        return input.unbind()[index]
    inner = _inner(input, dim)
    return _partwise(input, lambda part: part.select(inner, index))


@rule("__getitem__")
def _item(self: NestedTensor, index: Any) -> Tensor:
    if type(index) is int:
        return self.unbind()[index]
    raise lacking("__getitem__")


# ---- sums ------------------------------------------------------------------------------------


class _SumOfRows(Function):
    """Sums of the rows of all parts. It keeps its input, as PyTorch's formula for them does."""

    @staticmethod
    def forward(ctx: Any, held: Any, lengths: Any) -> Any:
        ctx.save_for_backward(held, lengths)
        which = functions.repeat_interleave(functions.arange(len(lengths)), lengths)
        return functions.zeros(len(lengths), dtype=held.dtype).index_add(0, which, held)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        _, lengths = ctx.saved_tensors
        return functions.repeat_interleave(g, lengths), None


def _last_sum(input: NestedTensor) -> NestedTensor:
    """Sums along the last dimension, which stays with size 1."""
    from .tensor import Parts, make_nested

    lengths = [shape[-1] for shape in input.parts.shapes for _ in range(_count(shape[:-1]))]
    sums = _SumOfRows.apply(input.held, functions.tensor(lengths))
    parts = Parts([(*shape[:-1], 1) for shape in input.parts.shapes], input.parts.ragged)
    return make_nested(sums, parts, input.layout)


def _count(shape: tuple[int, ...]) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


@rule("sum")
def _sum(input: NestedTensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if dtype is not None:
        input = input.to(dtype)
    if dim is None:
        return input.held.sum()
    dims = [dim] if type(dim) is int else list(dim)
    if len(dims) != 1:
        raise RuntimeError("NestedTensor only allows reduction of a single dimension for now.")
    place = range(input.dim())[dims[0]]
    if input.layout is not jagged:
        if place != input.dim() - 1:
            raise RuntimeError(
                "NestedTensor can only be reduced across the last dimension for now got dimension "
                f"{dims[0]} instead."
            )
        if not keepdim:
            raise RuntimeError("NestedTensor always requires keepdim=True for now.")
        return _last_sum(input)
    if place == 0:
        raise RuntimeError(
            "sum(): reducing along the batch dimension but not the ragged dimension is not "
            "supported for nested tensors"
        )
    if place == 1:
        return functions.stack([part.sum(0, keepdim) for part in input.unbind()])
    return _partwise(input, lambda part: part.sum(place - 1, keepdim))


# ---- what derivatives are checked with ---------------------------------------------------------


class _Dispatched(Function):
    """A copy of nested values, with a gradient of its own."""

    @staticmethod
    def forward(ctx: Any, held: Any) -> Any:
        return held.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * g + g


@rule("_test_autograd_multiple_dispatch")
def _dispatch(self: NestedTensor, b: object = None) -> NestedTensor:
    return self._with(self.held.clone() if b is None else _Dispatched.apply(self.held))
