"""`torch.sparse`: tensors of which only some elements are stored, and what is done with them.

Semi-structured forms, and batches of compressed matrices, aren't here and say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._base.lazy import lazy, list_names

#: Sparse tensors by element type, as PyTorch had them before dtypes.
_TYPED: Final = (
    "ByteTensor",
    "CharTensor",
    "ShortTensor",
    "IntTensor",
    "LongTensor",
    "HalfTensor",
    "BFloat16Tensor",
    "FloatTensor",
    "DoubleTensor",
)
_HOMES: Final = {
    **{name: f".typed:{name}" for name in _TYPED},
    **{
        name: f".{name}"
        for name in (
            "arithmetic",
            "attachments",
            "compressed",
            "coordinates",
            "gradients",
            "make",
            "products",
            "rows",
            "sampled",
            "typed",
            "unstructured",
        )
    },
    "CompressedTensor": ".compressed:CompressedTensor",
    "SparseSemiStructuredTensor": ".unstructured:SparseSemiStructuredTensor",
    "SparseTensor": ".coordinates:SparseTensor",
    "addmm": ".products:addmm",
    "as_sparse_gradcheck": ".unstructured:as_sparse_gradcheck",
    "check_sparse_tensor_invariants": ".unstructured:check_sparse_tensor_invariants",
    "log_softmax": ".products:log_softmax",
    "mm": ".products:mm",
    "sampled_addmm": ".sampled:sampled_addmm",
    "smm": ".products:mm",
    "softmax": ".products:softmax",
    "solve": ".unstructured:solve",
    "sparse_coo_tensor": ".make:sparse_coo_tensor",
    **{
        name: f".rows:{name}"
        for name in (
            "sparse_bsc_tensor",
            "sparse_bsr_tensor",
            "sparse_compressed_tensor",
            "sparse_csc_tensor",
            "sparse_csr_tensor",
        )
    },
    "sparse_mask": ".make:sparse_mask",
    "spdiags": ".make:spdiags",
    "spmm": ".products:mm",
    "sum": ".arithmetic:sum",
    "to_sparse": ".make:to_sparse",
    "to_sparse_csr": ".rows:to_sparse_csr",
    "to_sparse_semi_structured": ".unstructured:to_sparse_semi_structured",
}
if TYPE_CHECKING:
    from .arithmetic import sum
    from .compressed import CompressedTensor
    from .coordinates import SparseTensor
    from .make import sparse_coo_tensor, sparse_mask, spdiags, to_sparse
    from .products import addmm, log_softmax, mm, mm as smm, mm as spmm, softmax
    from .rows import (
        sparse_bsc_tensor,
        sparse_bsr_tensor,
        sparse_compressed_tensor,
        sparse_csc_tensor,
        sparse_csr_tensor,
        to_sparse_csr,
    )
    from .sampled import sampled_addmm
    from .unstructured import (
        SparseSemiStructuredTensor,
        as_sparse_gradcheck,
        check_sparse_tensor_invariants,
        solve,
        to_sparse_semi_structured,
    )
else:  # checkers take a module with this function for one that has every name
    __getattr__ = lazy(__name__, _HOMES)

__all__ = [
    "CompressedTensor", "SparseSemiStructuredTensor", "SparseTensor", "addmm",
    "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm",
    "smm", "softmax", "solve", "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor",
    "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor", "sparse_mask", "spdiags", "spmm",
    "sum", "to_sparse", "to_sparse_csr", "to_sparse_semi_structured",
]  # fmt: skip


__dir__ = list_names(globals())
