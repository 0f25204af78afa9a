"""How far a long run has come: a live bar on a terminal or in a notebook, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Protocol

from .._base.notebook_forms import preformat

_LINES = 12  # the newest ones, which a notebook shows below its bar


@contextmanager
def progress(total: int, label: str = "training") -> Iterator[Callable[[str], None]]:
    """Gives a function to call once per step with that step's line of text.

    On a terminal where the package `rich` is installed the lines scroll above a bar that shows the
    steps done out of `total` and the time left; in a notebook they stand below such a bar, in one
    place that is written anew; in a pipe, a file or without `rich` they are just printed.
    """
    notebook = _notebook()
    if notebook is not None:
        yield _live(notebook, total, label)
        return
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


class _Publisher(Protocol):
    """What a notebook's kernel shows results by."""

    def publish(self, *, data: dict[str, str], transient: dict[str, str], update: bool) -> None:
        """Shows the forms of a result, in the place of an earlier one where it is an update."""


def _notebook() -> _Publisher | None:
    """What a notebook publishes pictures by; None where the program doesn't run in one."""
    ask = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell: object = ask() if ask is not None else None
    return getattr(shell, "display_pub", None) if hasattr(shell, "kernel") else None


def _live(publisher: _Publisher, total: int, label: str) -> Callable[[str], None]:
    """Shows the bar, and gives what moves it on."""
    lines: list[str] = []
    place = {"display_id": f"rushlight-progress-{id(lines)}"}

    def show(update: bool) -> None:
        publisher.publish(
            data={
                "text/plain": "\n".join(lines) or label,
                "text/html": bar(len(lines), total, label) + preformat("\n".join(lines[-_LINES:])),
            },
            transient=place,
            update=update,
        )

    def step(line: str) -> None:
        lines.append(line)
        show(update=True)

    show(update=False)
    return step


def bar(done: int, total: int, label: str) -> str:
    """A bar as HTML, which needs no script."""
    shown = f'<progress value="{min(done, total)}" max="{max(total, 1)}"></progress>'
    return f"<div>{escape(label)} {shown} {done}/{total}</div>"
