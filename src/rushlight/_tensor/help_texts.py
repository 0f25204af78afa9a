"""What `help` and `inspect.signature` say of functions and methods.

Note [Help costs nothing]
The texts are made from the table beforehand (`python -m tests.table.help_texts`), and lie in a file
that is mapped into memory when the first function is looked at: a function finds its own among the
sorted entries in some microseconds, and no call knows of it. An entry is a form feed, the name, and
the text as CPython's builtins have it: the parameters, a line of two dashes, an empty line, the
rest. The builtins' parameters have no annotations, which CPython doesn't read there.

Lines that occur several times stand once, in front of the entries, in the order in which they come
up; in an entry a mark and two digits of base 64 say which it is.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from typing import TYPE_CHECKING, Final

from .._base.own_packages import package_name

if TYPE_CHECKING:
    import mmap
    from collections.abc import Mapping, Sequence

    from .._base.annotations import AnyCallable

PATH: Final = os.path.join(os.path.dirname(__file__), "help_texts.txt")
START: Final = "\n\f"
RULE: Final = "\n--\n\n"
#: What begins a line that stands elsewhere, and the digits that say which it is.
MARK: Final = "\x01"
DIGITS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
#: The attribute in which functions keep what they say themselves.
OWN_DOC: Final = "_own_doc"


@functools.cache
def _file() -> bytes | mmap.mmap:
    import mmap

    try:
        with open(PATH, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # without the file functions have their own texts
        return b""


@functools.cache
def _front() -> tuple[int, list[bytes]]:
    """Where the entries begin, and the lines in front of them."""
    data = _file()
    start = data.find(START.encode())
    return start, data[:start].split(b"\n")


def _whole(text: str) -> str:
    """An entry with the lines that stand elsewhere."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line[:1] == MARK:
            which = DIGITS.index(line[1]) * len(DIGITS) + DIGITS.index(line[2])
            lines[number] = _front()[1][which].decode()
    return "\n".join(lines)


def help_text(name: str) -> str:
    """The text of a name as `torch.topk`, `linalg.svd`, `Tensor.topk`; empty where it has none."""
    data = _file()
    start = START.encode()
    wanted = name.encode()
    if not data:
        return ""
    # Where the entry begins: not before `low`, before `high`.
    low, high = _front()[0], len(data)
    while low < high:
        middle = (low + high) // 2
        here = data.rfind(start, low, middle + len(start))
        if here < 0:
            here = data.find(start, low, high)
            if here < 0:
                break
        after = data.find(b"\n", here + 2)
        found = data[here + 2 : after]
        end = data.find(start, after)
        if found == wanted:
            return _whole(data[after + 1 : end].decode())
        if found < wanted:
            low = end
        else:
            high = here
    return ""


class TextSignature(inspect.Signature):
    """The signature of a function that takes anything, read from its text when it is asked for."""

    __slots__ = ("text", "found", "doc")

    def __init__(self, text: str, doc: str | None = None) -> None:
        self.text = text
        self.doc = doc  # what the function itself says
        self.found: inspect.Signature | None = None

    def read(self) -> inspect.Signature:
        """The signature that the text says."""
        if self.found is None:
            space: dict[str, object] = dict(vars(sys.modules[package_name()]))
            exec(f"from __future__ import annotations\ndef function{self.text}: ...", space)
            self.found = inspect.Signature.from_callable(space["function"])  # type: ignore[arg-type]
        return self.found

    @property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return self.read().parameters

    @property
    def _return_annotation(self) -> object:
        return self.read().return_annotation

    def replace(self, **changes: object) -> inspect.Signature:  # type: ignore[override]
        """A plain signature with some of its parts changed."""
        return self.read().replace(**changes)  # type: ignore[arg-type]

    __replace__ = replace  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return type(self), (self.text,)


def own_doc(function: object) -> str | None:
    """What a function says without the text that it has been given."""
    known = getattr(function, "__signature__", None)
    kept = getattr(function, OWN_DOC, function.__doc__)
    said = known.doc if isinstance(known, TextSignature) else kept
    return None if said is None else str(said)


def describe(function: AnyCallable, name: str) -> AnyCallable:
    """The function, with the signature and the text of a name if there are any."""
    signature, _, text = help_text(name).partition(RULE)
    if text:
        said = own_doc(function)
        if signature:
            function.__signature__ = TextSignature(signature, said)  # type: ignore[attr-defined]
        else:  # the function's own says more
            setattr(function, OWN_DOC, said)
        function.__doc__ = text
    return function


class ClassText:
    """The docstring of a class: read from the file when somebody asks for it."""

    __slots__ = ("name", "own")

    def __init__(self, name: str, own: str) -> None:
        self.name = name
        self.own = own  # what the class itself says

    def __get__(self, instance: object, owner: object = None) -> str:
        return help_text(self.name).partition(RULE)[2] or self.own


def describe_classes(space: dict[str, object], place: str) -> None:
    """Gives the public classes of a module, by its names, the texts of `place.name`."""
    listed: Sequence[str] = space["__all__"]  # type: ignore[assignment]
    for name in listed:
        kind = space[name]
        if isinstance(kind, type) and kind.__module__.startswith(f"{package_name()}."):
            said = vars(kind).get("__doc__")
            if isinstance(said, str):
                kind.__doc__ = ClassText(f"{place}.{name}", said)  # type: ignore[assignment]
