"""Tensors whose memory several processes see, and how they are sent from one to another."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._array.memory import shared as S
from .._base import dtypes as D
from .._core.mode import ask_class
from .._core.storage import CLASSES, TensorBase, init_tensor
from .copies import Attributes, attributes_of, reduce_leaf, set_attributes

if TYPE_CHECKING:
    from .tensor import Tensor

#: Where a file that is open can be sent to another process.
POSSIBLE: Final = sys.platform != "win32"

NOT_A_LEAF: Final = (
    "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not "
    "support crossing process boundaries.  If you just want to transfer the data, call detach() on "
    "the tensor before serializing (e.g., putting it on the queue)."
)


def is_shared(t: Tensor) -> bool:
    """Whether other processes can see the tensor's memory."""
    return S.is_shared(t._raw)


def share(t: Tensor) -> None:
    """Moves a tensor's memory, and that of the tensor it is a view of, to where others see it.

    Other views that were taken before keep the old memory.
    """
    if not POSSIBLE:
        raise RuntimeError("Rushlight shares no memory between processes on Windows")
    if S.is_shared(t._raw):
        return
    base = t._base
    if base is None or T.owner(base._raw) is not T.owner(t._raw):  # it got other memory since
        t._raw = S.share(t._raw)
        return
    lying, dtype = S.geometry(t._raw), S.dtype_of(t._raw)
    base._raw = S.share(base._raw)
    block = S.block_of(base._raw)
    if block is not None:
        t._raw = S.view_block(block, dtype, lying)


def reduce_tensor(t: Tensor) -> Any:
    """How a tensor goes to another process: by the file behind its memory, which both then see.

    Raises:
        RuntimeError: for a tensor with a history, which stays here.
    """
    if t._requires_grad and not t.is_leaf:
        raise RuntimeError(NOT_A_LEAF)
    if not POSSIBLE:
        return reduce_leaf(t)
    share(t)
    block = S.block_of(t._raw)
    if block is None:  # a view of memory that is itself a view: sent by value
        return reduce_leaf(t)
    from multiprocessing.reduction import DupFd

    attributes = attributes_of(t) or None
    lying, dtype = S.geometry(t._raw), S.dtype_of(t._raw)
    sent = DupFd(block.fd)
    return _receive, (type(t), sent, len(block), dtype, lying, t._requires_grad, attributes)


def _receive(
    cls: type[Any],
    sent: Any,
    size: int,
    dtype: D.dtype,
    lying: Any,
    requires_grad: bool,
    attributes: Attributes | None,
) -> Tensor:
    t = TensorBase.__new__(cls)
    init_tensor(t, S.view_block(S.open_block(sent.detach(), size), dtype, lying))
    t._requires_grad = requires_grad
    if cls._overrides or cls._dispatches:
        t._plain = False
        t._layered = True
        if cls._dispatches:
            ask_class(CLASSES.tensor)
    set_attributes(t, attributes)
    return t
