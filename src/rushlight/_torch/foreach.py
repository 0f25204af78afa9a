"""`torch._foreach_*`: one operation on each tensor of a list.

They are plain loops over the operations, recorded as these are; PyTorch has them for devices on
which one launch for all tensors pays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from .. import _table as ops
from .._base import errors
from .._core.inplace import apply_inplace, check_writable
from .._core.mode import ready
from .._core.storage import TensorBase
from .._table.elementwise.number import minus, over, plus, times
from ..autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

_f: Any = ops.namespace("").module("rushlight's functions")

_UNARY: Final = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor",
    "frac", "lgamma", "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt",
    "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
_BINARY: Final = {
    "add": "add", "sub": "sub", "mul": "mul", "div": "div", "pow": "pow", "maximum": "maximum",
    "minimum": "minimum", "clamp_max": "clamp_max", "clamp_min": "clamp_min",
}  # fmt: skip
#: Named by lists of tensors in `maximum`, by numbers in `clamp_min`: one and the same.
_OF_NUMBERS: Final = {"maximum": "clamp_min", "minimum": "clamp_max"}
_OF_TENSORS: Final = {"clamp_min": "maximum", "clamp_max": "minimum"}


def _is_tensor(value: Tensor | float) -> bool:
    return isinstance(value, TensorBase)


def _check(tensors: Any, *others: Any) -> list[Any]:
    """The list, if it and lists beside it fit.

    Raises:
        RuntimeError: for an empty list, or one of another length.
    """
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"argument 'self' must be tuple of Tensors, not {errors.type_name(tensors)}"
        )
    for argument, values in enumerate((tensors, *others)):
        if not isinstance(values, (list, tuple)):
            continue
        numbers = argument and not any(_is_tensor(v) for v in values)
        for k, value in enumerate(values):
            if not (_is_tensor(value) or (numbers and isinstance(value, (int, float, complex)))):
                raise TypeError(
                    f"expected Tensor as element {k} in argument {argument}, but got "
                    f"{errors.type_name(value)}"
                )
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for other in others:
        if isinstance(other, (list, tuple)) and len(other) != len(tensors):
            if other and not isinstance(other[0], TensorBase):
                raise RuntimeError("Tensor list must have same number of elements as scalar list.")
            raise RuntimeError(
                "Tensor lists must have the same number of tensors, got "
                f"{len(tensors)} and {len(other)}"
            )
    return list(tensors)


def _writable(tensors: list[Tensor], *others: float) -> list[Any]:
    """The list, as `_check`; a leaf in it is refused before anything is written."""
    own = _check(tensors, *others)
    mode = ready()
    if mode.grad and not mode.inference:
        for t in own:
            if t.requires_grad:
                check_writable(t)
    return own


#: The rows of arithmetic with a number.
_NUMBERS: Final = {"add": plus, "sub": minus, "mul": times, "div": over}


def _each(value: Any, count: int) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else [value] * count


def _name(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _unary(stem: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def fresh(self: Any) -> tuple[Any, ...]:
        own = getattr(_f, stem)
        return tuple([own(t) for t in _check(self)])

    def write(self: Any) -> Any:
        for t in _writable(self):
            getattr(t, stem + "_")()
        return self

    return fresh, write


def _binary(stem: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def choose(other: Any) -> str:
        first = other[0] if isinstance(other, (list, tuple)) and other else other
        table = _OF_TENSORS if isinstance(first, TensorBase) else _OF_NUMBERS
        return table.get(stem, stem)

    def by_number(t: Any, o: Any) -> bool:
        return stem in _NUMBERS and type(o) in (int, float, bool) and bool(t.is_floating_point())

    def fresh(self: Any, other: Any = None, **named: Any) -> tuple[Any, ...]:
        other = _other(other, named)
        if not isinstance(self, (list, tuple)):  # _foreach_pow(number, exponents)
            return tuple([getattr(_f, stem)(self, t) for t in _check(other)])
        own = getattr(_f, choose(other))
        tensors = _check(self, other)
        pairs = zip(tensors, _each(other, len(tensors)))
        return tuple([
            _NUMBERS[stem](t, o) if not named and by_number(t, o) else own(t, o, **named)
            for t, o in pairs
        ])  # fmt: skip

    def write(self: Any, other: Any = None, **named: Any) -> Any:
        other = _other(other, named)
        tensors = _writable(self, other)
        name = choose(other)
        method = name + "_"
        for t, o in zip(tensors, _each(other, len(tensors))):
            if not named and t.requires_grad and by_number(t, o):
                apply_inplace(_NUMBERS[stem].op, [t, o])
            elif hasattr(t, method):
                getattr(t, method)(o, **named)
            else:
                t.copy_(getattr(_f, name)(t, o, **named))
        return self

    return fresh, write


def _other(other: Any, named: dict[str, Any]) -> Any:
    """The second operand, also by the names that PyTorch's overloads give it."""
    if other is None:
        for name in ("scalar", "scalars", "exponent", "tensor"):
            if name in named:
                return named.pop(name)
    return other


def _ternary(stem: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def values(value: Any, named: dict[str, Any], count: int) -> Sequence[Any]:
        value = named.pop("scalars", named.pop("tensors", value))
        if isinstance(value, TensorBase):
            return value.tolist() if value._raw.ndim else [value.item()] * count  # type: ignore[attr-defined]
        return _each(value, count)

    def fresh(
        self: Any, tensor1: Any, tensor2: Any, value: Any = 1, **named: Any
    ) -> tuple[Any, ...]:
        tensors = _check(self, tensor1, tensor2, value)
        own = getattr(_f, stem)
        factors = values(value, named, len(tensors))
        rows = zip(tensors, tensor1, tensor2, factors)
        return tuple([own(t, a, b, value=v) for t, a, b, v in rows])

    def write(self: Any, tensor1: Any, tensor2: Any, value: Any = 1, **named: Any) -> Any:
        tensors = _writable(self, tensor1, tensor2, value)
        factors = values(value, named, len(tensors))
        for t, a, b, v in zip(tensors, tensor1, tensor2, factors):
            getattr(t, stem + "_")(a, b, value=v)
        return self

    return fresh, write


def _foreach_lerp(self: Any, tensors1: Any, weights: Any = None, *, weight: Any = None,
                  scalars: Any = None) -> tuple[Any, ...]:  # fmt: skip
    """`lerp` of each tensor towards its end."""
    share = next(w for w in (weights, weight, scalars) if w is not None)
    own = _check(self, tensors1, share)
    rows = zip(own, tensors1, _each(share, len(own)))
    return tuple([_f.lerp(t, e, w) for t, e, w in rows])


def _foreach_lerp_(self: Any, tensors1: Any, weights: Any = None, *, weight: Any = None,
                   scalars: Any = None) -> Any:  # fmt: skip
    """`lerp_` of each tensor towards its end."""
    share = next(w for w in (weights, weight, scalars) if w is not None)
    own = _writable(self, tensors1, share)
    for t, e, w in zip(own, tensors1, _each(share, len(own))):
        t.lerp_(e, w)
    return self


def _foreach_norm(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Any, ...]:
    """The norm of each tensor, over all its elements."""
    norm = ops.PUBLIC[("linalg", "vector_norm")]
    return tuple([norm(t, ord, dtype=dtype) for t in _check(self)])


def _foreach_powsum(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Any, ...]:
    """The sum of |x| to the power `ord`, over the elements of each tensor."""
    own = [t if dtype is None else t.to(dtype) for t in _check(self)]
    return tuple([_f.pow(_f.abs(t), ord).sum() for t in own])


def _foreach_max(self: Any) -> tuple[Any, ...]:
    """The largest element of each tensor."""
    return tuple([_f.max(t) for t in _check(self)])


def _foreach_mm(self: Any, mat2: Any) -> tuple[Any, ...]:
    """The product of each pair of matrices."""
    return tuple([_f.mm(a, b) for a, b in zip(_check(self, mat2), mat2)])


def _foreach_clone(self: Any, *, memory_format: Any = None) -> tuple[Any, ...]:
    """A copy of each tensor."""
    return tuple([t.clone() for t in _check(self)])


def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Copies each source into its tensor."""
    for t, s in zip(_writable(self, src), src):
        t.copy_(s, non_blocking)
    return self


def _foreach_zero_(self: Any) -> Any:
    """Sets each tensor to zero."""
    for t in _writable(self):
        t.zero_()
    return self


def _make() -> None:
    space = globals()
    for make, stems in ((_unary, _UNARY), (_binary, tuple(_BINARY)),
                        (_ternary, ("addcmul", "addcdiv"))):  # fmt: skip
        for stem in stems:
            fresh, written = make(stem)
            space[f"_foreach_{stem}"] = _name(
                fresh, f"_foreach_{stem}", f"`{stem}` of each tensor of a list; a tuple."
            )
            space[f"_foreach_{stem}_"] = _name(
                written, f"_foreach_{stem}_", f"`{stem}` of each tensor of a list, in place."
            )


_make()


def _amp_foreach_non_finite_check_and_unscale_(self: Any, found_inf: Any, inv_scale: Any) -> None:
    """Multiplies each gradient by `inv_scale`, and notes in `found_inf` one that isn't finite."""
    with no_grad():
        for t in self:
            if not bool(_f.isfinite(t).all()):
                found_inf.fill_(1.0)
            t.mul_(inv_scale)


def _amp_update_scale_(
    self: Tensor, growth_tracker: Tensor, found_inf: Tensor, scale_growth_factor: float,
    scale_backoff_factor: float, growth_interval: int,
) -> Tensor:  # fmt: skip
    """Lets a factor shrink where `found_inf` isn't zero, or grow after so many good steps."""
    from ..amp.grad_scaler import update_scale

    with no_grad():
        update_scale(
            self, growth_tracker, bool(found_inf.item()), scale_growth_factor,
            scale_backoff_factor, growth_interval,
        )  # fmt: skip
    return self


__all__ = sorted(name for name in globals() if name.startswith("_foreach_"))  # noqa: PLE0605
