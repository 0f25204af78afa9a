"""The names that files use for classes and functions, and what they mean here.

Files are PyTorch's, so they say `torch.…`; most names have their twin under `rushlight.…`, and the
exceptions stand in this file, in both directions.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from .._array.memory import storage_views as M
from .._base import dtypes as D
from .._base.device import device
from .._base.memory_format import (
    layout,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from .._base.size import Size
from .._core.storage import TensorBase, new_tensor
from .._table.rows.meta import empty_strided_meta, strip_data
from .._tensor.storage import TypedStorage, UntypedStorage
from .._tensor.tensor import Tensor
from .._tensor.untyped_storage import over_array

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._base.annotations import AnyCallable, Positional, Shape
    from .._base.dtypes import dtype

STORAGE_NAMES: Final[dict[D.dtype, str]] = {
    D.bool_: "BoolStorage", D.uint8: "ByteStorage", D.int8: "CharStorage", D.int16: "ShortStorage",
    D.int32: "IntStorage", D.int64: "LongStorage", D.float16: "HalfStorage",
    D.bfloat16: "BFloat16Storage", D.float32: "FloatStorage", D.float64: "DoubleStorage",
    D.complex64: "ComplexFloatStorage", D.complex128: "ComplexDoubleStorage",
}  # fmt: skip


class Rebuilding:
    """What the tensors of one file share while it is read.

    `later` is what is still to be done once the storages are read, of a file whose objects come
    before them; None where the storages come first.
    """

    def __init__(self, later: list[Callable[[], None]] | None = None) -> None:
        self.later = later
        # Storages by where they are and what is pending, with what keeps them there.
        self._resolved: dict[Any, tuple[Any, Any]] = {}

    def resolve(self, flat: object, conjugate: bool, negative: bool) -> Any:
        """A storage conjugated or negated: as a whole and once, however many tensors view it.

        A view may be a thousand times as large as its storage, whose elements it repeats.
        """
        key = M.identity_of(flat), conjugate, negative
        if key not in self._resolved:
            if self.later is None:
                made = M.with_pending(flat, conjugate, negative)
            else:
                made = M.like(flat)
                self.later.append(
                    lambda: M.copy_elements(made, M.with_pending(flat, conjugate, negative))
                )
            self._resolved[key] = flat, made
        return self._resolved[key][1]


rebuilding: ContextVar[Rebuilding | None] = ContextVar("rushlight_rebuilding", default=None)


#: Whether tensors are made without data: what was stored is read for its shapes only.
without_data: Final[ContextVar[bool]] = ContextVar("rushlight_without_data", default=False)


def rebuild_tensor(storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool = False,
                   hooks: object = None, metadata: Any = None) -> Tensor:  # fmt: skip
    """The tensor that is a view of a storage; `metadata` may ask for its conjugate or negative."""
    (offset,), shape, strides = _numbers((offset,)), _numbers(size), _numbers(stride)
    flat = _memory_of(storage)
    if metadata:
        conjugate, negative = bool(metadata.get("conj")), bool(metadata.get("neg"))
        if conjugate or negative:
            flat = (rebuilding.get() or Rebuilding()).resolve(flat, conjugate, negative)
    t: Any = new_tensor(M.view_into(flat, offset, shape, strides))
    if without_data.get():
        t = strip_data(t)
    t._requires_grad = bool(requires_grad)
    return t


def storage_over(flat: Array, dtype: dtype) -> TypedStorage:
    """A storage of elements over flat memory that was read from a file."""
    return TypedStorage(wrap_storage=over_array(flat), dtype=dtype, _internal=True)


def _memory_of(storage: Any) -> Array:
    """The memory of a storage, or memory itself."""
    if M.is_array(storage):
        return storage
    if isinstance(storage, TypedStorage):
        return M.retype(storage._untyped_storage._data, storage.dtype)
    if isinstance(storage, UntypedStorage):
        return storage._data
    raise TypeError(f"a tensor over a {type(storage).__name__}, which is no storage")


def _numbers(row: Shape) -> tuple[int, ...]:
    """Sizes and strides, which are numbers that fit into 64 bits."""
    if not isinstance(row, (tuple, list)):
        raise TypeError(f"sizes or strides in a {type(row).__name__}")
    for n in row:
        if type(n) is not int or not -(1 << 63) <= n < 1 << 63:
            raise ValueError("a size, stride or offset that is no 64-bit integer")
    return tuple(row)


def rebuild_meta_tensor(dtype: dtype, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    """A tensor without data."""
    if not isinstance(dtype, D.dtype):
        raise TypeError(f"a {type(dtype).__name__} as the type of a tensor's elements")
    shape, strides = _numbers(size), _numbers(stride)
    try:
        return empty_strided_meta(shape, strides, dtype, bool(requires_grad))
    except OSError:
        # Without data, but not without addresses.
        raise ValueError(f"a tensor of shape {list(shape)} is larger than memory can be") from None


def rebuild_untyped_tensor(
    storage: Any,
    offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    hooks: object,
    dtype: D.dtype,
    metadata: object = None,
) -> object:
    """The same over a storage of bytes, as files have it for types without a storage class."""
    if not isinstance(dtype, D.dtype):
        raise TypeError("a tensor whose type is none")
    flat = M.retype(_memory_of(storage), dtype)
    return rebuild_tensor(flat, offset, size, stride, requires_grad, hooks, metadata)


def rebuild_parameter(data: object, requires_grad: bool, hooks: object = None) -> Tensor:
    """A parameter over a tensor."""
    from ..nn.parameter import Parameter

    if not isinstance(data, Tensor):
        raise TypeError(f"a parameter over a {type(data).__name__}, which is no tensor")
    return Parameter(data, requires_grad)


def rebuild_parameter_with_state(
    data: object, requires_grad: bool, hooks: object, state: object
) -> Tensor:
    """A parameter over a tensor, with attributes of its own."""
    made = rebuild_parameter(data, requires_grad)
    made.__dict__.update(_attributes(state))
    return made


def rebuild_from_type(func: AnyCallable, cls: type, args: Positional, state: object) -> Any:
    """A tensor of some class with attributes of its own.

    Raises:
        TypeError: where `func` isn't a way to rebuild tensors, or `cls` no class of them.
    """
    if not any(func is known for known in _REBUILDERS):
        raise TypeError(f"a {type(func).__name__} that is no way to rebuild a tensor")
    if not (isinstance(cls, type) and issubclass(cls, TensorBase)):
        raise TypeError(f"a {type(cls).__name__} where a class of tensors was expected")
    made = func(*args)
    if type(made) is not cls:
        made = made.as_subclass(cls)
    if hasattr(cls, "__setstate__") and cls.__setstate__ is not Tensor.__setstate__:
        made.__setstate__(state)
    else:
        made.__dict__.update(_attributes(state))
    return made


def _attributes(state: Any) -> dict[str, object]:
    # Classes with slots pickle a pair: what stands in `__dict__`, what stands in slots.
    return dict(state[0] or {}) if isinstance(state, tuple) else dict(state)


def rebuild_sparse(kind: layout, data: Any) -> Tensor:
    """A sparse tensor of its parts."""
    from ..sparse.pickles import _rebuild_sparse_tensor

    now = rebuilding.get()
    if now is not None and now.later is not None:
        raise RuntimeError("Rushlight can't read sparse tensors in files of the old format")
    return _rebuild_sparse_tensor(kind, data)


_LAYOUTS: Final = {
    str(kind): kind
    for kind in (strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)
}


def get_layout(name: str) -> layout:
    """The layout that files call by this name."""
    if not isinstance(name, str) or name not in _LAYOUTS:
        shown = name[:60] if isinstance(name, str) else type(name).__name__
        raise ValueError(f"Rushlight has no tensors of layout {shown}")
    return _LAYOUTS[name]


def _encode(text: str, encoding: str) -> bytes:
    # How pickles of protocol 2 hold bytes. Other codecs would unpack archives.
    if not isinstance(text, str) or encoding != "latin1":
        raise ValueError("bytes in another encoding than latin1")
    return text.encode("latin1")


def _bytearray(*args: int) -> bytearray:
    # Made of a number it would be that many bytes of nothing; other codecs take their time.
    bare = len(args) == 1 and isinstance(args[0], bytes)
    if (
        args
        and not bare
        and not (len(args) == 2 and isinstance(args[0], str) and args[1] in ("latin-1", "latin1"))
    ):
        raise ValueError("a bytearray of other things than bytes")
    return bytearray(*args)


_REBUILDERS: Final = (rebuild_tensor, rebuild_untyped_tensor)

SAFE: Final[dict[tuple[str, str], Any]] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("builtins", "set"): set,
    ("builtins", "complex"): complex,
    ("builtins", "bytearray"): _bytearray,
    ("_codecs", "encode"): _encode,
    ("torch", "Size"): Size,
    ("torch", "device"): device,
    ("torch", "Tensor"): Tensor,
    ("torch.storage", "UntypedStorage"): D.uint8,
    ("torch.serialization", "_get_layout"): get_layout,
    ("torch._utils", "_rebuild_tensor_v3"): rebuild_untyped_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
    ("torch._utils", "_rebuild_tensor"): rebuild_tensor,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuild_meta_tensor,
    ("torch._utils", "_rebuild_sparse_tensor"): rebuild_sparse,
    ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): rebuild_parameter_with_state,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuild_from_type,
}
SAFE.update({("torch", name): dtype for name, dtype in D.BY_NAME.items()})
SAFE.update({("torch", name): dtype for dtype, name in STORAGE_NAMES.items()})
_SAFE_IDENTITIES: Final = frozenset(map(id, SAFE.values()))
#: The bytes that a call's result takes, where they are many.
_COSTS: Final[dict[Any, int]] = {
    rebuild_tensor: 320, rebuild_untyped_tensor: 420, rebuild_meta_tensor: 700,
    rebuild_parameter: 200, rebuild_parameter_with_state: 300, rebuild_from_type: 500,
    set: 60, OrderedDict: 60, Counter: 200,
}  # fmt: skip
_COST_OF: Final = {id(function): cost for function, cost in _COSTS.items()}

#: Rushlight's names that torch keeps elsewhere than at the same place of its own tree.
ELSEWHERE: Final[dict[tuple[str, str], tuple[str, str]]] = {
    ("rushlight._tensor.tensor", "Tensor"): ("torch", "Tensor"),
    ("rushlight._base.size", "Size"): ("torch", "Size"),
    ("rushlight._base.device", "device"): ("torch", "device"),
    ("rushlight.serialization.names", "rebuild_tensor"): ("torch._utils", "_rebuild_tensor_v2"),
    ("rushlight.serialization.names", "rebuild_untyped_tensor"):
        ("torch._utils", "_rebuild_tensor_v3"),
    ("rushlight.serialization.names", "rebuild_meta_tensor"):
        ("torch._utils", "_rebuild_meta_tensor_no_storage"),
    ("rushlight.serialization.names", "rebuild_from_type"):
        ("torch._tensor", "_rebuild_from_type_v2"),
    ("rushlight.serialization.names", "get_layout"): ("torch.serialization", "_get_layout"),
    ("rushlight.nn.modules._state", "_IncompatibleKeys"):
        ("torch.nn.modules.module", "_IncompatibleKeys"),
    ("rushlight.nn.modules._state", "_WrappedHook"): ("torch.nn.modules.module", "_WrappedHook"),
    ("rushlight._base.dtypes", "dtype"): ("torch", "dtype"),
    ("rushlight._base.memory_format", "layout"): ("torch", "layout"),
    ("rushlight._base.memory_format", "memory_format"): ("torch", "memory_format"),
    ("rushlight._base.handles", "RemovableHandle"): ("torch.utils.hooks", "RemovableHandle"),
    ("rushlight._compile.api", "OptimizedModule"):
        ("torch._dynamo.eval_frame", "OptimizedModule"),
    ("rushlight._table.random.generator", "Generator"): ("torch._C", "Generator"),
    ("rushlight.sparse.pickles", "_rebuild_sparse_tensor"):
        ("torch._utils", "_rebuild_sparse_tensor"),
    ("rushlight.nn.modules.pixelshuffle", "ChannelShuffle"):
        ("torch.nn.modules.channelshuffle", "ChannelShuffle"),
    **{("rushlight.nn.modules.lazy_layers", name): (f"torch.nn.modules.{module}", name)
       for module, names in {
           "linear": ("LazyLinear",),
           "conv": [f"LazyConv{t}{n}d" for t in ("", "Transpose") for n in (1, 2, 3)],
           "batchnorm": [f"LazyBatchNorm{n}d" for n in (1, 2, 3)],
           "instancenorm": [f"LazyInstanceNorm{n}d" for n in (1, 2, 3)],
       }.items() for name in names},
    ("rushlight.nn.parameter", "_rebuild_parameter"): ("torch._utils", "_rebuild_parameter"),
    ("rushlight.nn.parameter", "_rebuild_parameter_with_state"):
        ("torch._utils", "_rebuild_parameter_with_state"),
}  # fmt: skip

#: Modules of Rushlight whose names torch has in another.
_MOVED: Final = {
    "rushlight._tensor.storage": "torch.storage",
    "rushlight.distributions._chains": "torch.distributions.transforms",
    "rushlight.distributions._vector_transforms": "torch.distributions.transforms",
    "rushlight.nn.modules.attention": "torch.nn.modules.activation",
    "rushlight.nn.modules.linear_loss": "torch.nn.modules.loss",
    "rushlight.nn.modules.loss_options": "torch.nn.modules.linear_cross_entropy_options",
    "rushlight.nn.modules.parameter_container": "torch.nn.modules.container",
    "rushlight.nn.packed": "torch.nn.utils.rnn",
    "rushlight.optim._composite": "torch.optim.lr_scheduler",
    "rushlight.optim._cycle": "torch.optim.lr_scheduler",
    "rushlight.optim._plateau": "torch.optim.lr_scheduler",
    "rushlight.optim._schedule": "torch.optim.lr_scheduler",
}

_ours: Final[dict[tuple[str, str], tuple[str, str]]] = {
    theirs: ours for ours, theirs in ELSEWHERE.items()
}
_ours["torch._C", "TensorBase"] = ("rushlight", "Tensor")  # whose methods files name

_user_globals: dict[str, Any] = {}


def torch_name(module: str, name: str) -> tuple[str, str]:
    """The module and name by which PyTorch knows one of Rushlight's objects."""
    found = ELSEWHERE.get((module, name))
    if found is not None:
        return found
    return _MOVED.get(module) or "torch" + module[len("rushlight") :], name


def has_known_place(module: str, name: str) -> bool:
    """Whether a private module's object has a place of its own in PyTorch."""
    return module in _MOVED or (module, name) in ELSEWHERE


def own_name(module: str, name: str) -> tuple[str, str]:
    """Where a name of the file's stands in this process: `torch.x` is `rushlight.x`."""
    if module != "torch" and not module.startswith("torch."):
        return module, name
    found = _ours.get((module, name))
    return found if found is not None else ("rushlight" + module[len("torch") :], name)


def safe(module: str, name: str) -> object:
    """What a name may mean in a file that isn't trusted; None for names outside the list."""
    if module == "__builtin__":
        module = "builtins"
    found = SAFE.get((module, name))
    return _user_globals.get(f"{module}.{name}") if found is None else found


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Lets files that are loaded safely name these classes and functions.

    An entry is an object, or a pair of it and the full name by which files call it.

    Parameters:
        safe_globals: the classes and functions.
    Raises: AttributeError: for an object without a name that no pair gives one.
    Example:
        >>> import fractions
        >>> torch.serialization.add_safe_globals([fractions.Fraction])
        >>> torch.serialization.get_safe_globals()
        [<class 'fractions.Fraction'>]
        >>> torch.serialization.clear_safe_globals()
    """
    for item in safe_globals:
        if isinstance(item, tuple):
            value, name = item
        else:
            value, name = item, f"{item.__module__}.{item.__qualname__}"
        _user_globals[name] = value
        if name.startswith("rushlight."):
            module, _, last = name.rpartition(".")
            _user_globals[".".join(torch_name(module, last))] = value


def get_safe_globals() -> list[object]:
    """What `add_safe_globals` has added.

    Returns: list: each object once.
    Example:
        >>> torch.serialization.get_safe_globals()
        []
    """
    found: list[Any] = []
    for value in _user_globals.values():
        if not any(value is other for other in found):
            found.append(value)
    return found


def clear_safe_globals() -> None:
    """Forgets what `add_safe_globals` has added.

    Example:
        >>> torch.serialization.clear_safe_globals()
    """
    _user_globals.clear()


class safe_globals:
    """A context in which some more classes and functions may be named by files.

    Parameters:
        safe_globals: the classes and functions, as `add_safe_globals` takes them.
    Raises: AttributeError: for an object without a name that no pair gives one.
    Example:
        >>> import fractions, io
        >>> file = io.BytesIO()
        >>> torch.save(fractions.Fraction(1, 2), file)
        >>> _ = file.seek(0)
        >>> with torch.serialization.safe_globals([fractions.Fraction]):
        ...     torch.load(file)
        Fraction(1, 2)
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self._added = safe_globals

    def __enter__(self) -> None:
        self._before = dict(_user_globals)
        add_safe_globals(self._added)

    def __exit__(self, *exc: object) -> None:
        _user_globals.clear()
        _user_globals.update(self._before)


def may_be_built(value: object) -> bool:
    """Whether an untrusted file may set the attributes of `value`."""
    if type(value) is OrderedDict or isinstance(value, TensorBase):
        return True
    return any(type(value) is allowed for allowed in _user_globals.values())


def cost_of(function: Callable[..., object]) -> int:
    """The bytes that the result of a call takes, beyond those of any."""
    return _COST_OF.get(id(function), 0)


def may_be_called(value: object) -> bool:
    """Whether an untrusted file may call `value`; `Tensor` it may only name."""
    return value is not Tensor and (
        id(value) in _SAFE_IDENTITIES or any(value is allowed for allowed in _user_globals.values())
    )
