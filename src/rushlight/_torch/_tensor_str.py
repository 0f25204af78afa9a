"""`torch._tensor_str`: the parts of a printed tensor, for packages that print their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._array.printing import (
    contents_text,
    current_options,
    get_printoptions,
    printoptions,
    set_printoptions,
)

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]


class _Options:
    """The options in force, as attributes."""

    def __getattr__(self, name: str) -> Any:
        return getattr(current_options(), name)


PRINT_OPTS = _Options()


def _tensor_str(self: Any, indent: int) -> str:
    """The values of a tensor; the lines after the first are set in by `indent`."""
    return contents_text(self.detach()._raw, indent=indent)


def _str(self: Any, *, tensor_contents: str | None = None) -> str:
    """The printed form of a tensor, with other contents where they are given."""
    return str(self.__repr__(tensor_contents=tensor_contents))


def _str_intern(inp: Any, *, tensor_contents: str | None = None) -> str:
    """The same, under the name that subclasses call."""
    return _str(inp, tensor_contents=tensor_contents)


def _add_suffixes(
    tensor_str: str, suffixes: Sequence[str], indent: int, force_newline: bool
) -> str:
    """The text with suffixes behind it, on lines as long as the options allow, and a bracket."""
    lines = [tensor_str]
    length = len(tensor_str) - tensor_str.rfind("\n")
    for suffix in suffixes:
        if force_newline or length + len(suffix) + 2 > current_options().linewidth:
            lines.append(",\n" + " " * indent + suffix)
            length, force_newline = indent + len(suffix), False
        else:
            lines.append(", " + suffix)
            length += len(suffix) + 2
    return "".join(lines) + ")"
