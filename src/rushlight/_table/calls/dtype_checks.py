"""Operand types that an operation refuses, in PyTorch's words: values of `check=` in rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._core.storage import TensorBase

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Arguments, Scalar, TensorLike
    from ..._tensor.tensor import Tensor

Check = Callable[[list[Any], list[Any]], None]

TWO_BOOLS: Final = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead."
)
ONE_BOOL: Final = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
    "invert a "
    "mask, use the `~` or `logical_not()` operator instead."
)
NEGATED_BOOL: Final = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert "
    "a mask, "
    "use the `~` or `logical_not()` operator instead."
)


def of(raw: Array | Scalar | None) -> D.dtype | None:
    """The dtype of an operand that is an array, or None for a number."""
    return T.from_raw(raw.dtype) if isinstance(raw, T.ndarray) else None


def of_argument(arg: Tensor | float) -> D.dtype | None:
    """The dtype at which an argument takes part, before promotion; None for what isn't a number."""
    if isinstance(arg, TensorBase):
        return T.dtype_of(arg)
    return D.number_dtype(arg) if isinstance(arg, (int, float, complex)) else None


def category(raw: Array | float) -> int:
    """The category of an array or a number."""
    found = of(raw)
    return found.category if found is not None else D.number_dtype(raw).category


def takes(kernel: str, kinds: str, half: bool = True) -> Check:
    """Refuses a common type that isn't of `kinds`: b(ool), i(nteger), f(loat), c(omplex)."""
    allowed = ["bifc".index(kind) for kind in kinds]
    floats = "f" in kinds

    def check(args: Arguments, raws: Arguments) -> None:
        for raw in raws:
            if floats and type(raw) is T.ndarray:
                dtype = raw.dtype
                if dtype is T.FLOAT32 or dtype is T.FLOAT64:
                    return
            found = of(raw)
            if found is not None:
                if found.category not in allowed or (not half and found in (D.float16, D.bfloat16)):
                    raise NotImplementedError(errors.not_implemented(kernel, D.scalar_name(found)))
                return

    return check


def celu_types(args: Arguments, raws: Arguments) -> None:
    """Refuses what `elu` does, but first a slope that is complex, or none."""
    if isinstance(args[1], complex):
        raise RuntimeError(errors.no_conversion("double"))
    if args[1] == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    _ELU_TYPES(args, raws)


_ELU_TYPES = takes("elu_cpu", "f")


def refuses(category: int, error: type[Exception], text: str) -> Check:
    """Refuses operands of one category with a message of its own."""

    def check(args: Arguments, raws: Arguments) -> None:
        for raw in raws:
            if type(raw) is T.ndarray and raw.dtype.kind == "f" and category == D.COMPLEX:
                continue
            found = of(raw)
            if found is not None and found.category == category:
                raise error(text)

    return check


NO_COMPLEX_CLAMP: Final = refuses(
    D.COMPLEX, NotImplementedError, "clamp is not supported for complex types"
)


def subtraction(args: Arguments, raws: Arguments) -> None:
    """Refuses bool tensors, which `-` doesn't take; checks `alpha` too."""
    bools = [of_argument(arg) is D.bool_ for arg in args[:2]]
    if bools[0] and bools[1]:
        raise RuntimeError(TWO_BOOLS)
    if bools[0] or bools[1]:
        raise RuntimeError(ONE_BOOL)
    check_alpha(args, raws)


def negation(args: list[Tensor], raws: list[Array]) -> None:
    """Refuses bool tensors."""
    if of(raws[0]) is D.bool_:
        raise RuntimeError(NEGATED_BOOL)


def check_alpha(args: Arguments, raws: Arguments) -> None:
    """Refuses an `alpha` of a higher category than the operands."""
    if len(raws) < 3 or type(raws[2]) is int:
        return
    alpha = raws[2]
    if type(alpha) is float and type(raws[0]) is T.ndarray and raws[0].dtype.kind == "f":
        return
    highest = max(category(raws[0]), category(raws[1]))
    if isinstance(alpha, bool) and highest != D.BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, (float, complex)) and highest < D.FLOAT:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if isinstance(alpha, complex) and highest < D.COMPLEX:
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )


def whole_quotient(args: Arguments, raws: Arguments) -> None:
    """Refuses `addcdiv` of two tensors of integers."""
    if isinstance(args[2], TensorBase) and args[2]._raw.dtype.kind == "f":
        return
    first, second = of_argument(args[1]), of_argument(args[2])
    if first is None or second is None or max(first.category, second.category) >= D.FLOAT:
        return
    raise RuntimeError(
        "Integer division with addcdiv is no longer supported, and in a future  release addcdiv "
        "will perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be "
        "implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for "
        "integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future "
        "addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), "
        "for all dtypes."
    )


def outer_factors(args: Arguments, raws: Arguments) -> None:
    """Refuses a `beta` or `alpha` of a higher category than the result of `addr`."""
    highest = category(raws[0])
    for name, factor in zip(("beta", "alpha"), raws[3:]):
        if factor is True or factor is False:
            if highest != D.BOOL:
                raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
        elif isinstance(factor, (float, complex)) and highest < D.FLOAT:
            raise RuntimeError(
                f"For integral input tensors, argument {name} must not be a floating point number."
            )


def same_type(args: Arguments, raws: Arguments) -> None:
    """Refuses an `end` or `weight` of another dtype than the first operand.

    A weight without dimensions may be of any: it is promoted with the others.
    """
    end = args[1]
    if (
        type(raws[2]) is not T.ndarray
        and isinstance(end, TensorBase)
        and end._raw.dtype is args[0]._raw.dtype
    ):
        return
    first = of_argument(args[0])
    for name, arg, raw in zip(("end", "weight"), args[1:], raws[1:]):
        found = of_argument(arg)
        if name == "weight" and (type(raw) is not T.ndarray or not raw.ndim):
            continue
        if first is not None and found is not None and found is not first:
            raise RuntimeError(
                f"expected dtype {_word(first)} for `{name}` but got dtype {_word(found)}"
            )


_WORDS: Final = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "int64": "long int", "int32": "int", "int16": "short int", "int8": "signed char",
    "uint8": "unsigned char", "bool": "bool", "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}  # fmt: skip


def _word(d: D.dtype) -> str:
    return _WORDS.get(d.name, d.name)


def takes_with_real(kernel: str, kinds: str) -> Check:
    """`takes` behind a look at the number that follows the tensor, which may not be complex."""
    check = takes(kernel, kinds)

    def ask(args: Arguments, raws: Arguments) -> None:
        if isinstance(args[1], complex):
            raise RuntimeError(errors.no_conversion("double"))
        check(args, raws)

    return ask


def no_derivative(name: str) -> Callable[[Any], Any]:
    """The formula of a floating-point operation that PyTorch has no derivative for."""

    def formula(g: object) -> NoReturn:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    formula.refuses = True  # type: ignore[attr-defined]  # even where no gradient is wanted
    return formula


def unavailable(name: str) -> Callable[[Any], Any]:
    """The formula of an operand for which PyTorch has no derivative."""

    def formula(g: TensorLike) -> NoReturn:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return formula


def both(*checks: Check) -> Check:
    """All of several checks."""

    def check(args: Arguments, raws: Arguments) -> None:
        for one in checks:
            one(args, raws)

    return check


def is_mask(index: Tensor) -> bool:
    """Whether an index is a tensor that chooses as many elements as are true in it."""
    return isinstance(index, TensorBase) and index._raw.dtype.name in ("bool", "uint8")
