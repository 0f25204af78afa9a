"""What a failed comparison says, and how far apart two things may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .._base import dtypes
from .._tensor.tensor import Tensor

__all__ = [
    "ErrorMeta",
    "UnsupportedInputs",
    "default_tolerances",
    "get_tolerances",
    "make_scalar_mismatch_msg",
    "make_tensor_mismatch_msg",
]

#: A name for what is compared, or a function that changes the usual one.
Identifier = str | Callable[[str], str] | None
Message = str | Callable[[str], str] | None
Place = tuple[Any, ...]
Tolerances = dict[dtypes.dtype, tuple[float, float]]

#: (rtol, atol) where none are given; exact for every dtype that isn't listed.
_DTYPE_PRECISIONS: Final[Tolerances] = {
    dtypes.float16: (0.001, 1e-5),
    dtypes.bfloat16: (0.016, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
    dtypes.complex32: (0.001, 1e-5),
    dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
    **dict.fromkeys(
        (dtypes.quint8, dtypes.quint2x4, dtypes.quint4x2, dtypes.qint8, dtypes.qint32),
        (1.3e-6, 1e-5),
    ),
}

_TRACKER: Final = (
    "If you are a user and see this message during normal operation please file an issue at "
    "https://github.com/pytorch/pytorch/issues. If you are a developer and working on the "
    "comparison functions, please "
)
UNEXPECTED: Final = (
    f"resulted in the unexpected exception above. {_TRACKER}except the previous error and raise an "
    "expressive `ErrorMeta` instead."
)


class UnsupportedInputs(Exception):
    """A pair can't compare these two; the next kind of pair is tried."""


class ErrorMeta(Exception):
    """A failed comparison: the error to be raised, its text, and the place in nested containers."""

    def __init__(self, type: type[Exception], msg: str, *, id: Place = ()) -> None:
        super().__init__(f"{_TRACKER}`raise ErrorMeta.to_error()` for user facing errors.")
        self.type = type
        self.msg = msg
        self.id = id

    def to_error(self, msg: Message = None) -> Exception:
        """The error for the user, its text replaced by `msg` or changed by it."""
        if isinstance(msg, str):
            return self.type(msg)
        text = self.msg
        if self.id:
            text += f"\n\nThe failure occurred for item {place_text(self.id)}"
        return self.type(text if msg is None else msg(text))


def place_text(id: Place) -> str:
    """How a place in nested containers is written: `[0]['a']`."""
    return "".join(f"[{key!r}]" for key in id)


def default_tolerances(
    *inputs: Tensor | dtypes.dtype, dtype_precisions: Tolerances | None = None
) -> tuple[float, float]:
    """(rtol, atol), the loosest of these tensors' or dtypes' own.

    Raises:
        TypeError: for what is neither.
    """
    own = []
    for value in inputs:
        if not isinstance(value, (Tensor, dtypes.dtype)):
            raise TypeError(
                f"Expected a torch.Tensor or a torch.dtype, but got {type(value)} instead."
            )
        dtype = value.dtype if isinstance(value, Tensor) else value
        own.append((dtype_precisions or _DTYPE_PRECISIONS).get(dtype, (0.0, 0.0)))
    rtols, atols = zip(*own, strict=True)
    return max(rtols), max(atols)


def get_tolerances(
    *inputs: Tensor | dtypes.dtype, rtol: float | None, atol: float | None, id: Place = ()
) -> tuple[float, float]:
    """(rtol, atol) as given, or the inputs' own where neither is.

    Raises:
        ErrorMeta: where only one of the two is given.
    """
    if (rtol is None) is not (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ErrorMeta(
            ValueError,
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.",
            id=id,
        )
    if rtol is not None and atol is not None:
        return rtol, atol
    return default_tolerances(*inputs)


def _name(default_identifier: str, identifier: Identifier) -> str:
    if callable(identifier):
        return identifier(default_identifier)
    return default_identifier if identifier is None else identifier


def _make_mismatch_msg(
    *,
    default_identifier: str,
    identifier: Identifier = None,
    extra: str | None = None,
    abs_diff: float,
    abs_diff_idx: int | tuple[int, ...] | None = None,
    atol: float,
    rel_diff: float,
    rel_diff_idx: int | tuple[int, ...] | None = None,
    rtol: float,
) -> str:
    exact = rtol == 0 and atol == 0
    lines = [
        f"{_name(default_identifier, identifier)} are not {'equal' if exact else 'close'}!",
        "",
    ]
    if extra:
        lines.append(extra.rstrip("\n"))
    for kind, difference, place, bound in (
        ("absolute", abs_diff, abs_diff_idx, atol),
        ("relative", rel_diff, rel_diff_idx, rtol),
    ):
        if place is None:
            line = f"{kind.capitalize()} difference: {difference}"
        else:
            line = f"Greatest {kind} difference: {difference} at index {place}"
        lines.append(line if exact else f"{line} (up to {bound} allowed)")
    return "\n".join(lines)


def _make_bitwise_mismatch_msg(
    *,
    default_identifier: str,
    identifier: Identifier = None,
    extra: str | None = None,
    first_mismatch_idx: tuple[int, ...] | None = None,
) -> str:
    lines = [f"{_name(default_identifier, identifier)} are not 'equal'!"]
    if extra or first_mismatch_idx is not None:
        lines.append("")
    if extra:
        lines.append(extra.rstrip("\n"))
    if first_mismatch_idx is not None:
        lines.append(f"The first mismatched element is at index {first_mismatch_idx}.")
    return "\n".join(lines)


def make_scalar_mismatch_msg(
    actual: complex, expected: complex, *, rtol: float, atol: float, identifier: Identifier = None
) -> str:
    """What is said of two numbers that differ."""
    difference = abs(actual - expected)
    return _make_mismatch_msg(
        default_identifier="Scalars",
        identifier=identifier,
        extra=f"Expected {expected} but got {actual}.",
        abs_diff=difference,
        atol=atol,
        rel_diff=float("inf") if expected == 0 else difference / abs(expected),
        rtol=rtol,
    )


def _place_in(shape: tuple[int, ...], index: int) -> tuple[int, ...]:
    place: list[int] = []
    for length in reversed(shape):
        index, at = divmod(index, length)
        place.insert(0, at)
    return tuple(place)


def make_tensor_mismatch_msg(
    actual: Tensor,
    expected: Tensor,
    matches: Tensor,
    *,
    rtol: float,
    atol: float,
    identifier: Identifier = None,
) -> str:
    """What is said of two tensors of one shape; `matches` says where they agree."""
    a, b = actual.detach(), expected.detach()
    wrong = ~matches.reshape(-1)
    total, missed = wrong.numel(), int(wrong.sum().item())
    extra = f"Mismatched elements: {missed} / {total} ({missed / total:.1%})"
    if a.element_size() == 1 and a.is_floating_point():
        return _make_bitwise_mismatch_msg(
            default_identifier="Tensor-likes",
            identifier=identifier,
            extra=extra,
            first_mismatch_idx=_place_in(tuple(a.shape), int(wrong.int().argmax().item())),
        )
    if not a.is_floating_point() and not a.is_complex():
        a, b = a.to(dtypes.int64), b.to(dtypes.int64)
    a, b = a.reshape(-1), b.reshape(-1)
    difference = (a - b).abs()
    difference[~wrong] = 0
    relative = difference / b.abs()
    relative[~wrong] = 0
    far, far_off = int(difference.argmax().item()), int(relative.argmax().item())
    return _make_mismatch_msg(
        default_identifier="Tensor-likes",
        identifier=identifier,
        extra=extra,
        abs_diff=difference[far].item(),
        abs_diff_idx=_place_in(tuple(actual.shape), far),
        atol=atol,
        rel_diff=relative[far_off].item(),
        rel_diff_idx=_place_in(tuple(actual.shape), far_off),
        rtol=rtol,
    )
