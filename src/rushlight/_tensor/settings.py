"""Process-wide settings and small questions about tensors, under `torch`'s top-level names."""

from __future__ import annotations

import warnings
from typing import Any, Final

from .._base import dtypes as D
from .._base.determinism import DETERMINISM, choose
from .._base.device import default_device, device, set_default
from .._base.errors import boolean_value, type_name
from .._base.lazy import later
from .._table.calls.argument_parser import misuse
from .._table.calls.composite_checks import guard
from .._table.rows import warn_once as _once
from .public_functions import make_asking_function
from .tensor import Tensor

parallel = later("_array.memory.parallel")
openblas = later("_array.kernels.openblas")

__all__ = [
    "are_deterministic_algorithms_enabled", "get_default_device",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision", "get_num_interop_threads", "get_num_threads",
    "is_complex", "is_deterministic_algorithms_warn_only_enabled",
    "is_distributed", "is_floating_point", "is_inference", "is_nonzero", "is_same_size",
    "is_signed", "is_tensor", "is_warn_always_enabled", "numel", "set_default_device",
    "set_default_tensor_type", "set_deterministic_debug_mode", "set_float32_matmul_precision",
    "set_flush_denormal", "set_num_interop_threads", "set_num_threads", "set_warn_always",
    "typename", "use_deterministic_algorithms",
]  # fmt: skip

_settings: dict[str, Any] = {"warn_always": False, "precision": "highest"}
_DEBUG_MODES: Final = {"default": 0, "warn": 1, "error": 2}


def _tensor(name: str, value: object) -> Tensor:
    if isinstance(value, Tensor):
        return value
    raise misuse("torch", name, (value,), {})


# ---- questions about a tensor --------------------------------------------------------------------
def is_tensor(obj: object) -> bool:
    """Whether `obj` is a tensor.

    Parameters:
        obj: any value.
    Returns: whether it is a tensor.
    Raises: nothing.
    Example:
        >>> torch.is_tensor(torch.ones(1))
        True
    """
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are real floating-point numbers.

    Parameters:
        input: the tensor that is asked about.
    Shapes: any.
    Returns: whether its elements are real floating-point numbers.
    Raises:
        TypeError: for what is no tensor.
    Example:
        >>> torch.is_floating_point(torch.ones(1))
        True
    """
    return _tensor("is_floating_point", input).is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex.

    Parameters:
        input: the tensor that is asked about.
    Shapes: any.
    Returns: whether its elements are complex.
    Raises:
        TypeError: for what is no tensor.
    Example:
        >>> torch.is_complex(torch.ones(1))
        False
    """
    return _tensor("is_complex", input).is_complex()


def is_signed(input: Tensor) -> bool:
    """Whether the elements can be negative.

    Parameters:
        input: a tensor of any type.
    Shapes: any.
    Returns: bool: False for bool and unsigned integers, else True.
    Raises: TypeError: for anything but a tensor.
    Example:
        >>> torch.is_signed(torch.tensor([1, 2])), torch.is_signed(torch.tensor([True]))
        (True, False)
    """
    return input.is_signed()


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode.

    Parameters:
        input: a tensor of any type.
    Shapes: any.
    Returns: bool: such a tensor has no version, and no graph can be built on it.
    Raises: TypeError: for anything but a tensor.
    Example:
        >>> with torch.inference_mode():
        ...     x = torch.ones(2)
        >>> torch.is_inference(x)
        True
    """
    return input.is_inference()


def is_distributed(input: Tensor) -> bool:
    """False: tensors live in this process.

    Parameters:
        input: a tensor of any type.
    Shapes: any.
    Returns: bool: False.
    Raises: TypeError: for anything but a tensor.
    Example:
        >>> torch.is_distributed(torch.ones(2))
        False
    """
    return False


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape.

    Parameters:
        input: one of them.
        other: the other one; types and values don't matter.
    Shapes: any.
    Returns: bool.
    Raises: TypeError: for anything but tensors.
    Example:
        >>> torch.is_same_size(torch.ones(2, 3), torch.ones(3, 2))
        False
    """
    return bool(input.shape == other.shape)


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element differs from zero.

    Raises:
        RuntimeError: for a tensor of any other number of elements.

    Parameters:
        input: a tensor with one element.
    Shapes: any with one element.
    Returns: bool.
    Example:
        >>> torch.is_nonzero(torch.tensor([0.0])), torch.is_nonzero(torch.tensor(3))
        (False, True)
    """
    if input.numel() != 1:
        raise RuntimeError(boolean_value(input.numel()))
    return bool(input)


def numel(input: Tensor) -> int:
    """The number of elements.

    Parameters:
        input: the tensor that is counted.
    Shapes: any.
    Returns: the number of elements.
    Raises:
        TypeError: for what is no tensor.
    Example:
        >>> torch.numel(torch.ones(2, 3))
        6
    """
    return input.numel()


for _name in (
    "is_complex",
    "is_floating_point",
    "is_signed",
    "is_inference",
    "is_distributed",
    "is_same_size",
    "is_nonzero",
    "numel",
):
    globals()[_name] = make_asking_function(guard("torch", _name, globals()[_name]), _name)


def typename(obj: object) -> str:
    """The full name of a value's type; of a tensor, its legacy name, such as torch.FloatTensor.

    Parameters:
        obj: any value.
    Returns: str.
    Raises: nothing.
    Example:
        >>> torch.typename(torch.ones(1)), torch.typename(3)
        ('torch.FloatTensor', 'int')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if isinstance(obj, type) or hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", "") or ""
    return kind.__qualname__ if module in ("", "builtins") else f"{module}.{kind.__qualname__}"


# ---- threads -------------------------------------------------------------------------------------
def get_num_threads() -> int:
    """How many threads a large operation may use.

    Returns: int: that of processors, unless `set_num_threads` or the environment says another.
    Example:
        >>> torch.get_num_threads() >= 1
        True
    """
    return parallel.get_num_threads()


def set_num_threads(int: int) -> None:
    """Sets how many threads a large operation may use, products of matrices by BLAS among them.

    Raises:
        RuntimeError: for anything but a positive integer.

    Parameters:
        int: how many, from 1.
    Example:
        >>> before = torch.get_num_threads()
        >>> torch.set_num_threads(1)
        >>> torch.get_num_threads()
        1
        >>> torch.set_num_threads(before)
    """
    _positive("set_num_threads", int)
    parallel.set_num_threads(int)
    openblas.set_num_threads(int)


def get_num_interop_threads() -> int:
    """1: operations run one after the other.

    Returns: int: 1.
    Example:
        >>> torch.get_num_interop_threads()
        1
    """
    return 1


def set_num_interop_threads(int: int) -> None:
    """Accepted; operations run one after the other.

    Raises:
        RuntimeError: for anything but a positive integer.

    Parameters:
        int: how many, from 1; only looked at.
    Example:
        >>> torch.set_num_interop_threads(2)
        >>> torch.get_num_interop_threads()
        1
    """
    _positive("set_num_interop_threads", int)


def _positive(name: str, value: float) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise RuntimeError(f"{name} expects an int, but got {type(value).__name__}")
    if value >= 1 << 31:
        raise ValueError(f"Overflow when unpacking long{' long' if value >= 1 << 63 else ''}")
    if value < 1:
        raise RuntimeError(f"{name} expects a positive integer")


# ---- devices and default types -------------------------------------------------------------------
def get_default_device() -> device:
    """Where new tensors are made if nobody says where.

    Returns: device: what `set_default_device`, or a `with torch.device(...)` around, says.
    Example:
        >>> torch.get_default_device()
        device(type='cpu')
    """
    return default_device()


def set_default_device(device: str | None) -> None:
    """Has new tensors made on a device if nobody says where: the CPU or "meta"; None: the CPU.

    Raises:
        AssertionError, RuntimeError: for any other.

    Parameters:
        device: its name, or a `torch.device`; None to go back to the CPU.
    Example:
        >>> torch.set_default_device("meta")
        >>> torch.ones(3).is_meta
        True
        >>> torch.set_default_device(None)
    """
    set_default(device)


def set_default_tensor_type(t: Tensor) -> None:
    """Sets the default floating type by a legacy tensor type, such as `torch.DoubleTensor`.

    Raises:
        TypeError: for types that aren't floating.

    Parameters:
        t: one of the legacy types of floating tensors, or its full name.
    Shapes: none.
    Example:
        >>> torch.set_default_tensor_type("torch.DoubleTensor")
        >>> torch.ones(1).dtype
        torch.float64
        >>> torch.set_default_dtype(torch.float32)
    """
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    name = t if isinstance(t, str) else getattr(t, "__name__", "")
    if "cuda" in str(t):
        raise TypeError(f"type {name} not available. Torch not compiled with CUDA enabled.")
    for found in (D.float16, D.bfloat16, D.float32, D.float64):
        if name.rpartition(".")[2] == f"{D.scalar_name(found)}Tensor":
            D.set_default_dtype(found)
            return
    legacy = isinstance(t, str) or (name.endswith("Tensor") and name != "Tensor")
    refusal = "only floating-point types are supported as the default type"
    raise TypeError(refusal if legacy else f"invalid type object: {refusal}")


# ---- switches ------------------------------------------------------------------------------------
def set_warn_always(b: bool, /) -> None:
    """Whether warnings that are given once are given each time.

    Raises:
        RuntimeError: for anything but a bool.

    Parameters:
        b: True: each time; False, as at the start: once in a process.
    Example:
        >>> torch.set_warn_always(True)
        >>> torch.is_warn_always_enabled()
        True
        >>> torch.set_warn_always(False)
    """
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _settings["warn_always"] = b
    _once.Always.on = b


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` has set.

    Returns: bool.
    Example:
        >>> torch.is_warn_always_enabled()
        False
    """
    return bool(_settings["warn_always"])


def set_flush_denormal(mode: bool) -> bool:
    """False: the processor's treatment of denormal numbers can't be set from here.

    Raises:
        RuntimeError: for anything but a bool.

    Parameters:
        mode: whether denormal numbers should count as zero.
    Returns: bool: False: nothing has changed.
    Example:
        >>> torch.set_flush_denormal(True)
        False
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return False


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Has operations whose result may differ from run to run refuse, or warn.

    While it is on, memory that nobody has written is filled (`utils.deterministic`).

    Raises:
        TypeError: for anything but bools.

    Parameters:
        mode: whether such operations refuse.
        warn_only: whether they warn and run all the same.
    Example:
        >>> torch.use_deterministic_algorithms(True, warn_only=True)
        >>> torch.get_deterministic_debug_mode()
        1
        >>> torch.use_deterministic_algorithms(False)
    """
    for argument, value in (("'mode' (position 1)", mode), ("'warn_only'", warn_only)):
        if not isinstance(value, bool):
            raise TypeError(
                f"_set_deterministic_algorithms(): argument {argument} must be bool, not "
                f"{type_name(value)}"
            )
    choose(mode, warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` has set.

    Returns: bool.
    Example:
        >>> torch.are_deterministic_algorithms_enabled()
        False
    """
    return DETERMINISM.on


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was asked for warnings only.

    Returns: bool.
    Example:
        >>> torch.is_deterministic_algorithms_warn_only_enabled()
        False
    """
    return DETERMINISM.warns_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Sets determinism by number or name: 0 "default", 1 "warn", 2 "error".

    Raises:
        RuntimeError: for any other number or name.
        TypeError: for anything else.

    Parameters:
        debug_mode: what happens at an operation without a deterministic way: nothing, a warning, an
            error.
    Example:
        >>> torch.set_deterministic_debug_mode("error")
        >>> torch.are_deterministic_algorithms_enabled()
        True
        >>> torch.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    level = _DEBUG_MODES.get(debug_mode, -1) if isinstance(debug_mode, str) else debug_mode
    if level not in (0, 1, 2):
        raise RuntimeError(
            "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
            f"{debug_mode}"
            if isinstance(debug_mode, str)
            else f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    choose(level > 0, level == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2, as `set_deterministic_debug_mode` has set.

    Returns: int.
    Example:
        >>> torch.get_deterministic_debug_mode()
        0
    """
    return (1 if DETERMINISM.warns_only else 2) if DETERMINISM.on else 0


def set_float32_matmul_precision(precision: str) -> None:
    """Accepted: products of float32 matrices are always of the highest precision.

    Parameters:
        precision: "highest", "high" or "medium".
    Raises: nothing: another text is warned about and ignored.
    Example:
        >>> torch.set_float32_matmul_precision("high")
        >>> torch.get_float32_matmul_precision()
        'high'
        >>> torch.set_float32_matmul_precision("highest")
    """
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.",
            UserWarning,
            stacklevel=2,
        )
        return
    _settings["precision"] = precision


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` has set.

    Returns: str: "highest" at the start.
    Example:
        >>> torch.get_float32_matmul_precision()
        'highest'
    """
    return str(_settings["precision"])
