"""Reading a tensor's elements into Python, seen by the recorder.

Note [Numbers that are only passed on]
`return loss.item()` needs no more than the tensor: the number is read when the program has run. But
a number on which the step branches, or that it computes with, would be a constant of the program.
So while a step is recorded, `item()` gives a number that notes whatever is done with it, see
`scalars`.
"""

from __future__ import annotations

import functools
import inspect
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from ..._core.mode import current
from ..._tensor import settings
from ..._tensor.tensor import Tensor
from ..refusal import is_rushlight
from .symbolic_numbers import NUMBERS, READS, plain_number

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable


def plain(result: Any) -> Any:
    """A result with ordinary numbers, as the user gets it."""
    kind = type(result)
    if kind in NUMBERS:
        return plain_number(result)
    if kind in (list, tuple):
        items = [plain(x) for x in result]
        return result if all(x is y for x, y in zip(items, result)) else kind(items)
    if kind is dict:
        entries = {k: plain(v) for k, v in result.items()}
        return result if all(entries[k] is result[k] for k in entries) else entries
    return result


def holds_read(x: object) -> bool:
    """Whether a number that was read is among some arguments."""
    if type(x) in READS:
        return True
    if isinstance(x, (list, tuple)):
        return any(holds_read(y) for y in x)
    return isinstance(x, dict) and any(holds_read(y) for y in x.values())


def _note_read(function: AnyCallable, how: str) -> AnyCallable:
    @functools.wraps(function)
    def reading(self: Tensor, *args: tuple[object, ...], **kwargs: dict[str, object]) -> Any:
        recorder = current().recorder
        if recorder is None:
            return function(self, *args, **kwargs)
        return recorder.read(self, how, recorder.quietly(function, (self, *args), kwargs))

    return reading


#: Questions about a tensor's memory and history that no guard answers, but for what the step made.
ASKED: Final = (
    "_version", "storage_offset", "untyped_storage", "storage", "typed_storage", "_is_view",
    "_base", "is_inference", "is_shared", "is_set_to", "grad_fn", "is_leaf", "output_nr",
    "retains_grad", "_backward_hooks", "_post_accumulate_grad_hooks", "names", "_cdata",
    "__array_interface__", "_use_count", "is_pinned",
)  # fmt: skip
_ASKING: Final = settings.__file__  # `torch.is_inference(x)` asks for who calls it


def _note_question(function: Any, name: str) -> AnyCallable:
    @functools.wraps(function)
    def asking(self: Tensor, *args: tuple[object, ...], **kwargs: dict[str, object]) -> Any:
        recorder = current().recorder
        if recorder is not None:
            file = sys._getframe(1).f_code.co_filename
            if (file == _ASKING or not is_rushlight(file)) and not recorder.made(self):
                recorder.refuse(f"the step asks a tensor that it didn't make for `{name}`")
        return function(self, *args, **kwargs)

    return asking


def _install_questions(kind: type) -> None:
    for name in ASKED:
        found = inspect.getattr_static(kind, name, None)
        if isinstance(found, property):
            get = _note_question(found.fget, name)
            setattr(kind, name, property(get, found.fset, found.fdel, found.__doc__))
        elif isinstance(found, FunctionType):
            setattr(kind, name, _note_question(found, name))


def install() -> None:
    """Makes reads visible; done when something is compiled for the first time."""
    kind: Any = Tensor
    for name, how in {
        "__bool__": "bool()", "__float__": "float()", "__int__": "int()", "__index__": "index()",
        "__complex__": "complex()", "__repr__": "printing", "__format__": "formatting",
        "__contains__": "in", "tolist": "tolist()", "numpy": "numpy()", "data_ptr": "data_ptr()",
        "__array__": "numpy()", "__dlpack__": "dlpack", "__reduce_ex__": "copying",
        "__deepcopy__": "copying", "equal": "equal()", "allclose": "allclose()",
        "is_nonzero": "is_nonzero()",
    }.items():  # fmt: skip
        found = getattr(kind, name, None)
        if found is not None:
            setattr(kind, name, _note_read(found, how))
    _install_questions(kind)


install()
