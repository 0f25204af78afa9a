"""Devices: where a tensor lives. This build computes on the CPU; "meta" tensors have no data."""

from __future__ import annotations

import functools
import re
import warnings
from contextvars import ContextVar
from operator import index as index_of
from typing import TYPE_CHECKING, Any, Final, NoReturn, SupportsIndex

from .error_notes import advise

if TYPE_CHECKING:
    from .annotations import AnyCallable

_KNOWN: Final = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone"
)
_TYPES: Final = frozenset(_KNOWN.split(", "))


def _as_index(index: SupportsIndex) -> int | None:
    """A device's index as PyTorch keeps it: a signed byte, of which -1 means none.

    Raises:
        RuntimeError, ValueError: for a negative number, and for one of more than 64 bits.
    """
    index = index_of(index)
    if not -(2**63) <= index < 2**63:
        raise ValueError("Overflow when unpacking long long")
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    byte = (index + 128) % 256 - 128
    return None if byte == -1 else byte


_cpu: Final[list[device]] = []  # the one that there is


class device:
    """A device such as `device("cpu")` or `device("cuda", 0)`; compares and hashes by value.

    Raises:
        RuntimeError: for a string that names no device.

    Parameters:
        type: its name, "cpu" or "cuda:0", or another device; what isn't there can be named too, but
            holds no tensors.
        index: which one of its kind.
    Example:
        >>> torch.device("cuda:1")
        device(type='cuda', index=1)
        >>> with torch.device("meta"):
        ...     torch.ones(2).device
        device(type='meta')
    """

    __slots__ = ("type", "index")

    type: str
    index: int | None

    def __new__(cls, type: object = None, index: object = None) -> device:
        # Programs make it again and again, and who gets it asks whether it is the one known.
        if (
            index is None
            and _cpu
            and (type is _cpu[0] or (type.__class__ is str and type == "cpu"))
        ):
            return _cpu[0]
        return object.__new__(cls)

    def __init__(self, type: str | device | int, index: int | None = None) -> None:
        if type == "cpu" and index is None:  # nearly always
            self.type, self.index = "cpu", None
            return
        if isinstance(type, device):
            self.type, self.index = type.type, type.index if index is None else index
            return
        if isinstance(type, int):
            _refuse_number(type)
        if isinstance(index, int) and not isinstance(index, bool):
            index = _as_index(index)
        if isinstance(type, bytes):
            type = type.decode()
        if not type:
            raise RuntimeError("Device string must not be empty")
        if isinstance(index, bool) or not (index is None or isinstance(index, int)):
            given = index.__class__.__name__
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {given}")
        if type.__class__ is str and type in _TYPES:
            self.type, self.index = type, index
            return
        match = re.fullmatch(r"([a-z_]+)(?::(0|[1-9]\d*))?", type)
        if match is None:
            raise RuntimeError(f"Invalid device string: '{type}'")
        if match[1] not in _TYPES:
            raise RuntimeError(
                f"Expected one of {_KNOWN} device type at start of device string: {type}"
            )
        if match[2] is not None and index is not None:
            raise RuntimeError(
                f"type (string) must not include an index because index was passed "
                f"explicitly: {type}"
            )
        if match[2] is not None and int(match[2]) >= 1 << 31:
            raise RuntimeError(
                f"Could not parse device index '{match[2]}' in device string '{type}'"
            )
        self.type = match[1]
        self.index = index if match[2] is None else _as_index(int(match[2]))

    def __copy__(self) -> device:
        return self

    def __deepcopy__(self, memo: object) -> device:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index})"

    def __reduce__(self) -> tuple[object, tuple[str | int, ...]]:
        return device, (self.type,) if self.index is None else (self.type, self.index)

    # ---- as a context: where new tensors are made -----------------------------------------------
    def __enter__(self) -> device:
        found = usable(self)
        stack, before = _before.get(), _default.get()
        DEFAULTS.changed = True
        try:  # see Note [A context that is interrupted] in `autograd.grad_mode`
            _before.set((*stack, before))
            _default.set(found)
        except BaseException:
            _before.set(stack)
            _default.set(before)
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        stack: tuple[Any, ...] = ()
        try:
            stack = _before.get()
            _default.set(stack[-1])
            _before.set(stack[:-1])
        except BaseException:
            stack = stack or _before.get()
            _default.set(stack[-1])
            _before.set(stack[:-1])
            raise

    def __call__(self, function: AnyCallable) -> Any:
        """A function that makes its tensors on this device: the device as a decorator."""

        @functools.wraps(function)
        def on_device(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return on_device


CPU: Final = device("cpu")
_cpu.append(CPU)
META: Final = device("meta")  # where tensors have a shape and a type, and no data
_ADVICE: Final = (
    "tensors live on the CPU here: choose the device by "
    '`"cuda" if torch.cuda.is_available() else "cpu"`, and pass map_location="cpu" to torch.load'
)


class Defaults:
    """Whether anybody has ever said where new tensors are made, and where that is if so."""

    __slots__ = ("changed", "where")

    def __init__(self) -> None:
        self.changed = False
        self.where = CPU  # for all contexts that don't say


DEFAULTS: Final = Defaults()
_default: Final[ContextVar[device | None]] = ContextVar("rushlight_device", default=None)
_before: Final[ContextVar[tuple[Any, ...]]] = ContextVar("rushlight_devices_before", default=())


def default_device() -> device:
    """Where tensors are made if nobody says where."""
    return _default.get() or DEFAULTS.where


def set_default(where: str | device | int | None) -> None:
    """Has tensors made on a device if nobody says where; None: on the CPU."""
    DEFAULTS.where = CPU if where is None else usable(where)
    DEFAULTS.changed = True


def usable(where: str | device | int) -> device:
    """The device, if tensors can be there: the CPU or "meta".

    Raises:
        AssertionError, RuntimeError: for any other, as `check_cpu` does.
    """
    found = device(where) if not hasattr(where, "__index__") else check_cpu(where)
    return META if found.type == "meta" else check_cpu(found)


def on_meta(where: str | device | int | None, out: object = None) -> bool:
    """Whether a new tensor gets no data: the device, or else the default one, is "meta".

    Raises:
        AssertionError, RuntimeError: for a device that isn't here, as `check_cpu` does, or isn't
            that of `out`.
    """
    if where is None:
        return DEFAULTS.changed and default_device() is META
    if out is not None:
        kind, have = find_device(where).type, "meta" if getattr(out, "is_meta", False) else "cpu"
        if kind != have:
            text = f"device type {kind} does not match device type of out parameter ({have})"
            raise RuntimeError(text)
    if where is CPU or (type(where) is str and where == "cpu"):
        return False
    return usable(where) is META


_NO_ACCELERATOR: Final = "Cannot access accelerator device when none is available."


def no_cuda() -> AssertionError:
    """PyTorch's error where there is no CUDA, with what to do."""
    return advise(AssertionError("Torch not compiled with CUDA enabled"), _ADVICE)


def find_device(where: str | device | int) -> device:
    """The device that is meant.

    Raises:
        RuntimeError: for what is no device; for a number, which means an accelerator.
    """
    if hasattr(where, "__index__"):
        _refuse_number(where)
    return device(where)


def _refuse_number(where: SupportsIndex) -> NoReturn:
    """Refuses a device by its number, which means an accelerator.

    Raises:
        RuntimeError: in PyTorch's words.
        ValueError: for a number of more than 64 bits.
    """
    _as_index(where)
    raise RuntimeError(_NO_ACCELERATOR)


def cuda_asked(where: str | device | int | None) -> Exception:
    """What PyTorch says to a tensor that shall go to a CUDA device.

    Raises:
        RuntimeError: for what is no device.
    """
    if where is not None and find_device(where).type != "cuda":
        return RuntimeError("Invalid device, must be cuda device")
    return no_cuda()


def check_cpu(where: str | device | int | None) -> device:
    """The CPU device, if `where` names it.

    Raises:
        AssertionError: for CUDA, in PyTorch's words for a build without it.
        RuntimeError: for any other device.
    """
    if where is None:
        return CPU
    if hasattr(where, "__index__"):
        _refuse_number(where)
    found = device(where)
    if found.type == "cpu":
        return CPU
    if found.type == "cuda":
        raise no_cuda()
    raise advise(
        RuntimeError(f"Rushlight computes on the CPU; there is no device {found} here"), _ADVICE
    )


def warn_of_pinning(level: int, *methods: str) -> None:
    """Warns that methods of tensors, `level` calls away, have been given a device."""
    for method in methods:
        warnings.warn(
            f"The argument 'device' of Tensor.{method}() is deprecated. Please do not pass this "
            "argument.",
            DeprecationWarning,
            stacklevel=level + 1,
        )
