"""Losses of sequences whose alignment isn't known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.storage import TensorBase, new_tensor
from ..calls import dtype_checks as _checks
from ..rows import reduction_argument as R
from ..rows.composite import composite
from ..rows.gradient_kernels import call_row
from ..rows.row import general
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._array.annotations import Array
    from ..._base.annotations import Shape, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.nn.ctc")

_WHERE = " (while checking arguments for ctc_loss_allocate_outputs)"


def _lengths(values: Shape, name: str, count: int) -> Array:
    found = T.as_array(values)
    if found.dtype.kind not in "iub" and found.size:
        raise RuntimeError(f"{name} must be integral")
    if found.shape != (count,):
        raise RuntimeError(f"{name} must be of size batch_size")
    return found.astype(T.to_raw(D.int64))


def _check(
    log_probs: Array, targets: Array, input_lengths: Shape, target_lengths: Shape, blank: int
) -> tuple[Array, Array, Array]:
    """The targets and the lengths as int64.

    Raises: RuntimeError in PyTorch's words; IndexError for a target that is no label.
    """
    if targets.dtype.kind == "c":
        targets = T.convert_array(targets, D.int64)
    name = D.scalar_name(T.from_raw(log_probs.dtype))
    if name not in ("Float", "Double"):
        raise NotImplementedError(errors.not_implemented("ctc_loss_cpu", name))
    if not log_probs.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for "
            f"argument #1 'log_probs'{_WHERE}"
        )
    if not 1 <= targets.ndim <= 2:
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument "
            f"#2 'targets'{_WHERE}"
        )
    times, count, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    inputs = _lengths(input_lengths, "input_lengths", count)
    lengths = _lengths(target_lengths, "target_lengths", count)
    all_inputs, all_lengths = inputs.tolist(), lengths.tolist()
    for pair in zip(all_inputs, all_lengths):
        for what, value in zip(("input_lengths", "target_lengths"), pair):
            if value < 0:
                raise RuntimeError(
                    f"Expected {what} to have value at least 0, but got value {value}{_WHERE}"
                )
    if targets.ndim == 1:
        total = sum(all_lengths)
        _expect(targets.shape[0] == total, targets, 0, total, "")
    else:
        longest = max(all_lengths, default=0)
        _expect(targets.shape[0] == count, targets, 0, count, "")
        _expect(targets.shape[1] >= longest, targets, 1, longest, "at least ")
    for value in all_inputs:
        if value > times:
            raise RuntimeError(
                f"Expected input_lengths to have value at most {times}, but got value "
                f"{value}{_WHERE}"
            )
    return targets.astype(T.to_raw(D.int64), copy=False), inputs, lengths


def _expect(fits: bool, targets: Array, dim: int, size: int, least: str) -> None:
    if not fits:
        raise RuntimeError(
            f"Expected tensor to have size {least}{size} at dimension {dim}, but got size "
            f"{targets.shape[dim]} for argument #2 'targets'{_WHERE}"
        )


def _forward(
    log_probs: Array, targets: Array, input_lengths: Shape, target_lengths: Shape, blank: int,
    zero_infinity: bool,
) -> tuple[Array, Array]:  # fmt: skip
    t, inputs, lengths = _check(log_probs, targets, input_lengths, target_lengths, blank)
    try:
        return raw.ctc_loss(log_probs, t, inputs, lengths, blank)
    except IndexError:
        raise IndexError("ctc_loss: a target is no label") from None


def _backward(
    g: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: Shape,
    target_lengths: Shape,
    loss: Array,
    alpha: Array,
    blank: int,
    zero_infinity: bool,
) -> TensorLike:
    t, inputs, lengths = _check(log_probs, targets, input_lengths, target_lengths, blank)
    return raw.ctc_loss_backward(
        g, log_probs, t, inputs, lengths, loss, alpha, blank, zero_infinity
    )


_no_derivative = _checks.no_derivative("_ctc_loss_backward")
_ctc_backward = general(
    "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, "
    "int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, "
    "bool zero_infinity=False) -> Tensor",
    _backward,
    grad=_no_derivative,
    log_probs=_no_derivative,
    node="NotImplemented",
    namespace="private",
    out=False,
    dtypes="float",
    refuses_values="any",
    samples=lambda mk: [
        (
            mk(2),
            mk(4, 2, 3),
            mk(2, 2, low=1, high=3, integer=True),
            (4, 3),
            (2, 1),
            mk(2),
            mk(2, 4, 5),
            0,
        ),
    ],
    doc="The gradient of `ctc_loss` for the log-probabilities; it can't be differentiated again.",
)


_ctc = general(
    "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, "
    "int blank=0, bool zero_infinity=False) -> (Tensor neg_log_likelihood, Tensor log_alpha)",
    _forward,
    log_probs=lambda xp, g0, log_probs, targets, input_lengths, target_lengths,
    neg_log_likelihood, log_alpha, blank, zero_infinity: call_row(
        xp, _ctc_backward, g0, log_probs, targets, input_lengths, target_lengths,
        neg_log_likelihood, log_alpha, blank, zero_infinity,
    ),
    differentiable_out=(True, False),
    saved_as={"neg_log_likelihood": "result0", "log_alpha": "result1"},
    namespace="private",
    dtypes="float",
    # The gradient takes for granted that probabilities add up to one, or are next to nothing.
    refuses_values="any",
    samples=lambda mk: [
        (mk(4, 2, 3, low=-42, high=-40), mk(2, 2, low=1, high=3, integer=True), (4, 3), (2, 1)),
        (mk(5, 1, 3, low=-42, high=-40), mk(3, low=0, high=2, integer=True), (5,), (3,), 2, True),
    ],
    doc="Minus the log-probabilities of the targets of samples, and the forward variables.",
)  # fmt: skip


def _as_ints(values: Any) -> list[int]:
    """Lengths given as a tensor or as a sequence, as a tuple of Python numbers."""
    if isinstance(values, TensorBase):
        return values._raw.reshape(-1).tolist() if values._raw.ndim < 2 else values._raw.tolist()
    return [int(v) for v in values] if isinstance(values, (list, tuple)) else [int(values)]


def _loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int] | int, blank: int,
    reduction: int, zero_infinity: bool,
) -> Tensor:  # fmt: skip
    for name, given in (("input", input_lengths), ("target", target_lengths)):
        if isinstance(given, TensorBase) and given._raw.dtype.kind not in "iu":
            raise RuntimeError(f"{name}_lengths must be integral")
    batched = log_probs._raw.ndim == 3
    if not batched:
        log_probs = log_probs.unsqueeze(1)
        if targets._raw.ndim == 1:
            targets = targets.unsqueeze(0)
    lengths = _as_ints(target_lengths)
    loss = apply_n(
        _ctc.op,
        [log_probs, targets, tuple(_as_ints(input_lengths)), tuple(lengths), blank, zero_infinity],
    )[0]
    if zero_infinity:
        loss = table("where")(loss == float("inf"), table("zeros_like")(loss), loss)
    if reduction == R.MEAN:
        whole = T.as_array(lengths).astype(T.to_raw(D.int64), copy=False)
        counts: Any = new_tensor(whole)
        counts = counts.clamp(min=1)
        return (loss / counts.to(T.dtype_of(loss))).mean()
    if reduction == R.SUM:
        return loss.sum()
    return loss if batched else loss.squeeze(0)


@composite("", name="ctc_loss")
def ctc_loss_operator(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the log-probability of each target; `reduction` 0: none, 1: mean, 2: sum."""
    return _loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)


@composite("nn.functional")
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int] | int,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the log-probability of each target under all alignments with its sample.

    "mean" divides each loss by the length of its target first.

    Shapes: log_probs (T, N, C) or (T, C); targets (N, S), or all in a row (sum of the lengths).
    Raises: RuntimeError for sizes that don't fit, in PyTorch's words.
    Special: a target that no alignment fits -> inf, or 0 with `zero_infinity`
    Source: A. Graves et al., Connectionist temporal classification (2006).
    """
    return _loss(
        log_probs, targets, input_lengths, target_lengths, blank, R.number(reduction, None, None),
        zero_infinity,
    )  # fmt: skip
