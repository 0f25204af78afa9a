"""Overloads of `torch.ops.aten` that programs name but the table writes as one public function.

Packages list them in tables of what they handle (`@implements(aten.to.dtype)`), or call them to
skip a method's argument parsing. Each computes what the method does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..rows.tensor_namespace import table
from .aten import FORMS, OWN

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._base.dtypes import dtype
    from ..._base.memory_format import memory_format
    from ..._tensor.tensor import Tensor

_MORE: Final = "bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None"
_PAIR: Final = (
    "(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor"
)
_CTC: Final = ", int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor"
_OPTIONS: Final = "ScalarType? dtype=None, Layout? layout=None, Device? device=None"


def _to(x: Tensor, target: dtype, non_blocking: bool = False, copy: bool = False,
        memory_format: memory_format | None = None) -> Tensor:  # fmt: skip
    kwargs = {} if memory_format is None else {"memory_format": memory_format}
    return x.to(target, False, copy, **kwargs)


def _to_options(x: Tensor, *, dtype: dtype | None = None, layout: object = None, device: Any = None,
                pin_memory: Any = None, non_blocking: bool = False, copy: bool = False,
                memory_format: Any = None) -> Any:  # fmt: skip
    return _to(x, dtype or x.dtype, non_blocking, copy, memory_format)


def _to_device(x: Any, device: Any, dtype: Any, *rest: Any, **kwargs: Any) -> Tensor:
    return _to(x.to(device), dtype, *rest, **kwargs)


def _public(name: str) -> AnyCallable:
    return lambda *args, **kwargs: table(name)(*args, **kwargs)


def _method(name: str) -> AnyCallable:
    return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)


def _slice_copy(
    x: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    return x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)].clone()


def _split_copy(x: Any, split_size: int, dim: int = 0) -> list[Tensor]:
    return [part.clone() for part in x.split(split_size, dim)]


def _assert_async(
    x: Tensor, message: str = "Expected Tensor with single nonzero value, but got zero"
) -> None:
    if not bool(x):
        raise RuntimeError(message)


def _convolution_backward(
    grad: object, x: Any, weight: Any, bias_sizes: object, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: object, groups: int, output_mask: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The gradients of a convolution for its input, weights and bias, as far as they are wanted."""
    dims = x.dim() - 2
    steps = [tuple(v) if len(v) == dims else (*v,) * dims for v in (stride, padding, dilation)]
    size, kernel = tuple(x.shape[2:]), tuple(weight.shape[2:])
    back = table("conv_output" if transposed else "conv_input")
    pair = (grad, x) if transposed else (x, grad)
    return (
        back(grad, weight, size, *steps, groups) if output_mask[0] else None,
        table("conv_weight")(*pair, kernel, *steps, groups) if output_mask[1] else None,
        table("channel_sums")(grad) if output_mask[2] else None,
    )


def _make_averaging(name: str, place: int) -> AnyCallable:
    """A loss whose operator takes the mean where the function of its name doesn't reduce.

    The signatures of those functions promise the mean, too, but PyTorch's parser of Python
    arguments reads it as 0.
    """

    def loss(*args: object, **kwargs: object) -> Any:
        if len(args) <= place:
            kwargs.setdefault("reduction", 1)
        return table(name)(*args, **kwargs)

    OWN[name] = loss
    return loss


def _nothing(*args: object, **kwargs: object) -> None:
    """A check that PyTorch makes of tensors whose sizes are symbols."""


def _declare() -> None:
    one = "(Tensor self) -> Tensor"
    _make_averaging("binary_cross_entropy_with_logits", 4)  # its overload is the row's
    for name, function in (
        (f"to.dtype(Tensor(a) self, ScalarType dtype, {_MORE}) -> Tensor(a)", _to),
        (f"to.other(Tensor(a) self, Tensor other, {_MORE}) -> Tensor(a)", _to),
        (f"to.device(Tensor(a) self, Device device, ScalarType dtype, {_MORE}) -> Tensor(a)",
         _to_device),
        (f"to.dtype_layout(Tensor(a) self, *, {_OPTIONS}, bool? pin_memory=None, {_MORE}) "
         "-> Tensor(a)", _to_options),
        ("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", _method("view")),
        ("sym_size.int(Tensor self, int dim) -> int", _method("size")),
        ("sym_size(Tensor self) -> int", _method("size")),
        ("sym_stride.int(Tensor self, int dim) -> int", _method("stride")),
        ("sym_numel(Tensor self) -> int", _method("numel")),
        ("sym_storage_offset(Tensor self) -> int", _method("storage_offset")),
        ("repeat_interleave.Tensor(Tensor repeats) -> Tensor", _public("repeat_interleave")),
        ("repeat_interleave.self_int(Tensor self, int repeats, int? dim=None) -> Tensor",
         _public("repeat_interleave")),
        ("repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None) -> Tensor",
         _public("repeat_interleave")),
        ("searchsorted.Tensor(Tensor sorted_sequence, Tensor self) -> Tensor",
         _public("searchsorted")),
        ("bucketize.Tensor(Tensor self, Tensor boundaries) -> Tensor", _public("bucketize")),
        ("randint.low(int low, int high, int[] size) -> Tensor", _public("randint")),
        ("slice_copy.Tensor(Tensor self, int dim=0, int? start=None, int? end=None, int step=1)"
         " -> Tensor", _slice_copy),
        ("split_copy.Tensor(Tensor self, int split_size, int dim=0) -> Tensor", _split_copy),
        (f"_pin_memory{one}", _method("pin_memory")),
        ("is_pinned(Tensor self) -> bool", _method("is_pinned")),
        ("convolution_backward(Tensor grad_output, Tensor input, Tensor weight, "
         "SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, "
         "bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) "
         "-> (Tensor, Tensor, Tensor)",
         _convolution_backward),
        ("_assert_async(Tensor self) -> ()", _assert_async),
        ("_assert_async.msg(Tensor self, str assert_msg) -> ()", _assert_async),
        ("_assert_tensor_metadata(Tensor a) -> ()", _nothing),
        ("_assert_scalar(Scalar self, str assert_msg) -> ()", _nothing),
        ("sym_constrain_range_for_size(Scalar size) -> ()", _nothing),
        ("kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
         _make_averaging("kl_div", 2)),
        ("hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) "
         "-> Tensor", _make_averaging("hinge_embedding_loss", 3)),
        (f"margin_ranking_loss{_PAIR}", _make_averaging("margin_ranking_loss", 4)),
        (f"cosine_embedding_loss{_PAIR}", _make_averaging("cosine_embedding_loss", 4)),
        ("triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., "
         "float p=2., float eps=1e-06, bool swap=False, int reduction=1) -> Tensor",
         _make_averaging("triplet_margin_loss", 7)),
        ("ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, "
         f"int[] target_lengths{_CTC}", _make_averaging("ctc_loss", 5)),
        ("ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, "
         f"Tensor target_lengths{_CTC}", _make_averaging("ctc_loss", 5)),
    ):  # fmt: skip
        short = name.partition("(")[0]
        FORMS[short if "." in short else f"{short}.default"] = (name, function)


_declare()
