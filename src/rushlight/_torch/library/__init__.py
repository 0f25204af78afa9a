"""`torch.library`: operators that programs register, called as `torch.ops.namespace.name`."""

from __future__ import annotations

from ..._base.lazy import list_names as _listed
from .check import OpCheckError, opcheck
from .custom import CustomOpDef, custom_op, triton_op, wrap_triton
from .inference import infer_schema
from .registration import (
    Library,
    _scoped_library,  # noqa: F401
    define,
    fallthrough_kernel,
    get_ctx,
    get_kernel,
    impl,
    impl_abstract,
    register_autocast,
    register_autograd,
    register_fake,
    register_kernel,
    register_torch_dispatch,
    register_vmap,
)
from .tags import Tag

__all__ = [
    "CustomOpDef", "Library", "OpCheckError", "Tag", "custom_op", "define", "fallthrough_kernel",
    "get_ctx", "get_kernel", "impl", "impl_abstract", "infer_schema", "opcheck",
    "register_autocast", "register_autograd", "register_fake", "register_kernel",
    "register_torch_dispatch", "register_vmap", "triton_op", "wrap_triton",
]  # fmt: skip

__dir__ = _listed(globals())
