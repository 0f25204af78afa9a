"""`torch.Stream` and `torch.Event`: the order of work, and points in it, of any kind of device.

On the CPU work has been done when a call returns: a stream is always at its end. What PyTorch
refuses there (to record an event) is refused here.
"""

from __future__ import annotations

from typing import Any, NoReturn

from .._base.device import device as _device

__all__ = ["Event", "Stream"]

#: Numbers of kinds of devices, as PyTorch counts them.
_TYPES = {"cpu": 0, "meta": 14}
_NO_EVENTS = "cpu backend doesn't support events."


def _of(device: Any) -> _device:
    """The device that is named. Raises: RuntimeError for one that isn't here."""
    if device is None:
        return _device("cpu")
    if isinstance(device, int):
        raise RuntimeError("Cannot access accelerator device when none is available.")
    found = _device(device)
    if found.type not in _TYPES:
        raise RuntimeError(f"PyTorch is not linked with support for {found.type} devices")
    return found


class Stream:
    """The order in which a device works: on the CPU always that of the program.

    Raises: RuntimeError for a device that isn't here.

    Parameters:
        device: the kind of device; the CPU where none is given.
        priority: accepted.
    Example:
        >>> torch.Stream("cpu").device.type
        'cpu'
    """

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        self.device = _of(device)
        self.device_index = -1
        self.device_type = _TYPES[self.device.type]
        self.stream_id = 0

    def query(self) -> bool:
        """True: the work has been done."""
        return True

    def synchronize(self) -> None:
        """Returns at once: the work has been done."""

    def record_event(self, event: Event | None = None) -> NoReturn:
        """Raises RuntimeError: the CPU has no events."""
        raise RuntimeError(_NO_EVENTS)

    def wait_event(self, event: Event) -> None:
        """Returns at once: the work has been done."""

    def wait_stream(self, stream: Stream) -> NoReturn:
        """Raises RuntimeError: the CPU has no events, by which streams wait for each other."""
        raise RuntimeError(_NO_EVENTS)

    def is_capturing(self) -> bool:
        """False: nothing is captured."""
        return False

    @property
    def native_handle(self) -> NoReturn:
        """Raises RuntimeError: there is nothing behind the stream."""
        raise RuntimeError("Backend doesn't support getting stream native handle.")

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *ended: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.device == other.device

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        return (
            f"torch.Stream device_type={self.device.type}, device_index={self.device_index}, "
            f"stream_id={self.stream_id}"
        )


class Event:
    """A point in a stream, which has always been passed.

    Raises: RuntimeError for a device that isn't here.

    Parameters:
        device: the kind of device; the CPU where none is given.
        enable_timing, blocking, interprocess: accepted.
    Example:
        >>> torch.Event("cpu").query()
        True
    """

    def __init__(
        self,
        device: Any = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        self.device = _of(device)
        self.event_id = 0
        self._timed = enable_timing

    def query(self) -> bool:
        """True: the work has been done."""
        return True

    def record(self, stream: Stream | None = None) -> NoReturn:
        """Raises RuntimeError: the CPU has no events."""
        raise RuntimeError(_NO_EVENTS)

    def synchronize(self) -> None:
        """Returns at once: the work has been done."""

    def wait(self, stream: Stream | None = None) -> None:
        """Returns at once: the work has been done."""

    def elapsed_time(self, end_event: Event) -> NoReturn:
        """Raises ValueError: neither event can have been recorded."""
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        raise ValueError("Both events must be recorded before calculating elapsed time.")

    def ipc_handle(self) -> NoReturn:
        """Raises NotImplementedError, as PyTorch does."""
        raise NotImplementedError(
            "torch.Event ipc is not supported yet, please open an issue if you need this!"
        )

    def __repr__(self) -> str:
        return (
            f"torch.Event device_type={self.device.type}, device_index=-1, "
            f"event_flag={int(self._timed)}, event_id={self.event_id}"
        )


for _kind in (Stream, Event):
    _kind.__module__ = "torch"
