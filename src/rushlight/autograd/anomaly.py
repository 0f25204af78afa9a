"""Anomaly mode: remembering where nodes were made, and checking gradients for nan."""

from __future__ import annotations

import itertools
import sys
import warnings
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final

from .._base.errors import check_bool
from .._core.apply import apply1, apply2, apply_list, apply_n
from .._core.interposers import NOT_HANDLED, Interposer, interpose
from .._core.mode import CURRENT, STARTING, Mode, derive, ready
from .._core.node import Node
from .._core.op import Op
from .._core.run import ANOMALY, RUNNING
from .._core.storage import TensorBase
from .edges import public_form

if TYPE_CHECKING:
    import traceback

    from .._base.annotations import Arguments

_HERE: Final = __file__.rpartition("autograd")[0]
PLACE: Final = "place"  # where `Node.meta` keeps a `_Place`


class _Place(list[Any]):
    """Where a node was made: code objects and positions in them, made into text when asked for.

    Formatting a stack takes longer than an operation; walking it takes as long as one NumPy call.
    """

    def lines(self) -> list[str]:
        """The stack as `traceback.format_stack` gives it, without this package's inner frames."""
        frames = list(zip(self[::2], self[1::2]))
        skip = 0
        while skip < len(frames) - 1 and frames[skip][0].co_filename.startswith(_HERE):
            skip += 1
        import traceback

        return traceback.StackSummary.from_list(
            [_summary(code, at) for code, at in reversed(frames[skip:])]
        ).format()


def _summary(code: CodeType, at: int) -> traceback.FrameSummary:
    positions = next(itertools.islice(code.co_positions(), at // 2, None), (None,) * 4)
    line = positions[0] or code.co_firstlineno
    import traceback

    return traceback.FrameSummary(code.co_filename, line, code.co_name, lookup_line=False)


def _trace(node: Node) -> None:
    """Notes in a new node where it was made, and during which other node's backward."""
    meta = node.meta
    if meta is None:
        node.meta = meta = {}
    place = _Place()
    note = place.append
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        note(frame.f_code)
        note(frame.f_lasti)
        frame = frame.f_back
    meta[PLACE] = place
    run = RUNNING.get()
    if run is not None and run.node is not None:
        metadata: dict[Any, Any] = node.metadata  # type: ignore[attr-defined]
        metadata["parent_"] = public_form(run.node)


class _Quick:
    """The mode without anomaly mode, for the anomaly mode that was last in force."""

    __slots__ = ("pair",)

    def __init__(self) -> None:
        self.pair: tuple[Any, Any] = (None, None)

    def of(self, mode: Mode) -> Mode | None:
        """That mode, where nothing is on but anomaly mode; else None."""
        known, quick = self.pair
        if known is not mode:
            quick = derive(mode, anomaly=False, check_nan=True)
            quick = None if quick.slow else quick
            self.pair = (mode, quick)
        return quick


_QUICK: Final = _Quick()


def _noting(op: Op, args: Arguments, mode: Mode) -> object:
    """An operation by the fast path; its node is told where it was made."""
    quick = _QUICK.of(mode)
    if quick is None or op.is_view:
        return NOT_HANDLED
    before = CURRENT.get()
    try:
        CURRENT.set(quick)
        if op.simple and len(args) < 3:
            result = apply1(op, args[0]) if len(args) == 1 else apply2(op, args[0], args[1])
        elif op.lists == 0:
            result = apply_list(op, args[0], tuple(args[1:]))
        else:
            result = apply_n(op, args)
    finally:
        CURRENT.set(before)
    out = result[0] if isinstance(result, (tuple, list)) and result else result
    if isinstance(out, TensorBase) and out._node is not None:
        _trace(out._node)
    return result


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


class _Anomaly(Interposer):
    """Runs operations by the fast path where nothing else is on."""

    def call(self, op: Op, args: list[object], mode: Mode, layered: bool) -> object:
        """An operation in anomaly mode, whose node is told where it was made."""
        return _noting(op, args, mode) if mode.anomaly else NOT_HANDLED


interpose("anomaly", _Anomaly())
ANOMALY.trace = _trace
ANOMALY.explain = _explain


def _switch(mode: bool, check_nan: bool) -> None:
    check_bool("set_anomaly_enabled", "enabled", mode)
    check_bool("set_anomaly_enabled", "check_nan", check_nan, 2)
    # Contexts that have not been used yet (new threads) start in the mode of the whole process.
    STARTING.anomaly = mode
    STARTING.check_nan = check_nan
    CURRENT.set(derive(ready(), anomaly=mode, check_nan=check_nan))


class set_detect_anomaly:
    """Switches anomaly mode on or off: at once as a function, until the end as a context.

    Parameters:
        mode: whether it is on.
        check_nan: whether a gradient with nan is an error.
    Raises: TypeError: for anything but True and False.
    Example:
        >>> with torch.autograd.set_detect_anomaly(True):
        ...     torch.is_anomaly_enabled()
        True
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        try:  # see Note [A context that is interrupted] in `grad_mode`
            _switch(mode, check_nan)
        except BaseException:
            _switch(self.prev, self.prev_check_nan)
            raise

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        try:
            _switch(self.prev, self.prev_check_nan)
        except BaseException:
            _switch(self.prev, self.prev_check_nan)
            raise


class detect_anomaly:
    """A context in which a failing backward says where its forward was, and nan is an error.

    Parameters:
        check_nan: whether a gradient with nan is an error.
    Raises: TypeError: on entering, for anything but True and False. Inside,
        backward raises RuntimeError where a formula gives nan.
    Example:
        >>> x = torch.zeros(1, requires_grad=True)
        >>> with torch.autograd.detect_anomaly():
        ...     (x.sqrt() * 0).backward()
        Traceback (most recent call last):
        ...
        RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
    """

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
        try:
            _switch(True, self.check_nan)
        except BaseException:
            _switch(self.prev, self.prev_check_nan)
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            _switch(self.prev, self.prev_check_nan)
        except BaseException:
            _switch(self.prev, self.prev_check_nan)
            raise


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on.

    Returns: bool.
    Example:
        >>> torch.is_anomaly_enabled()
        False
    """
    return ready().anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode, where it is on, takes nan for an error.

    Returns: bool: True, unless the context in force was made with `check_nan=False`.
    Example:
        >>> torch.is_anomaly_check_nan_enabled()
        True
    """
    return ready().check_nan


__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
           "set_detect_anomaly"]  # fmt: skip
