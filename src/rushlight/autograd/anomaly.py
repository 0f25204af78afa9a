"""Anomaly mode: remembering where nodes were made, and checking gradients for nan."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

from .._core import slow
from .._core.mode import CURRENT, STARTING, ready, replaced
from .._core.node import Node
from .._core.run import ANOMALY, RUNNING


def _trace(node: Node) -> None:
    """Notes in a new node's metadata where it was made, and during which other node's backward."""
    stack = traceback.format_stack()
    metadata: dict[Any, Any] = node.metadata  # type: ignore[attr-defined]
    metadata["traceback_"] = stack[: _own_frames(stack)]
    run = RUNNING.get()
    if run is not None and run.node is not None:
        metadata["parent_"] = run.node.shown()


def _own_frames(stack: list[str]) -> int:
    """How many frames, from the outermost on, are the user's; the rest is this package's."""
    count = len(stack)
    here = __file__.rpartition("autograd")[0]
    while count > 1 and here in stack[count - 1]:
        count -= 1
    return count


def _explain(node: Node) -> None:
    """Warns where a node whose backward failed was made."""
    name = node.name()  # type: ignore[attr-defined]
    metadata: dict[Any, Any] = node.metadata  # type: ignore[attr-defined]
    lines = metadata.get("traceback_")
    if lines is None:
        warnings.warn(
            f"Error detected in {name}. No forward pass information available. Enable detect "
            "anomaly "
            "during forward pass for more information.",
            UserWarning,
            stacklevel=2,
        )
        return
    warnings.warn(
        f"Error detected in {name}. Traceback of forward call that caused the "
        f"error:\n{''.join(lines)}",
        UserWarning,
        stacklevel=2,
    )
    parent = metadata.get("parent_")
    while parent is not None:
        lines = parent.metadata.get("traceback_")
        if lines is None:
            warnings.warn(
                f"\n\nPrevious calculation was induced by {parent.name()}. No forward pass "
                "information "
                "available. Enable detect anomaly during forward pass for more information.",
                UserWarning,
                stacklevel=2,
            )
            return
        warnings.warn(
            f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call "
            "that "
            f"induced the previous calculation:\n{''.join(lines)}",
            UserWarning,
            stacklevel=2,
        )
        parent = parent.metadata.get("parent_")


slow.HANDLERS.trace = _trace
ANOMALY.explain = _explain


def _switch(mode: bool, check_nan: bool) -> None:
    # Contexts that have not been used yet (new threads) start in the mode of the whole process.
    STARTING.anomaly = mode
    STARTING.check_nan = check_nan
    CURRENT.set(replaced(ready(), anomaly=mode, check_nan=check_nan))


class set_detect_anomaly:
    """Switches anomaly mode on or off: at once as a function, until the end as a context."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        _switch(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _switch(self.prev, self.prev_check_nan)


class detect_anomaly:
    """A context in which a failing backward says where its forward was, and nan is an error."""

    def __init__(self, check_nan: bool = True) -> None:
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be "
            "enabled for debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        _switch(True, self.check_nan)

    def __exit__(self, *exc: object) -> None:
        _switch(self.prev, self.prev_check_nan)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return ready().anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode, where it is on, takes nan for an error."""
    return ready().check_nan


__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
           "set_detect_anomaly"]  # fmt: skip
