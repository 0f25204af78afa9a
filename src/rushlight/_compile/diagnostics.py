"""Where the user's code does what a step can't be compiled with, and what to write instead."""

from __future__ import annotations

import dis
import re
from collections.abc import Iterable
from types import CodeType
from typing import Any, Final

_STORES: Final = (
    "STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF", "STORE_NAME", "DELETE_ATTR", "DELETE_GLOBAL",
)  # fmt: skip
_CHANGES: Final = frozenset({
    "append", "extend", "insert", "pop", "remove", "clear", "add", "discard", "update", "popitem",
    "setdefault", "appendleft", "popleft", "extendleft", "rotate", "sort", "reverse", "move_to_end",
    "fill",
})  # fmt: skip
#: What is said of a reason, and what to do about it.
_ADVICE: Final = (
    (r"calls `print`|`printing`", "return what is to be printed, and print it after the call"),
    (r"`(last_epoch|_step_count|_last_lr)`", "call the scheduler's step() after the call"),
    (r"got or lost an entry|'s entries", "return what is to be kept, and store it after the call"),
    (r"was changed by the step|leaves|`.*` is left",
     "keep it in a tensor that is written in place, or change it after the call"),
    (r"calls `(time|_?datetime)", "take the time around the call"),
    (r"calls `logging\.|calls `warnings\.", "return what is to be said, and log it after the call"),
    (r"`[Rr]andom\.|random numbers|random generator",
     "draw from rushlight's generators, by torch.rand"),
    (r"tolist\(\)|numpy\(\)|`float\(\)|`int\(\)", "return the tensor, and read it after the call; "
     "a branch on `tensor.item()` is fine"),
    (r"that it reads by `item\(\)`|read by `item\(\)`",
     "compute with the tensor, or return the number and use it after the call"),
    (r"shape of what .* depends on values", "use torch.where, or a mask that is multiplied by"),
    (r"history can still be used", "call backward() in the step, or return tensor.detach()"),
    (r"step takes a closure", "call the optimizer outside of the step, or compile the closure"),
    (r"which can't be reached", "name the function in the step, or make it a method"),
    (r"another thread may look",
     "call the step a few times before other threads start, or pass the number as an argument"),
    (r"outlives it|gradient mode another", "call it outside of the step"),
    (r"hooks", "take the hooks away, or compute what they do in the step"),
    (r"too many paths", "use torch.where where both sides can be computed"),
    (r"variants already", "give fewer shapes, or tensors in place of texts and flags"),
    (r"calls `(io|posix|_io|Buffered|TextIO|StringIO|shutil|pathlib|json.dump`|pickle)",
     "write files after the call"),
    (r"an iterator|generator\.send|calls `next`", "pass what it gives as an argument"),
    (r"is another one in each call|differs? from call to call|worked on another object",
     "pass it as an argument"),
)  # fmt: skip


def place_of(text: str, codes: Iterable[CodeType]) -> tuple[str, int] | None:
    """The line that changes what a text names in backquotes; None where none is found."""
    named = re.findall(r"`([^`]+)`", text)
    for name in named:
        stem = re.split(r"[.\[]", name)[-1].strip("]'\"") or name
        for wanted in dict.fromkeys((stem, re.split(r"[.\[]", name)[0])):
            for code in codes:
                line = _line(code, wanted)
                if line is not None:
                    return code.co_filename, line
    return None


def _line(code: CodeType, name: str) -> int | None:
    """The line of code that stores a name, or changes what lies under it."""
    line = code.co_firstlineno
    held: int | None = None  # the line on which the name was loaded last
    before: Any = None
    for i in dis.get_instructions(code):
        if i.starts_line is not None:
            line = int(getattr(i, "line_number", None) or i.starts_line)
        if i.opname in _STORES and i.argval == name:
            return line
        loads = i.opname.startswith("LOAD")
        if (
            loads and i.argval in _CHANGES and before is not None and before.argval == name
        ):  # fmt: skip
            return line
        if i.opname in ("STORE_SUBSCR", "DELETE_SUBSCR") and held == line:
            return line
        if loads and (i.argval == name or i.argval == f"'{name}'"):
            held = line
        before = i
    return None


def formats(code: CodeType) -> bool:
    """Whether code may make texts of numbers by `%`."""
    if not any(isinstance(x, str) and "%" in x for x in code.co_consts):
        return False
    return any(i.opname == "BINARY_OP" and i.argrepr == "%" for i in dis.get_instructions(code))


def advice_for(why: str) -> str | None:
    """What to change in a step that can't be compiled for a reason; None where nothing is known."""
    for pattern, advice in _ADVICE:
        if re.search(pattern, why):
            return advice
    return None
