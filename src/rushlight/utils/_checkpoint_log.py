"""What `checkpoint(…, debug=True)` says when a rerun differed: every operation of both."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any, Final, Self

from .._core.storage import TensorBase
from ._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_SHORT: Final = {
    "float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int64": "i64",
    "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "b8", "complex64": "c64",
    "complex128": "c128",
}  # fmt: skip
_RULE: Final = "+" + "~" * 78 + "+"
_LINE: Final = "+" + "-" * 78 + "+"

_BEFORE: Final = f""" An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.
Scroll all the way down for guidance on how to navigate these logs.

{_RULE}
|        1. Stack traces of the operators that ran in the original forward     |
{_LINE}

"""
_AGAIN: Final = f"""
{_RULE}
|        2. Stack traces of the operators that ran during recomputation        |
{_LINE}

"""
_LOGS: Final = f"""
{_RULE}
|       3. Log of operators in the original forward and recomputation          |
{_LINE}
(Scroll up to correlate stack traces with each operation listed below. This
 helps identify their source in the code.)

IMPORTANT: Differences in "detach" calls between the original forward and the
           recomputation are expected. They are introduced by the checkpointing
           mechanism and can be ignored.

Operations executed during the original forward:

"""
_AFTER: Final = f"""
{_LINE}
 ERROR: Detected non-determinism while running activation checkpointing

 You are seeing this error because you passed `debug=True` to checkpoint and
 tensors to be saved during the original forward and differ between those saved
 during recomputation. This can happen if different operators were ran in the
 original forward and in the recomputation.

 To identify where the mismatch may be coming from, you can do the following:

 1) Compare the operators ran during original forward and recomputation to
    see where they differ. These operators are printed above in the order they
    were executed.

 2) Review the stack trace for each operator to locate its invocation source.
    Each operator's stack trace is printed in their execution order.

 Note that the logs can be quite long. Here's how they are structured:
 (Tip: you can Ctrl-f for these headers)

 1. Stack traces of the operators that ran in the original forward
 2. Stack traces of the operators that ran during recomputation
 3. Log of operators in the original forward and recomputation
 4. Error message                                             <--- You are here
{"-" * 80}

"""


class OperatorLog(TorchDispatchMode):
    """A context that writes down each operation: its line, and where it was called."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.places: list[list[str]] = []
        self._names: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no other tensor gets the same id

    def __enter__(self) -> Self:
        self.lines.clear()
        self.places.clear()
        self._names.clear()
        self._alive.clear()
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        self._alive.clear()
        super().__exit__(*exc)

    def _name(self, t: TensorBase) -> str:
        if id(t) not in self._names:
            self._names[id(t)] = len(self._names)
            self._alive.append(t)
        return f"${self._names[id(t)]}"

    def _format(self, value: object) -> str:
        if isinstance(value, TensorBase):
            return self._name(value)
        if isinstance(value, (list, tuple)):
            inside = ", ".join(self._format(v) for v in value)
            return f"[{inside}]" if isinstance(value, list) else f"({inside})"
        return repr(value)

    def _write_type(self, value: object) -> str:
        if isinstance(value, TensorBase):
            t: Any = value
            short = _SHORT.get(t.dtype.name, t.dtype.name)
            return f"{self._name(t)}: {short}{list(t.shape)}"
        if isinstance(value, (list, tuple)):
            return "(" + ", ".join(self._write_type(v) for v in value) + ")"
        return repr(value)

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        kwargs = {} if kwargs is None else kwargs
        if types:  # a result that is saved, not a call of the program
            return func(*args, **kwargs)
        given = [self._format(a) for a in args] + [
            f"{k}={self._format(v)}" for k, v in kwargs.items()
        ]
        out = func(*args, **kwargs)
        self.lines.append(f"{self._write_type(out)} = torch._ops.{func}({', '.join(given)})")
        frames = traceback.extract_stack()[:-1]
        own = __file__.rpartition("utils")[0]
        self.places.append(
            [f"{f.filename}:{f.lineno}:{f.name}" for f in reversed(frames)
             if not f.filename.startswith(own)]
        )  # fmt: skip
        return out

    def traces(self, where: str) -> str:
        """Each line with the places that led to it, innermost first."""
        count = len(self.lines)
        return "".join(
            f"{line}   ({k + 1} of {count} in {where})\n\n" + "\n".join(places) + "\n\n\n"
            for k, (line, places) in enumerate(zip(self.lines, self.places))
        )


def report(first: OperatorLog, again: OperatorLog, error: str) -> str:
    """The whole message."""
    return (
        _BEFORE + first.traces("original") + _AGAIN + again.traces("recompute") + _LOGS
        + "\n".join(first.lines) + "\n\nOperations executed during recomputation:\n\n"
        + "\n".join(again.lines) + "\n" + _AFTER + error
    )  # fmt: skip
