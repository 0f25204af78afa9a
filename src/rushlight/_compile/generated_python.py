"""Functions made from lines of text: programs, their guards, the quick ways into them."""

from __future__ import annotations

from itertools import count
from typing import Any, Final

from .._array import types as T
from .._array.memory import aliasing as A
from .._base.generated_code import define
from .._core.mode import current
from .._core.storage import bump, new_tensor

_numbers: Final = count()
#: What every text may name.
NAMES: Final[dict[str, Any]] = {
    "current": current, "new_tensor": new_tensor, "bump": bump, "as_array": A.as_array,
    "write_into": T.write_into, "number_of": T.number_of, "empty": A.empty,
    "empty_like": A.empty_like,
}  # fmt: skip


def text_of(name: str, parameters: str, lines: list[str]) -> str:
    """A function's text."""
    return "\n".join([f"def {name}({parameters}):", *("    " + x for x in lines)])


def compile_text(name: str, parameters: str, lines: list[str], names: dict[str, object]) -> Any:
    """A function from its lines, and what they name; tracebacks show its text."""
    source = text_of(name, parameters, [line for x in lines for line in x.split("\n")])
    names.update(NAMES)
    return define(name, source, f"<rushlight program {next(_numbers)}>", names)
