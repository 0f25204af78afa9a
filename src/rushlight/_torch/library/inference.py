"""Schemas from the annotations of Python functions."""

from __future__ import annotations

import collections.abc
import inspect
import typing
from collections.abc import Callable, Iterable
from typing import Any, Final

from ..._base import dtypes as D
from ..._base.device import device
from ..._tensor.tensor import Tensor
from ..types import Number

_BASES: Final[dict[Any, str]] = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", Number: "Scalar",
    D.dtype: "ScalarType", device: "Device",
}  # fmt: skip
_LISTED: Final = (Tensor, int, float, bool, Number)
_RETURNED: Final = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", Number: "Scalar"}


def _parameter_types() -> dict[Any, str]:
    """What an annotation of a parameter may be, and what the schema says for it."""
    found: dict[Any, str] = {}
    for base, text in _BASES.items():
        found[base] = text
        found[typing.Optional[base]] = f"{text}?"  # noqa: UP045
        if base in _LISTED:
            for item, inner in ((base, text), (typing.Optional[base], f"{text}?")):  # noqa: UP045
                if inner.endswith("?") and base is not Tensor:
                    continue
                for kind in (typing.Sequence, typing.List, collections.abc.Sequence, list):  # noqa: UP006
                    found[kind[item]] = f"{inner}[]"
                    found[typing.Optional[kind[item]]] = f"{inner}[]?"  # noqa: UP045
    return found


_PARAMETERS: Final = _parameter_types()


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:
    """The schema of a function, from its annotations and defaults.

    Parameters:
        prototype_function: the function; each parameter and the result are annotated.
        mutates_args: the names of arguments that it writes, or "unknown".
        op_name: a name to stand in front.
    Returns: the schema's text.
    Raises:
        ValueError: for a parameter or a result that a schema has no word for, and for a name among
            `mutates_args` that isn't a parameter's.
        TypeError: for what can't be called.
    Example:
        >>> def scale(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
        ...     return x * factor
        >>> torch.library.infer_schema(scale, mutates_args=())
        '(Tensor x, float factor=2.0) -> Tensor'
    """
    signature = inspect.signature(prototype_function)

    def refuse(what: str) -> ValueError:
        return ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    names = getattr(prototype_function, "__globals__", {})
    written: list[str] = []
    keywords_began = False
    seen: set[str] = set()
    for position, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise refuse("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords_began:
            written.append("*")
            keywords_began = True
        if parameter.annotation is parameter.empty:
            raise refuse(f"Parameter {name} must have a type annotation.")
        annotation = _evaluate(parameter.annotation, names)
        kind = _PARAMETERS.get(annotation)
        if kind is None:
            raise refuse(
                f"Parameter {name} has unsupported type {parameter.annotation}. The valid types "
                f"are: {_PARAMETERS.keys()}."
            )
        if mutates_args == "unknown" or name in mutates_args:
            if not kind.startswith("Tensor"):
                if mutates_args != "unknown":
                    raise refuse(
                        f"Parameter {name} is in mutable_args but only Tensors or collections of "
                        "Tensors can be mutated"
                    )
            else:
                kind = f"Tensor(a{position}!){kind[len('Tensor') :]}"
        seen.add(name)
        if parameter.default is parameter.empty:
            written.append(f"{kind} {name}")
            continue
        default = parameter.default
        if default is None or isinstance(default, (bool, int, float)):
            shown = str(default)
        elif isinstance(default, (str, device)):
            shown = f'"{default}"'
        elif isinstance(default, D.dtype):
            shown = str(default).removeprefix("torch.")
        else:
            raise refuse(
                f"Parameter {name} has an unsupported default value type {type(default)}. Please "
                "file an issue on GitHub so we can prioritize this."
            )
        written.append(f"{kind} {name}={shown}")
    if mutates_args != "unknown" and set(mutates_args) - seen:
        raise refuse(
            f"{sorted(set(mutates_args) - seen)} in mutates_args were not found in the function's "
            "arguments."
        )
    if signature.return_annotation is signature.empty:
        raise refuse("No return type annotation was provided. Please add one.")
    given = _evaluate(signature.return_annotation, names)
    result = _result(given, refuse)
    return f"{op_name or ''}({', '.join(written)}) -> {result}"


def _evaluate(annotation: type[Any], names: dict[str, Any]) -> type[Any]:
    """An annotation that was written as a string, as what it stands for."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names)
    except Exception:
        raise ValueError(f"Unsupported type annotation {annotation}. It is not a type.") from None


def _result(given: type[Any], refuse: Callable[[str], ValueError]) -> str:
    if given is None or given is type(None):
        return "()"
    kinds: dict[Any, str] = dict(_RETURNED)
    for kind in (typing.List, list):  # noqa: UP006
        kinds[kind[Tensor]] = "Tensor[]"
    if typing.get_origin(given) is tuple:
        parts = typing.get_args(given)
        if parts and all(part in kinds for part in parts):
            texts = [kinds[part] for part in parts]
            return f"({', '.join(texts)})" if len(texts) > 1 else texts[0]
    elif given in kinds:
        return kinds[given]
    raise refuse(f"Return has unsupported type {given}. The valid types are: {kinds}.")
