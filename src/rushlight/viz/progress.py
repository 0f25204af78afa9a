"""How far a long run has come, as a live bar on a terminal and as plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(total: int, label: str = "training") -> Iterator[Callable[[str], None]]:
    """Gives a function to call once per step with that step's line of text.

    On a terminal where the package `rich` is installed the lines scroll above a bar that shows the
    steps done out of `total` and the time left; in a pipe, a file or without `rich` they are just
    printed.
    """
    if sys.stdout.isatty():
        try:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
        except ImportError:
            pass
        else:
            columns = (f"[bold]{label}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            with Progress(*columns) as bar:
                task = bar.add_task(label, total=total)

                def step(line: str) -> None:
                    bar.console.print(line, highlight=False, markup=False)
                    bar.advance(task)

                yield step
            return
    yield lambda line: print(line, flush=True)
