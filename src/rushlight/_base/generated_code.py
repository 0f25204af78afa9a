"""Functions that are made of text."""

from __future__ import annotations

import linecache
from typing import Any


def define(name: str, source: str, file: str, names: dict[str, Any]) -> Any:
    """The function of that name which a text defines, and what it names.

    Tracebacks show the text, as if it stood in `file`.
    """
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), names)
    return names.pop(name)  # a function that its own names lead to is a cycle
