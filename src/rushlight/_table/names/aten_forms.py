"""How rows look in `torch.ops.aten`: other names, other arguments, or several smaller operations.

`seen(op, args)` gives (overload, args, kwargs) as a dispatch mode gets them. `parts_of(op)` is a
function over public operations, for the rows that PyTorch computes by several.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from ..._base.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    preserve_format,
)
from ..._base.schema import REQUIRED
from ..._core.op import Op
from ..._core.storage import TensorBase
from ..rows.row import ROWS
from ..rows.tensor_namespace import table
from . import (
    aten as _aten,
    aten_rare as _aten_seldom,  # noqa: F401
)
from .aten import ATEN, FORMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._base import dtypes as D
    from ..._base.annotations import AnyCallable, Arguments, Scalar, Shape, TensorLike
    from ..._base.memory_format import memory_format as MemoryFormat
    from ..._base.schema import Parameter, Schema
    from ..._tensor.tensor import Tensor

# Arithmetic takes a number in its Tensor overload; elsewhere numbers have one of their own.
_NUMBERS_AS_TENSORS: Final = frozenset({"add", "sub", "mul", "div", "floor_divide"})
_RENAMED: Final = {
    "_plus": "add.Tensor", "_minus": "sub.Tensor", "_times": "mul.Tensor", "_over": "div.Tensor",
    "transpose": "transpose.int", "max.other": "maximum.default", "min.other": "minimum.default",
    "slice": "slice.Tensor", "vector_norm": "linalg_vector_norm.default",
    "_norm": "norm.ScalarOpt_dim",
    "_var": "var.correction", "_std": "std.correction", "_var_mean": "var_mean.correction",
    "_std_mean": "std_mean.correction",
    "_reshape_alias": "view.default", "_index_put": "index_put.default",
    "logsigmoid": "log_sigmoid.default",
}  # fmt: skip
# Copies whose format is an argument of `clone`, by the number of dimensions.
_FORMATS: Final[dict[str, Callable[[int], MemoryFormat]]] = {
    "_clone_contiguous": lambda rank: contiguous_format,
    "_clone_channels_last": lambda rank: channels_last if rank == 4 else channels_last_3d,
}
_RENAMED_WRITES: Final = {
    "_copy": "copy_.default", "_fill_.Scalar": "fill_.Scalar", "_fill_.Tensor": "fill_.Tensor",
    "_zero": "zero_.default", "_unsqueeze_": "unsqueeze_.default", "_squeeze_": "squeeze_.default",
    "_squeeze_.dim": "squeeze_.dim", "_squeeze_.dims": "squeeze_.dims", "_t_": "t_.default",
    "_transpose_": "transpose_.default", "_index_put": "index_put_.default",
}  # fmt: skip


def _method(name: str) -> AnyCallable:
    return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)


def _first(x: Tensor) -> Scalar:
    """The first element as a number.

    Raises:
        RuntimeError: where there is none.
    """
    if x.numel() == 0:
        raise RuntimeError("_local_scalar_dense: Empty tensor not supported")
    return (x if x.numel() == 1 else x.reshape(-1)[0]).item()


def _call(name: str) -> AnyCallable:
    return lambda *args, **kwargs: table(name)(*args, **kwargs)


def _norm_of(
    x: Any, ord: object = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    return ROWS["vector_norm"][0](x, ord, None if dim is None else tuple(dim), keepdim, dtype)


def _softmax(name: str) -> AnyCallable:
    return lambda x, dim, half_to_float=False: ROWS[name][0](x, dim, None)


def _copy_to(
    x: Tensor,
    *,
    dtype: D.dtype | None = None,
    memory_format: MemoryFormat | None = None,
    **_: object,
) -> Tensor:
    copy, in_format = ROWS["_to_copy"]
    if memory_format is None or memory_format is preserve_format:
        return copy(x, dtype or x.dtype)
    return in_format(x, dtype or x.dtype, memory_format)


def _declare() -> None:
    unary = "(Tensor self) -> Tensor"
    two = "(Tensor self, Tensor other) -> Tensor"
    FORMS.update({
        "rsub.Scalar": ("rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
                        lambda x, other, alpha=1: other - x * alpha if alpha != 1 else other - x),
        "maximum.default": (f"maximum{two}", _call("maximum")),
        "minimum.default": (f"minimum{two}", _call("minimum")),
        "transpose.int": ("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
                          _method("transpose")),
        "slice.Tensor": ("slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None,"
                         " int step=1) -> Tensor(a)",
                         lambda x, *rest: ROWS["slice"][0](x, *rest)),
        "linalg_vector_norm.default": (
            "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *,"
            " ScalarType? dtype=None) -> Tensor", _norm_of),
        "_softmax.default": ("_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
                             _softmax("softmax")),
        "_log_softmax.default": ("_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
                                 _softmax("log_softmax")),
        "nll_loss_forward.default": (
            "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction,"
            " int ignore_index) -> (Tensor output, Tensor total_weight)", _nll_forward),
        "clone.default": ("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
                          _method("clone")),
        "detach.default": ("detach(Tensor(a) self) -> Tensor(a)", _method("detach")),
        "_to_copy.default": (
            "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None,"
            " Device? device=None, bool? pin_memory=None, bool non_blocking=False,"
            " MemoryFormat? memory_format=None) -> Tensor",
            _copy_to),
        "lift_fresh.default": ("lift_fresh(Tensor(a) self) -> Tensor(a)", lambda x: x),
        "copy_.default": ("copy_(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
                          _method("copy_")),
        "fill_.Scalar": ("fill_.Scalar(Tensor self, Scalar value) -> Tensor", _method("fill_")),
        "fill_.Tensor": ("fill_.Tensor(Tensor self, Tensor value) -> Tensor", _method("fill_")),
        "zero_.default": ("zero_(Tensor self) -> Tensor", _method("zero_")),
        "_local_scalar_dense.default": ("_local_scalar_dense(Tensor self) -> Scalar", _first),
        "logsigmoid.default": (f"logsigmoid{unary}", _call("logsigmoid")),
    })  # fmt: skip
    for name in ("var", "std", "var_mean", "std_mean"):
        FORMS[f"{name}.correction"] = (
            f"{name}.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None,"
            " bool keepdim=False) -> Tensor",
            _call(name),
        )
    for name in ("unsqueeze_", "squeeze_", "t_", "transpose_"):
        FORMS[f"{name}.default"] = (f"{name}(Tensor self) -> Tensor", _method(name))
    FORMS["squeeze_.dim"] = ("squeeze_.dim(Tensor self, int dim) -> Tensor", _method("squeeze_"))


def _nll_forward(
    x: TensorLike, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    loss = ROWS["nll_loss"][0](x, target, weight, reduction, ignore_index)
    # The weight of the targets that count: what "mean" divides by.
    counted = (target != ignore_index).to(x.dtype)
    weights = counted if weight is None else counted * weight[target.clamp(min=0)]
    return loss, weights.sum()


_declare()


def classify_call(
    op: Op, args: Arguments, inplace: bool
) -> tuple[Any, tuple[Any, ...], dict[str, Any], int]:
    """The overload of a call, its arguments, and which of its results the row gives (-1: all)."""
    row = op.row
    schema = row.schema
    name = schema.name
    key = f"{name}.{schema.overload}" if schema.overload else name
    if inplace and key in _RENAMED_WRITES:
        return (_find_overload(_RENAMED_WRITES[key]), *_split(schema, args), -1)
    if name in ("square", "_cube", "_root"):
        power = {"square": 2, "_cube": 3, "_root": 0.5}[name]
        return (
            _find_overload("pow_.Scalar" if inplace else "pow.Tensor_Scalar"),
            (args[0], power),
            {},
            -1,
        )
    if name == "_rsub":
        return _find_overload("rsub.Scalar"), (args[0], args[1]), {}, -1
    if name in ("softmax", "log_softmax"):
        return _find_overload(f"_{name}.default"), (args[0], args[1], False), {}, -1
    if name == "nll_loss":
        return _find_overload("nll_loss_forward.default"), tuple(args), {}, 0
    if name == "_to_copy":
        named = (
            {"dtype": args[1]} if len(args) == 2 else {"dtype": args[1], "memory_format": args[2]}
        )
        return _find_overload("_to_copy.default"), (args[0],), named, -1
    if name in _FORMATS:
        memory_format = _FORMATS[name](args[0]._raw.ndim)
        return _find_overload("clone.default"), (args[0],), {"memory_format": memory_format}, -1
    if key in _RENAMED:
        return (_find_overload(_RENAMED[key]), *_split(schema, args), -1)
    overload = schema.overload or "default"
    if (
        overload == "Tensor"
        and name not in _NUMBERS_AS_TENSORS
        and len(args) > 1
        and row.op.broadcasts
        and not isinstance(args[1], TensorBase)
    ):
        overload = "Scalar"
    stem = name.replace(".", "_") + ("_" if inplace else "")
    return (_aten.find_overload(stem, overload), *_split(schema, args), -1)


def _find_overload(name: str) -> Any:
    stem, _, overload = name.partition(".")
    return _aten.find_overload(stem, overload)


def _split(schema: Schema, args: Arguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments as a dispatcher hands them on: defaults left out."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    params = schema.params
    for p, value in zip(params, args):
        shown = list(value) if type(value) is tuple else value
        if not p.kw_only:
            positional.append(shown)
        elif not _is_default(p, value):
            named[p.name] = shown
    while positional and _is_default(params[len(positional) - 1], args[len(positional) - 1]):
        positional.pop()
    return tuple(positional), named


def _is_default(p: Parameter, value: Tensor | Shape | int | None) -> bool:
    if p.default is REQUIRED or isinstance(value, TensorBase):
        return False
    return value is p.default or (type(value) is type(p.default) and bool(value == p.default))


# ---- what PyTorch computes by several operations -----------------------------------------------
def _linear(x: Tensor, weight: Tensor, bias: object = None) -> Tensor:
    turned = weight.t() if weight.dim() == 2 else weight
    if x.dim() == 2 and weight.dim() == 2:
        return table("mm")(x, turned) if bias is None else table("addmm")(bias, x, turned)
    if bias is not None and x.dim() == 3 and weight.dim() == 2 and x.is_contiguous():
        flat = x.view(math.prod(x.shape[:-1]), x.shape[-1])
        return table("addmm")(bias, flat, turned).view(*x.shape[:-1], turned.shape[1])
    made = table("matmul")(x, turned)
    return made if bias is None else made + bias


def _matmul(a: Any, b: Any) -> Tensor:
    left, right = a.dim(), b.dim()
    if left == 1 and right == 1:
        return table("dot")(a, b)
    if left == 2 and right == 1:
        return table("mv")(a, b)
    if left == 1 and right == 2:
        return table("mm")(a.unsqueeze(0), b).squeeze(0)
    if left == 2 and right == 2:
        return table("mm")(a, b)
    if left >= 3 and right in (1, 2):
        flat = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
        if right == 1:
            return _unsafe_view(table("mv")(flat, b), a.shape[:-1])
        return _unsafe_view(table("mm")(flat, b), (*a.shape[:-1], b.shape[-1]))
    if left == 1:
        return _matmul(a.unsqueeze(0), b).squeeze(-2)
    batch = table("broadcast_shapes")(a.shape[:-2], b.shape[:-2])
    n, m, p = a.shape[-2], a.shape[-1], b.shape[-1]
    count = math.prod(batch)
    one = a.expand(*batch, n, m).reshape(count, n, m)
    two = b.expand(*batch, m, p).reshape(count, m, p)
    return _unsafe_view(table("bmm")(one, two), (*batch, n, p))


def _unsafe_view(x: Any, shape: Shape) -> Tensor:
    rows = ROWS.get("_unsafe_view")
    return rows[0](x, tuple(shape)) if rows else x.view(*shape)


def _cross_entropy(x: Any, target: Tensor, reduction: int = 1, ignore_index: int = -100) -> Tensor:
    logs = ROWS["log_softmax"][0](x, 1 if x.dim() > 1 else 0, None)
    return ROWS["nll_loss"][0](logs, target, None, reduction, ignore_index)


def _repeat_backward(g: Tensor, shape: Shape, repeats: Shape) -> Tensor:
    g = g.sum(tuple(range(len(repeats) - len(shape)))) if len(repeats) > len(shape) else g
    sizes: list[int] = []
    copies: list[int] = []
    for n, size in zip(repeats[len(repeats) - len(shape) :], shape):
        if n != 1:
            copies.append(len(sizes))
            sizes.append(n)
        sizes.append(size)
    return g.reshape(tuple(sizes)).sum(tuple(copies)) if copies else g


def _index(x: Any, key: object) -> Tensor:
    """Basic indexing, a dimension at a time."""
    keys = list(key) if isinstance(key, tuple) else [key]
    taken = sum(1 for k in keys if k is not None and k is not Ellipsis)
    indices: list[Any] = []
    for k in keys:
        if k is Ellipsis:
            indices.extend([slice(None)] * (x.dim() - taken))
        else:
            indices.append(k)
    at = 0
    for k in indices:
        if k is None:
            x = x.unsqueeze(at)
            at += 1
        elif isinstance(k, slice):
            start, stop, step = k.indices(x.shape[at])
            if (start, stop, step) != (0, x.shape[at], 1):
                x = ROWS["slice"][0](x, at, start, stop, step)
            at += 1
        else:
            x = ROWS["select"][0](x, at, int(k))
    return x


#: By row: what the profiler calls the whole, and a function of the operations that it is made of.
_PARTS: Final[dict[str, tuple[str, Any]]] = {
    "_linear": ("linear", _linear),
    "_matmul": ("matmul", _matmul),
    "_cross_entropy": ("cross_entropy_loss", _cross_entropy),
    "repeat_backward": ("repeat", _repeat_backward),
    "_basic_index": ("select", _index),
}


def parts_of(op: Op) -> Any:
    """The function of several public operations that PyTorch has for a row; None for most."""
    found = _PARTS.get(op.name)
    return None if found is None else found[1]


def span_name(op: Op, args: Arguments, inplace: bool) -> str:
    """The name that PyTorch's profiler shows for a call of an operation."""
    found = _PARTS.get(op.name)
    return f"aten::{classify_call(op, args, inplace)[0]._opname if found is None else found[0]}"


__all__ = ["ATEN", "parts_of", "classify_call", "span_name"]
