"""Messages for calls that fit no signature, in PyTorch's words. Slow; only misuse comes here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array import types as T
from ..._base import errors
from ..._base.schema import REQUIRED, Parameter, public_name
from ..._core import slow
from ..._core.op import Op
from ..._core.storage import TensorBase
from ..rows.row import Row
from .argument_parser import listing, wrong_integers
from .conversions import accepts
from .overload_texts import signatures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..._base.annotations import Arguments


def kind_of(value: object) -> str:
    """The type of an argument as messages name it."""
    if isinstance(value, TensorBase):
        return type(value).__name__
    if isinstance(value, (list, tuple)):
        inner = ", ".join(kind_of(v) for v in value)
        if isinstance(value, tuple):
            return f"tuple of ({inner},)" if len(value) == 1 else f"tuple of ({inner})"
        return f"list of [{inner}]"
    return errors.type_name(value)


def _short_kind(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return errors.type_name(value)
    return kind_of(value)


_KIND_TEXT = {"int": "int", "float": "float", "bool": "bool", "str": "str", "Scalar": "Number",
              "Tensor": "Tensor", "ScalarType": "torch.dtype"}  # fmt: skip


def _parameter_kind(p: Parameter) -> str:
    text = _KIND_TEXT.get(p.type, p.type)
    if p.is_list:
        return "tuple of " + (text + "s")
    return text


def explain_rows(
    name: str, rows: list[Row], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> Exception:
    """The TypeError for a call of `name` that none of its rows takes, in the rows' own words."""
    if len(rows) == 1:
        problem = _explain_one(name, rows[0].schema.params, rows[0], args, kwargs)
        return problem or TypeError(f"{name}(): arguments don't fit")
    given = [kind_of(a) for a in args] + [f"{k}={kind_of(v)}" for k, v in kwargs.items()]
    listed = "\n".join(f" * {_with_out(row)}" for row in rows)
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(given)}), but "
        f"expected one of:\n{listed}\n"
    )


def combination(
    name: str, args: tuple[object, ...], kwargs: dict[str, object], kind: str = "torch"
) -> Exception:
    """The TypeError which lists the overloads of a function that isn't made from rows."""
    return listing(name, [s for s in signatures(kind, name) if not s.deprecated], args, kwargs)


def _with_out(row: Row) -> str:
    text = row.schema.signature
    if not row.out:
        return text
    star = ", " if "*" in text else ", *, "
    kind = "Tensor" if row.op.n_out == 1 else "tuple of Tensors"
    return f"{text[:-1]}{star}{kind} out = None)"


def _explain_one(
    name: str,
    params: tuple[Parameter, ...],
    row: Row,
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
) -> Exception | None:
    """The complaint of one signature; None where it finds nothing wrong."""
    positional = [p for p in params if not p.kw_only]
    if len(args) > len(positional):
        least = sum(1 for p in positional if p.default is REQUIRED)
        most = len(positional)
        count = f"{most}" if least == most else f"from {least} to {most}"
        plural = "" if most == 1 else "s"
        return TypeError(
            f"{name}() takes {count} positional argument{plural} but {len(args)} were given"
        )
    known = {public_name(p.name): p for p in params} | {p.name: p for p in params}
    missing: list[str] = []
    for i, p in enumerate(params):
        shown = public_name(p.name)
        given = i < len(args) and not p.kw_only
        by_name = shown in kwargs or p.name in kwargs
        if given and shown in kwargs:
            return TypeError(f"{name}() got multiple values for argument '{shown}'")
        if not given and not by_name:
            if p.default is REQUIRED:
                missing.append(shown)
            continue
        value = args[i] if given else kwargs.get(shown, kwargs.get(p.name))
        problem = "" if missing else _misfit(p, value, row, i)
        if problem and p.type == "int" and p.is_list and isinstance(value, (list, tuple)):
            return wrong_integers(p, name, value, i if given else None)
        if problem:
            place = f"'{shown}' (position {i + 1})" if given else f"'{shown}'"
            return TypeError(
                f"{name}(): argument {place} must be {_parameter_kind(p)}, not {problem}"
            )
    if missing:
        names = ", ".join(f'"{m}"' for m in missing)
        # PyTorch's plural stands with the one, not with the many.
        plural = "s" if len(missing) == 1 else ""
        return TypeError(
            f"{name}() missing {len(missing)} required positional argument{plural}: {names}"
        )
    for k in kwargs:
        if k not in known and k != "out":
            return TypeError(f"{name}() got an unexpected keyword argument '{k}'")
    return None


def _misfit(p: Parameter, value: object, row: Row, position: int) -> str:
    fits, _ = accepts(p, value, row, 0 if p.type == "Tensor" and not row.numbers else position)
    return "" if fits else _short_kind(value)


def explain_forward(
    op: Op, args: Arguments, error: Exception, inplace: bool = False
) -> Exception | None:
    """PyTorch's exception for one that a raw forward has raised; None to let it through."""
    if op.row is not None:
        problem = None if op.row.explain is None else op.row.explain(args, inplace)
        if problem is not None:
            return problem
        for p, arg in zip(op.row.schema.params, args):
            if p.type == "int" and type(arg) is int and not -(1 << 63) <= arg < 1 << 63:
                return ValueError(errors.LONG)
    if isinstance(error, ValueError) and op.broadcasts:
        found = [a._raw.shape for a in args if isinstance(a, TensorBase)]
        whole: tuple[int, ...] = found[0] if found else ()
        for shape in found[1:]:
            text = errors.broadcast(whole, shape)
            if text is not None:
                return RuntimeError(text)
            whole = T.broadcast_shape(whole, shape)
    if isinstance(error, (AttributeError, TypeError)) and op.row is not None:
        for i, p in enumerate(op.row.schema.params):
            if p.is_tensor and i < len(args) and not isinstance(args[i], TensorBase):
                if args[i] is None and (p.optional or p.default is None):
                    continue
                if i and op.broadcasts and T.is_number(args[i]):
                    continue
                name = op.name.rpartition(".")[2]
                return TypeError(
                    f"{name}(): argument '{public_name(p.name)}' (position {i + 1}) "
                    f"must be Tensor, not {_short_kind(args[i])}"
                )
    return None


def _forward(op: Op, raws: Arguments) -> object:
    from . import narrow_types

    return narrow_types.forward(op, raws)


slow.ERRORS.explain = explain_forward
slow.NARROW.forward = _forward
