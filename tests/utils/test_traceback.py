"""Tracebacks: source of code without a file, stacks that are kept."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from rushlight.utils import _traceback as tracebacks


def test_source_that_has_no_file_is_shown_in_a_traceback() -> None:
    source = "def outer(x):\n    def inner(x):\n        raise ValueError(x)  # look here\n\n"
    source += "    return inner(x + 1)\n"
    held: dict[str, Any] = {"__compile_source__": source}
    exec(source, held)
    shown = tracebacks.report_compile_source_on_error()
    with pytest.raises(ValueError, match="2") as caught, shown:
        held["outer"](1)
    lines = "".join(traceback.format_tb(caught.value.__traceback__))
    assert "# look here" in lines and "return inner(x + 1)" in lines
    assert "in outer" in lines and "in inner" in lines


def test_a_stack_is_kept_and_shown_later() -> None:
    kept = tracebacks.CapturedTraceback.extract()
    short = tracebacks.CapturedTraceback.extract(skip=1)
    assert "test_a_stack_is_kept" in kept.format()[-1]
    assert len(short.format()) == len(kept.format()) - 1
    assert tracebacks.CapturedTraceback.format_all([kept, None]) == [kept.format(), None]
    kept.cleanup()
    assert kept.format() == []
    with pytest.raises(AssertionError, match="NYI"):
        tracebacks.CapturedTraceback.extract(skip=1, cpp=True)


def test_the_last_frame_in_one_line() -> None:
    try:
        raise RuntimeError
    except RuntimeError as error:
        text = tracebacks.format_traceback_short(error.__traceback__)
    assert text.endswith("in test_the_last_frame_in_one_line") and "test_traceback.py:" in text
