"""Comparing tensors with a message that says what differs, and making tensors to test with."""

from .._base.lazy import list_names as _listed
from ._comparison import assert_allclose, assert_close
from .creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

__dir__ = _listed(globals())
