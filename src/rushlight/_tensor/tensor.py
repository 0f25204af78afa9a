"""`Tensor`: the class users see. Operations are attached from the table by `_methods.py`."""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, overload

from .._array import types as T
from .._array.memory.meta import MetaArray
from .._base import dtypes as D, errors
from .._base.device import CPU, META, device, find_device, warn_of_pinning
from .._base.lazy import later
from .._base.memory_format import contiguous_format, strided
from .._base.read_only import ReadOnly
from .._base.size import Size
from .._core.former_data import note_former
from .._core.hooks import GRAD_DTYPE, hooks_of
from .._core.mode import current
from .._core.node import note_output
from .._core.run import inside_transform
from .._core.storage import (
    CLASSES,
    TensorBase,
    Version,
    init_tensor,
    new_tensor,
    version_cell,
    version_of,
)
from .._core.views import current_node
from .._table import PUBLIC
from .._table.calls.dimension_argument import dimension, read_axis
from .._table.elementwise import complexes
from .._table.rows import meta as _meta
from .._table.rows.warn_once import warn_of_lost_history
from .._table.shape import exchange, shape
from .member_help import TENSOR, explain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from .._array.annotations import Array, RawType
    from .._base.annotations import DeviceLike, Shape
    from .._base.memory_format import memory_format
    from ..autograd.edges import Node
    from .method_types import TensorMethods as _Methods
else:
    _Methods = TensorBase

array_protocol = later("_tensor.array_protocol")
copies = later("_tensor.copies")
sharing = later("_tensor.sharing")
text = later("_array.printing")
_new_size: Final = tuple.__new__  # an array's shape needs none of Size's checks


class Tensor(_Methods):
    __doc__ = TENSOR

    __slots__ = ("__dict__", "__weakref__")

    _overrides = False  # a subclass whose `__torch_function__` wants to see operations
    _dispatches = False  # a subclass that says by `__torch_dispatch__` what operations do
    _printed_as_tensor = False  # a subclass that prints as `tensor(...)`, not under its own name

    # ---- what it is ---------------------------------------------------------------------------
    @ReadOnly
    def shape(self) -> Size:
        """The size of each dimension."""
        return _new_size(Size, self._raw.shape)

    @ReadOnly
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._raw.ndim)

    @ReadOnly
    def dtype(self) -> D.dtype:
        """The type of the elements."""
        return T.from_raw(self._raw.dtype)

    @ReadOnly
    def device(self) -> device:
        """Where the elements are."""
        return CPU if self._plain or type(self._raw) is not MetaArray else META

    # ---- its place in the graph ---------------------------------------------------------------
    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded. Only leaves may be changed."""
        if self._requires_grad:
            return True
        # A view made while nothing was recorded says what its base says.
        view = self._view
        return view is not None and view.tracked and view.base._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if value and self._node is not None:
            raise RuntimeError(errors.CHANGE_NON_LEAF_ON)
        set_requires_grad(self, value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    @ReadOnly
    def is_leaf(self) -> bool:
        """Whether the user made it: it has no `grad_fn`."""
        node = current_node(self)
        return node is None or node.shown() is None

    @ReadOnly
    def grad_fn(self) -> Node | None:
        """The node that computed it; None for a leaf."""
        node = current_node(self)
        if node is None:
            return None
        note_output(node, self._raw)
        return node.shown()

    @ReadOnly
    def output_nr(self) -> int:
        """Which output of its `grad_fn` it is."""
        return self._nr - 1 if self._nr else 0

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated by backward; None before."""
        if self._grad is None and self._node is not None and not self.retains_grad:
            warnings.warn(errors.NON_LEAF_GRAD, UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | float | None) -> None:
        set_grad(self, value)

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @ReadOnly
    def retains_grad(self) -> bool:
        """Whether a non-leaf keeps its gradient, as `retain_grad` asks."""
        hooks = self.hooks if self._node is None else self._node.hooks
        ref = None if hooks is None else hooks.retain.get(self._nr - 1 if self._nr else 0)
        return ref is not None and ref() is self

    @ReadOnly
    def _version(self) -> int:
        if self._inference and self._cell is None:
            raise RuntimeError(errors.INFERENCE_VERSION)
        return version_of(self)

    @ReadOnly
    def _base(self) -> TensorBase | None:
        view = self._view
        return view.base if view is not None and view.tracked else None

    def _is_view(self) -> bool:
        return self._view is not None and self._view.tracked

    def is_inference(self) -> bool:
        """Whether it was made in inference mode."""
        return self._inference

    # ---- leaving the graph --------------------------------------------------------------------
    def detach(self) -> Tensor:
        """The same elements without history; shares memory and version."""
        out = alias_of(self)
        if not self._inference:
            out._cell = version_cell(self)
        return out

    def detach_(self) -> Tensor:
        """Forgets its history, in place.

        Raises:
            RuntimeError: for a view, whose base would keep the history.
        """
        if current().inference and not self._inference:
            return self  # nothing is recorded or forgotten there
        if self._view is not None and self._view.tracked:
            raise RuntimeError(errors.DETACH_VIEW)
        if not self._inference:
            version_cell(self)
        if self.retains_grad:
            hooks_of(self).retain[0] = weakref.ref(self)
        self._node = None
        self._nr = 0
        self._requires_grad = False
        self._tangent = None
        return self

    @property
    def data(self) -> Tensor:
        """The same memory without history and with a version of its own."""
        return alias_of(self)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {errors.type_name(value)}")
        if self._requires_grad and T.is_discrete(value._raw.dtype):
            raise RuntimeError(errors.DATA_DTYPE)
        if self._layered or value._layered:
            if self.layout is not value.layout:
                raise RuntimeError(errors.DATA_LAYOUT)
            _meta.adopt(self, value)
        if self._requires_grad and (
            self._raw.shape != value._raw.shape or self._raw.dtype != value._raw.dtype
        ):
            note_former(self)
        self._raw = value._raw

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Switches recording on (or off) for a leaf, in place."""
        if not isinstance(requires_grad, bool):
            raise TypeError(errors.not_a_bool("requires_grad_", "requires_grad", requires_grad))
        if inside_transform():
            raise RuntimeError(errors.INSIDE_TRANSFORM)
        if requires_grad and self._node is None and T.is_discrete(self._raw.dtype):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        set_requires_grad(self, requires_grad)
        return self

    # ---- sizes --------------------------------------------------------------------------------
    @overload
    def size(self) -> Size: ...

    @overload
    def size(self, dim: int) -> int: ...

    def size(self, dim: int | None = None, *, axis: int | None = None) -> Size | int:
        """The shape, or the size of one dimension."""
        if axis is not None:
            dim = read_axis("size", dim, axis)
        if dim is None:
            return _new_size(Size, self._raw.shape)
        dim = dim if type(dim) is int else dimension("size", dim)
        shape: Shape = self._raw.shape
        if not -max(len(shape), 1) <= dim < max(len(shape), 1) or not shape:
            raise IndexError(errors.no_dimension(dim, len(shape)))
        return shape[dim]

    def dim(self) -> int:
        """The number of dimensions."""
        return int(self._raw.ndim)

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return int(self._raw.size)

    nelement = numel

    @overload
    def stride(self) -> Shape: ...

    @overload
    def stride(self, dim: int) -> int: ...

    def stride(self, dim: int | None = None, *, axis: int | None = None) -> int | Shape:
        """How many elements lie between neighbours along each dimension, or along one."""
        if axis is not None:
            dim = read_axis("stride", dim, axis)
        strides = T.byte_strides(self._raw)
        dim = dim if dim is None or type(dim) is int else dimension("stride", dim)
        if dim is not None and not -len(strides) <= dim < len(strides):
            raise IndexError(errors.no_dimension(dim, len(strides)))
        return strides if dim is None else strides[dim]

    def storage_offset(self) -> int:
        """How many elements of the memory lie before the first."""
        array = self._raw
        start = T.address(array) - T.address(T.owner(array)) if array.size else 0
        return start // int(array.itemsize)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return T.address(self._raw) if not isinstance(self._raw, MetaArray) else 0

    def element_size(self) -> int:
        """Bytes per element."""
        return int(self._raw.itemsize)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return int(self._raw.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return int(self._raw.size * self._raw.itemsize)

    def is_contiguous(self, *, memory_format: memory_format = contiguous_format) -> bool:
        """Whether the elements lie in order, without gaps."""
        if memory_format is contiguous_format:
            return bool(self._raw.flags.c_contiguous)
        return shape.is_laid_out(self, memory_format)

    def is_floating_point(self) -> bool:
        """Whether the elements are real floating-point numbers."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the elements are complex."""
        return self._raw.dtype.kind in "cW"

    def is_signed(self) -> bool:
        """Whether the elements can be negative."""
        return self.dtype.is_signed

    def get_device(self) -> int:
        """-1: the CPU."""
        return -1

    def pin_memory(self, device: DeviceLike | None = None) -> Tensor:
        """This tensor: there is no device to pin memory for. Raises: RuntimeError: for one."""
        if device is None:
            return self
        kind = find_device(device).type
        warn_of_pinning(4, "pin_memory", "is_pinned")
        if kind == "cuda":
            raise RuntimeError("Cannot initialize CUDA without ATen_cuda library.")
        raise RuntimeError(f"{kind.upper()} device type not an accelerator.")

    _cdata = property(id, doc="A number that no other living tensor has.")
    is_cuda = False

    is_cpu = property(lambda self: type(self._raw) is not MetaArray, doc="Whether it has data.")
    is_meta = property(lambda self: type(self._raw) is MetaArray, doc="Whether it has no data.")

    is_mps = is_xpu = is_quantized = is_sparse = is_sparse_csr = is_mkldnn = is_nested = False
    is_xla = is_ipu = is_vulkan = is_maia = is_mtia = False
    names = property(lambda self: (None,) * self._raw.ndim, doc="Dimension names: none here.")
    layout = strided

    def is_shared(self) -> bool:
        """Whether other processes can see the memory."""
        return sharing.is_shared(self)

    def share_memory_(self) -> Tensor:
        """This tensor, its memory moved to where other processes can see it."""
        sharing.share(self)
        return self

    # ---- parts --------------------------------------------------------------------------------
    @property
    def real(self) -> Tensor:
        """The real part, as a view; the tensor itself where it is real."""
        return complexes.real(self)

    @real.setter
    def real(self, value: Tensor) -> None:
        complexes.real(self).copy_(value)

    @property
    def imag(self) -> Tensor:
        """The imaginary part, as a view.

        Raises:
            RuntimeError: for real tensors.
        """
        return complexes.imag(self)

    @imag.setter
    def imag(self, value: Tensor) -> None:
        complexes.imag(self).copy_(value)

    # ---- to Python ----------------------------------------------------------------------------
    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        from .printed_form import format_tensor

        return format_tensor(self, tensor_contents)

    def _repr_html_(self) -> str:
        from .printed_form import in_notebook

        return in_notebook(self)

    def __format__(self, spec: str) -> str:
        if type(self) is Tensor and self._raw.ndim == 0 and type(self._raw) is not MetaArray:
            return text.format_element(self._raw, spec)
        return object.__format__(self, spec)

    def __bool__(self) -> bool:
        array = self._raw
        if array.size != 1:
            raise RuntimeError(errors.boolean_value(array.size))
        return bool(_meta.elements(self).item())

    def __float__(self) -> float:
        if self.requires_grad and current().grad:
            warn_of_lost_history()
        return float(_real(self, "double"))

    def __int__(self) -> int:
        return int(_real(self, "int64_t"))

    def __complex__(self) -> complex:
        if self.requires_grad and current().grad:
            warn_of_lost_history()
        return complex(_only(self))

    def __index__(self) -> int:
        array = self._raw
        if array.size != 1 or array.dtype.kind not in "biu":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(_meta.elements(self).item())

    def __len__(self) -> int:
        if self._raw.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._raw)

    def __iter__(self) -> Iterator[Tensor]:
        if self._raw.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self._raw.ndim else self

    def __contains__(self, element: float) -> bool:
        if isinstance(element, (TensorBase, int, float, complex)):
            array = _meta.elements(self)
            other = element._raw if isinstance(element, TensorBase) else element
            return bool((array == other).any())
        raise RuntimeError(
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(element)}."
        )

    def __array__(self, dtype: RawType | None = None, copy: object = None) -> Array:
        array = self.numpy()
        return T.as_requested(array, dtype, copy)

    def __hash__(self) -> int:
        return id(self)

    # NumPy leaves mixed arithmetic to tensors, and what its functions make of them is a tensor
    # again.
    __array_priority__ = 1000

    def __array_wrap__(
        self, array: object, context: object = None, return_scalar: bool = False
    ) -> Any:
        return new_tensor(T.as_array(array))

    def __array_ufunc__(
        self, ufunc: Callable[..., object], method: str, *inputs: object, **options: object
    ) -> object:
        return array_protocol.universal(ufunc, method, inputs, options)

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        return array_protocol.namespace_for(api_version)

    def __dlpack__(
        self, *, stream: object = None, max_version: Shape | None = None, dl_device: object = None,
        copy: bool | None = None,
    ) -> object:  # fmt: skip
        return exchange.capsule(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        from .._base.dlpack_devices import DLDeviceType

        if self.device.type == "meta":
            raise ValueError("Unknown device type meta for Dlpack")
        return DLDeviceType.kDLCPU, 0

    def __copy__(self) -> Tensor:
        return copies.copy_leaf(self)

    def __deepcopy__(self, memo: dict[int, object]) -> Tensor:
        return copies.deep_copied(self, memo)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return copies.PICKLED["tensor"](self)

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)

    # What the table and the modules above attach, for type checkers.
    if TYPE_CHECKING:
        __torch_function__: Any
        _make_subclass: Any
        as_subclass: Any

        def __setattr__(self, name: str, value: object) -> None: ...
        def __getitem__(self, index: object) -> Tensor: ...
        def __setitem__(self, index: object, value: object) -> None: ...


def _only(t: TensorBase) -> Any:
    if t._raw.size != 1:
        raise ValueError(errors.ONE_ELEMENT)
    return T.number_of(_meta.elements(t))


def _real(t: TensorBase, target: str) -> float:
    """The only element as a real number.

    Raises:
        RuntimeError: for a complex number with an imaginary part.
    """
    value = _only(t)
    if type(value) is complex:
        if value.imag:
            raise RuntimeError(errors.no_conversion(target))
        value = value.real
    return value


def alias_of(t: TensorBase) -> Tensor:
    """A fresh leaf over the same array."""
    made: Any = new_tensor(t._raw)
    if t._layered:
        cls: Any = type(t)
        if cls._overrides or type(t._raw) is not MetaArray:
            made = TensorBase.__new__(cls)
            init_tensor(made, t._raw)
        made._plain = False
        made._layered = True
    if t._inference:  # still one, but with a version of its own
        made._inference = True
        made._plain = False
        made._cell = Version()
    return made


def zeros_of(t: TensorBase) -> Tensor:
    """Zeros shaped, typed and laid out like `t`, made by its class where that has rules."""
    made: Any = PUBLIC[("", "zeros_like")](t) if t._layered else new_tensor(T.zeros_like(t._raw))
    return made


def set_requires_grad(t: TensorBase, value: bool) -> None:
    """Switches recording for a leaf.

    Raises:
        RuntimeError: for a non-leaf, an element type without gradients, an inference tensor.
    """
    value = bool(value)
    if t._node is not None:
        if not value:
            raise RuntimeError(errors.CHANGE_NON_LEAF)
        return
    if value and T.is_discrete(t._raw.dtype):
        raise RuntimeError(errors.REQUIRES_GRAD_DTYPE)
    if value and t._inference and not current().inference:
        raise RuntimeError(errors.INFERENCE_REQUIRES_GRAD)
    t._requires_grad = value


def set_grad(t: TensorBase, value: Tensor | float | None) -> None:
    """Assigns `.grad`.

    Raises:
        TypeError: where the value is neither a tensor nor None.
        RuntimeError: where its shape or dtype differs from the tensor's.
    """
    t._grad = None if value is None else check_grad(t, value)


def check_grad(t: TensorBase, value: object) -> Any:
    """What is assigned to `.grad`.

    Raises:
        TypeError: where the value isn't a tensor.
        RuntimeError: where its shape or dtype differs from the tensor's.
    """
    if not isinstance(value, TensorBase):
        raise TypeError(errors.ASSIGNED_GRAD_KIND + errors.type_name(value))
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    own = t._raw.dtype
    wanted = own if t.hooks is None else t.hooks.extra.get(GRAD_DTYPE, own)
    if wanted is not None and value._raw.dtype != wanted:
        mine, given = T.from_raw(wanted), T.from_raw(value._raw.dtype)
        raise RuntimeError(errors.assigned_grad_dtype(D.scalar_name(mine), D.c_name(given)))
    if value._raw.shape != t._raw.shape:
        raise RuntimeError(errors.assigned_grad_shape(t._raw.shape, value._raw.shape))
    return value


explain(Tensor)
CLASSES.tensor = Tensor
