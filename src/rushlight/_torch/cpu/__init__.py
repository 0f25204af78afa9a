"""`torch.cpu`: the one device there is, seen as other devices are."""

from __future__ import annotations

from typing import Any

from ..._base.lazy import lazy

__all__ = [
    "Event", "Stream", "StreamContext", "current_device", "current_stream", "device_count",
    "get_capabilities", "is_available", "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip


class Stream:
    """The order in which work is done: on the CPU always that of the program."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Returns at once: the work has been done."""

    def record_event(self) -> None:
        """Does nothing."""

    def wait_event(self, event: Any) -> None:
        """Returns at once: the work has been done."""


class Event:
    """A point in a stream, which has always been passed."""

    def query(self) -> bool:
        """True: the work has been done."""
        return True

    def record(self, stream: Any = None) -> None:
        """Does nothing."""

    def synchronize(self) -> None:
        """Returns at once."""

    def wait(self, stream: Any = None) -> None:
        """Returns at once."""


_default_cpu_stream = Stream()
_current_stream: Any = _default_cpu_stream


def is_available() -> bool:
    """True: programs run on it."""
    return True


def is_initialized() -> bool:
    """True: programs run on it."""
    return True


def synchronize(device: Any = None) -> None:
    """Returns at once: work on the CPU has been done when a call returns."""


def current_stream(device: Any = None) -> Stream:
    """The stream that is selected."""
    return _current_stream


class StreamContext:
    """A context in which a stream is selected; None selects nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.prev_stream = _default_cpu_stream

    def __enter__(self) -> None:
        global _current_stream
        if self.stream is None:
            return
        self.prev_stream = _current_stream
        _current_stream = self.stream

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        global _current_stream
        if self.stream is not None:
            _current_stream = self.prev_stream


def stream(stream: Any) -> StreamContext:
    """A context in which a stream is selected."""
    return StreamContext(stream)


def device_count() -> int:
    """1."""
    return 1


def set_device(device: Any) -> None:
    """Does nothing: there is one device."""


def current_device() -> str:
    """The name of the device."""
    return "cpu"


def get_capabilities() -> dict[str, Any]:
    """What the processor can do, as far as the operating system says: a flag by name."""
    found: dict[str, Any] = {}
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            for line in lines:
                if line.startswith(("flags", "Features")):
                    found = dict.fromkeys(line.partition(":")[2].split(), True)
                    break
    except OSError:  # not Linux
        pass
    return found


__getattr__ = lazy(__name__, {"amp": ".amp"})
