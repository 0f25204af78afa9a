"""Methods by which Python gets at what a tensor holds or knows, as interposers see them.

Note [Watched from the first time on]
These methods run at every turn of an ordinary program, which nobody watches: a look at the mode
would be a quarter of `bool(t)`. So `Tensor` has them bare until somebody is there who may ask;
then, once for the process, each gets a form that asks first.
"""

from __future__ import annotations

import functools
import inspect
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from .._core.interposers import NOT_HANDLED, ask, take
from .._core.mode import current
from .tensor import Tensor

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


def _make_taking(method: AnyCallable, how: str) -> AnyCallable:
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
        setattr(kind, name, _make_taking(getattr(kind, name), how))
    for name in ASKING:
        found = inspect.getattr_static(kind, name, None)
        if isinstance(found, property):
            get = _asking(found.fget, name)  # type: ignore[arg-type]
            setattr(kind, name, property(get, found.fset, found.fdel, found.__doc__))
        elif isinstance(found, FunctionType):
            setattr(kind, name, _asking(found, name))
