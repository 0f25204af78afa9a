"""Whether autocast is on, and for which type: `torch`'s top-level functions about it.

Only what is switched on for the CPU changes anything; for other kinds of device it is remembered.
"""

from __future__ import annotations

import warnings
from contextvars import ContextVar
from typing import Any, Final

from .._base import dtypes as D
from .._base.device import device
from .._base.errors import type_name
from .._core.mode import CURRENT, current, derive, ready
from .._table.modes import autocast as _autocast
from .._table.modes.autocast import Casting

_DTYPES: Final = {
    "cpu": D.bfloat16, "cuda": D.float16, "xla": D.bfloat16, "ipu": D.float16, "xpu": D.float16,
    "hpu": D.bfloat16, "mps": D.float16, "mtia": D.float16, "maia": D.bfloat16,
    "privateuseone": D.float16,
}  # fmt: skip


class _Switches:
    """What is set in a context; immutable, so that a context's copy is its own."""

    __slots__ = ("enabled", "dtypes", "keeps", "nesting")

    def __init__(
        self, enabled: frozenset[str], dtypes: dict[str, D.dtype], keeps: bool, nesting: int
    ) -> None:
        self.enabled = enabled
        self.dtypes = dtypes
        self.keeps = keeps
        self.nesting = nesting


_AT_START: Final = _Switches(frozenset(), _DTYPES, True, 0)
_switches: Final[ContextVar[_Switches]] = ContextVar("rushlight_autocast", default=_AT_START)


def _set(**changes: Any) -> None:
    """Changes switches, and what the mode says of the CPU."""
    now = _switches.get()
    then = _Switches(
        changes.get("enabled", now.enabled), changes.get("dtypes", now.dtypes),
        changes.get("keeps", now.keeps), changes.get("nesting", now.nesting),
    )  # fmt: skip
    _switches.set(then)
    on = "cpu" in then.enabled
    before = current().autocast
    if not on and before is None:
        return
    if on:
        dtype = then.dtypes["cpu"]
        if before is not None and before.dtype is dtype and before.keeps is then.keeps:
            return
        CURRENT.set(derive(ready(), autocast=Casting(dtype, then.keeps)))
    else:
        CURRENT.set(derive(ready(), autocast=None))


def snapshot() -> tuple[object, object]:
    """All that is set now, for `restore`."""
    return _switches.get(), current().autocast


def restore(before: tuple[Any, Any]) -> None:
    """Sets everything as it was."""
    switches, casting = before
    _switches.set(switches)
    if current().autocast is not casting:
        CURRENT.set(derive(ready(), autocast=casting))


def _type(device_type: str, function: str) -> str:
    if type(device_type) is str and device_type in _DTYPES:
        return device_type
    if not isinstance(device_type, str):
        raise TypeError(
            f"{function}(): argument 'device_type' (position 1) must be str, not "
            f"{type(device_type).__name__}"
        )
    kind = device(device_type).type
    if kind not in _DTYPES:
        raise RuntimeError(f"unknown device type for autocast in get_autocast_dispatch_key_from_device_type: {kind}")  # noqa: E501  # fmt: skip
    return kind


def is_autocast_available(device_type: str) -> bool:
    """Whether there is such a thing as autocast for a kind of device.

    Raises:
        RuntimeError: for a name that is no kind of device.

    Parameters:
        device_type: its name, such as "cpu" or "cuda".
    Returns: bool: True of "cuda" too, though there is none here.
    Example:
        >>> torch.amp.is_autocast_available("cpu")
        True
    """
    return device(device_type).type in _DTYPES


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether autocast is on for a kind of device; for CUDA where none is given.

    Parameters:
        device_type: its name, such as "cpu".
    Returns: bool.
    Raises: RuntimeError: for a name that is no kind of device, or one without autocast.
    Example:
        >>> with torch.autocast("cpu"):
        ...     torch.is_autocast_enabled("cpu")
        True
    """
    if device_type is None:
        return "cuda" in _switches.get().enabled
    return _type(device_type, "is_autocast_enabled") in _switches.get().enabled


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switches autocast on or off for a kind of device (one bool alone: for CUDA).

    Parameters:
        device_type: its name, such as "cpu".
        enabled: whether it is on.
    Raises: RuntimeError: for a name that is no kind of device, or one without autocast.
    Example:
        >>> torch.set_autocast_enabled("cpu", True)
        >>> torch.is_autocast_enabled("cpu")
        True
        >>> torch.set_autocast_enabled("cpu", False)
    """
    if enabled is None:
        device_type, enabled = "cuda", device_type
    kind = _type(device_type, "set_autocast_enabled")
    now = _switches.get().enabled
    _set(enabled=now | {kind} if enabled else now - {kind})


def get_autocast_dtype(device_type: str) -> D.dtype:
    """The lower type of a kind of device.

    Parameters:
        device_type: its name, such as "cpu".
    Returns: dtype.
    Raises: RuntimeError: for a name that is no kind of device, or one without autocast.
    Example:
        >>> torch.get_autocast_dtype("cpu")
        torch.bfloat16
    """
    return _switches.get().dtypes[_type(device_type, "get_autocast_dtype")]


def set_autocast_dtype(device_type: str, dtype: D.dtype) -> None:
    """Sets the lower type of a kind of device.

    Parameters:
        device_type: its name, such as "cpu".
        dtype: what `autocast` takes where it is given none.
    Raises: RuntimeError: for a name that is no kind of device, or one without autocast.
    Example:
        >>> torch.set_autocast_dtype("cpu", torch.float16)
        >>> torch.get_autocast_dtype("cpu")
        torch.float16
        >>> torch.set_autocast_dtype("cpu", torch.bfloat16)
    """
    _set(dtypes={**_switches.get().dtypes, _type(device_type, "set_autocast_dtype"): dtype})


def is_autocast_cache_enabled() -> bool:
    """Whether a weight that is used twice is converted once.

    Returns: bool: True at the start.
    Example:
        >>> torch.is_autocast_cache_enabled()
        True
    """
    return _switches.get().keeps


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Sets whether a weight that is used twice is converted once.

    Parameters:
        enabled: whether the converted weight is kept until the outermost `autocast` ends.
    Raises: TypeError: for anything but True and False.
    Example:
        >>> torch.set_autocast_cache_enabled(False)
        >>> torch.is_autocast_cache_enabled()
        False
        >>> torch.set_autocast_cache_enabled(True)
    """
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type_name(enabled)})")
    _set(keeps=enabled)


def clear_autocast_cache() -> None:
    """Lets go of the converted weights that are kept.

    Example:
        >>> torch.clear_autocast_cache()
    """
    _autocast.forget()


def autocast_increment_nesting() -> int:
    """One level of autocast more; how many there are now.

    Returns: int.
    Example:
        >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
        (1, 0)
    """
    _set(nesting=_switches.get().nesting + 1)
    return _switches.get().nesting


def autocast_decrement_nesting() -> int:
    """One level of autocast fewer; how many there are now.

    Returns: int: at 0 the kept weights may go.
    Example:
        >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
        (1, 0)
    """
    _set(nesting=_switches.get().nesting - 1)
    return _switches.get().nesting


# ---- former names --------------------------------------------------------------------------------


def _instead(old: str, new: str) -> None:
    warnings.warn(
        f"torch.{old} is deprecated. Please use torch.{new} instead.",
        DeprecationWarning,
        stacklevel=3,
    )


def is_autocast_cpu_enabled() -> bool:
    """The former name of `is_autocast_enabled("cpu")`.

    Returns: bool.
    Example:
        >>> torch.is_autocast_cpu_enabled()
        False
    """
    _instead("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """The former name of `set_autocast_enabled("cpu", enabled)`.

    Parameters:
        enabled: whether it is on.
    Raises: nothing; it warns that it is deprecated.
    Example:
        >>> torch.set_autocast_cpu_enabled(False)
    """
    _instead("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> D.dtype:
    """The former name of `get_autocast_dtype("cpu")`.

    Returns: dtype.
    Example:
        >>> torch.get_autocast_cpu_dtype()
        torch.bfloat16
    """
    _instead("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: D.dtype) -> None:
    """The former name of `set_autocast_dtype("cpu", dtype)`.

    Parameters:
        dtype: what `autocast` takes where it is given none.
    Raises: nothing; it warns that it is deprecated.
    Example:
        >>> torch.set_autocast_cpu_dtype(torch.bfloat16)
    """
    _instead("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> D.dtype:
    """The former name of `get_autocast_dtype("cuda")`.

    Returns: dtype.
    Example:
        >>> torch.get_autocast_gpu_dtype()
        torch.float16
    """
    _instead("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: D.dtype) -> None:
    """The former name of `set_autocast_dtype("cuda", dtype)`.

    Parameters:
        dtype: what `autocast` takes where it is given none.
    Raises: nothing; it warns that it is deprecated.
    Example:
        >>> torch.set_autocast_gpu_dtype(torch.float16)
    """
    _instead("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


def _former(kind: str) -> dict[str, Any]:
    """The four former functions of a kind of device."""

    def is_enabled() -> bool:
        _instead(f"is_autocast_{kind}_enabled()", f"is_autocast_enabled('{kind}')")
        return is_autocast_enabled(kind)

    def set_enabled(enabled: bool) -> None:
        _instead(
            f"set_autocast_{kind}_enabled(enabled)", f"set_autocast_enabled('{kind}', enabled)"
        )
        set_autocast_enabled(kind, enabled)

    def get_dtype() -> D.dtype:
        _instead(f"get_autocast_{kind}_dtype()", f"get_autocast_dtype('{kind}')")
        return get_autocast_dtype(kind)

    def set_dtype(dtype: D.dtype) -> None:
        _instead(f"set_autocast_{kind}_dtype(dtype)", f"set_autocast_dtype('{kind}', dtype)")
        set_autocast_dtype(kind, dtype)

    for function, new, what, given, returns in (
        (is_enabled, "is_autocast_enabled", "", "", "bool"),
        (set_enabled, "set_autocast_enabled", "enabled: whether it is on.", "False", ""),
        (get_dtype, "get_autocast_dtype", "", "", "dtype"),
        (set_dtype, "set_autocast_dtype", "dtype: what `autocast` takes.", "torch.bfloat16", ""),
    ):
        old = new.replace("autocast", f"autocast_{kind}")
        arguments = f'"{kind}"' + (f", {what.partition(':')[0]}" if what else "")
        parts = [f"The former name of `{new}({arguments})`.\n"]
        parts += [f"Parameters:\n    {what}", "Raises: nothing; it warns."] if what else []
        parts += [f"Returns: {returns}."] if returns else []
        parts += ["Example:", f"    >>> {'_ = ' if returns else ''}torch.{old}({given})"]
        function.__doc__ = "\n".join(parts)
    return {
        f"is_autocast_{kind}_enabled": is_enabled, f"set_autocast_{kind}_enabled": set_enabled,
        f"get_autocast_{kind}_dtype": get_dtype, f"set_autocast_{kind}_dtype": set_dtype,
    }  # fmt: skip


globals().update(_former("ipu"))
globals().update(_former("xla"))

NAMES: Final = sorted(name for name in globals() if "autocast" in name and name[0] != "_")
