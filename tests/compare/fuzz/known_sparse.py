"""Decided differences of sparse tensors; see known.py."""

from __future__ import annotations

from tests.compare.fuzz.known import Named

SPARSE: list[Named] = [
    Named(
        "Sparse tensors have a class of their own",
        kind="class",
        ours="^(Sparse|(Block)?(Rows|Columns))Tensor$",
    ),
    Named(
        "Sparse tensors are matrices, or lists of places",
        kind="refused|exception type|message",
        statement=r"[.]to_sparse_(csr|csc|bsr|bsc)\(",
        ours=r"Only tensors with two sparse dimensions can be converted to the Sparse\w+ layout|"
        r"dense_to_sparse_b\w+: dense_dim argument must be in \[0,0\]",
    ),
]
