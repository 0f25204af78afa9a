"""Methods by which Python gets at what a tensor holds or knows, as interposers see them.

Note [Watched from the first time on]
These methods run at every turn of an ordinary program, which nobody watches: a look at the mode
would be a quarter of `bool(t)`. So `Tensor` has them bare until somebody is there who may ask;
then, once for the process, each gets a form that asks first: for a recorder when the first step is
recorded, for function modes and classes of programs with the first of these. Attributes stay the
same objects, so that `torch.Tensor.shape.__get__` stays what it was.
"""

from __future__ import annotations

import functools
import inspect
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from .._base.read_only import ReadOnly
from .._core.interposers import NOT_HANDLED, ask, take
from .._core.mode import current
from .tensor import Tensor
from .torch_function import (
    ENTERED,
    STANDINS,
    ask_about_one,
    asks,
    is_asked_about,
    told_keywords,
    told_types,
)

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable

#: What takes elements to Python, and how messages call it.
TAKING: Final = {
    "__bool__": "bool()", "__float__": "float()", "__int__": "int()", "__index__": "index()",
    "__complex__": "complex()", "__repr__": "printing", "__format__": "formatting",
    "__contains__": "in", "tolist": "tolist()", "numpy": "numpy()", "data_ptr": "data_ptr()",
    "__array__": "numpy()", "__dlpack__": "dlpack", "__reduce_ex__": "copying",
    "__deepcopy__": "copying", "equal": "equal()", "allclose": "allclose()",
    "is_nonzero": "is_nonzero()",
}  # fmt: skip
#: Questions about a tensor's memory and history.
ASKING: Final = (
    "_version", "storage_offset", "untyped_storage", "storage", "typed_storage", "_is_view",
    "_base", "is_inference", "is_shared", "is_set_to", "grad_fn", "is_leaf", "output_nr",
    "retains_grad", "_backward_hooks", "_post_accumulate_grad_hooks", "names", "_cdata",
    "__array_interface__", "_use_count", "is_pinned",
)  # fmt: skip
#: Methods without an operation that function modes and the classes of programs are told of.
TOLD: Final = (
    "_is_view", "data_ptr", "dense_dim", "detach_", "dim", "element_size", "get_device",
    "is_complex", "is_contiguous", "is_floating_point", "is_inference", "is_nonzero", "is_signed",
    "ndimension", "nelement", "numel", "pin_memory", "requires_grad_", "retain_grad", "size",
    "sparse_dim", "storage_offset", "stride", "to_dense", "untyped_storage",
    "ccol_indices", "coalesce", "col_indices", "crow_indices", "indices", "is_coalesced",
    "row_indices", "values", "__bool__", "__complex__", "__float__", "__index__", "__int__",
)  # fmt: skip
#: The same for those that are Python's in PyTorch too, with the keywords that they add.
TOLD_IN_PYTHON: Final[dict[str, dict[str, object]]] = {
    "__array__": {}, "__array_wrap__": {}, "__contains__": {}, "__deepcopy__": {},
    "__dlpack__": {}, "__dlpack_device__": {}, "__format__": {}, "__len__": {},
    "__reduce_ex__": {}, "__repr__": {"tensor_contents": None}, "__reversed__": {},
    "__setstate__": {}, "is_shared": {}, "register_hook": {},
    "register_post_accumulate_grad_hook": {}, "share_memory_": {}, "storage": {},
    "storage_type": {},
}  # fmt: skip
TURNED: Final = ("H", "T", "mH", "mT")
#: Methods that are told of by another name.
ALIASES: Final = {"ndimension": "dim", "nelement": "numel"}
#: What all tensors but those of some classes have the same answer to.
CONSTANT: Final = (
    "is_cuda", "is_ipu", "is_maia", "is_mkldnn", "is_mps", "is_mtia", "is_nested", "is_quantized",
    "is_sparse", "is_sparse_csr", "is_vulkan", "is_xla", "is_xpu", "layout",
)  # fmt: skip


def _taking(method: AnyCallable, how: str) -> AnyCallable:
    @functools.wraps(method)
    def asks_first(self: Tensor, *args: object, **kwargs: object) -> Any:
        if current().recorder is not None:
            handled = take(method, self, how, args, kwargs)
            if handled is not NOT_HANDLED:
                return handled
        return method(self, *args, **kwargs)

    return asks_first


def _asking(method: AnyCallable, name: str) -> AnyCallable:
    @functools.wraps(method)
    def asks_first(self: Tensor, *args: object, **kwargs: object) -> Any:
        if current().recorder is not None:
            ask(self, name, sys._getframe(1).f_code.co_filename)
        return method(self, *args, **kwargs)

    return asks_first


@functools.cache
def watch() -> None:
    """Has these methods ask the interposers from now on."""
    kind: Any = Tensor
    for name, how in TAKING.items():
        setattr(kind, name, _taking(getattr(kind, name), how))
    for name in ASKING:
        found = inspect.getattr_static(kind, name, None)
        if isinstance(found, property):
            get = _asking(found.fget, name)  # type: ignore[arg-type]
            setattr(kind, name, property(get, found.fset, found.fdel, found.__doc__))
        elif isinstance(found, FunctionType):
            setattr(kind, name, _asking(found, name))


def _telling(method: AnyCallable, name: str, added: dict[str, object] | None) -> AnyCallable:
    @functools.wraps(method)
    def tells_first(self: Tensor, *args: object, **kwargs: object) -> object:
        if (ENTERED or type(self) in STANDINS) and is_asked_about(self):
            known_as = getattr(Tensor, ALIASES.get(name, name))
            named = told_keywords(known_as, {**(added or {}), **kwargs})
            types = told_types(known_as, (self,) if asks(self) else (), (self,))
            return ask_about_one(known_as, self, types, (self, *args), named)
        return method(self, *args, **kwargs)

    tells_first.__name__ = name
    tells_first.__qualname__ = f"Tensor.{name}"
    if added is not None:
        tells_first._in_python = True  # type: ignore[attr-defined]
    return tells_first


def _constant(name: str, value: object) -> object:
    def get(self: Tensor) -> object:
        return value

    get.__name__ = name
    return ReadOnly(get)


def _tell_of(attribute: property) -> None:
    """Has what reads, sets and deletes an attribute tell of it; it stays the same object."""

    def form(way: AnyCallable | None, known_as: str) -> AnyCallable | None:
        if way is None:
            return None

        @functools.wraps(way)
        def tells_first(self: Tensor, *value: object) -> object:
            if (ENTERED or type(self) in STANDINS) and is_asked_about(self):
                told = getattr(attribute, known_as)
                return ask_about_one(told, self, (type(self),), (self, *value), None)
            return way(self, *value)

        return tells_first

    get, put, drop = form(attribute.fget, "__get__"), attribute.fset, attribute.fdel
    if getattr(attribute.fget, "__name__", "") not in (
        "real",
        "imag",
    ):  # which are written without a word
        put, drop = form(put, "__set__"), form(drop, "__delete__")
    attribute.__init__(get, put, drop, attribute.__doc__)  # type: ignore[misc]


@functools.cache
def tell() -> None:
    """Has attributes and questions ask function modes and the classes of programs from now on."""
    kind: Any = Tensor
    for name in (*TOLD, *TOLD_IN_PYTHON):
        found = getattr(kind, name)
        if isinstance(found, FunctionType):
            setattr(kind, name, _telling(found, name, TOLD_IN_PYTHON.get(name)))
    for name in CONSTANT:
        setattr(kind, name, _constant(name, getattr(kind, name)))
    for name in TURNED:
        getattr(kind, name)  # which are made when somebody looks
    for name, found in list(vars(kind).items()):
        if isinstance(found, property):
            _tell_of(found)
            setattr(kind, name, found)  # which has the interpreter forget what it has looked up
