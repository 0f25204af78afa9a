"""What a program may use to tell what it saw, in a form that repeats exactly."""

import re
from collections.abc import Callable
from typing import Any

ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
SOURCE_LINE = re.compile(r'File "[^"]*", line \d+')
TRIGGERED = re.compile(r"\s*\(Triggered internally at [^)]*\)")


def masked(text: str) -> str:
    """`text` without what changes between two runs: addresses, places in source files."""
    return SOURCE_LINE.sub('File "", line 0', ADDRESS.sub("0x", TRIGGERED.sub("", text)))


def told(error: BaseException) -> str:
    """The type and the text of an exception, without C++ frames and lists of signatures."""
    text = str(error).split("\nException raised from")[0]
    head, signatures, _ = text.partition("but expected one of:")
    head = head.split(" The following argument types are supported:")[0]
    return f"{type(error).__name__}: {masked(head + signatures)}"


def outcome(action: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Prints the value that a call returns, or the exception that it raises; returns the value."""
    try:
        value = action(*arguments, **named)
    except Exception as error:
        print(told(error))
        return None
    print(repr(value))
    return value


def each(**actions: Callable[[], Any]) -> None:
    """Prints the outcome of each action behind its name."""
    for name, action in actions.items():
        print(name, end=": ")
        outcome(action)


def near(value: Any, digits: int = 5) -> str:
    """Numbers to `digits` significant digits, nested as in the value; the rest as it is."""
    if value is None or isinstance(value, bool | int | str):
        return str(value)
    if isinstance(value, float):
        text = f"{value:.{digits}g}"
        return "0" if text in ("-0", "0") or abs(value) < 1e-9 else text
    if isinstance(value, complex):
        return (
            f"{near(value.real, digits)}{'+' if value.imag >= 0 else '-'}{near(abs(value.imag))}j"
        )
    if isinstance(value, list):
        return "[" + ", ".join(near(item, digits) for item in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(near(item, digits) for item in value) + ")"
    return near(value.detach().tolist(), digits)
