"""Decided differences of calls, conversions and operators; see known.py."""

from __future__ import annotations

from tests.compare.fuzz.known import Named

_OPERAND = r"unsupported operand type|not supported between|Can't call numpy|__array_wrap__"

CALLS: list[Named] = [
    Named("NumPy's functions have gradients", statement=r"np\.", torch=_OPERAND),
    Named(
        "NumPy's functions have gradients",
        kind="class|value",
        statement=r"[!=]= np\.|np\.\S+ [!=]= ",
    ),
    Named("Complex numbers of half precision", ours=r"torch\.complex32"),
    Named(
        "Modules and classes say where they come from",
        kind="message",
        torch=r"^(unsupported operand|'torch\.\w+' object|'\S+' not supported)",
        ours="^(unsupported|'|only)",
    ),
    Named(
        "NumPy's functions have gradients",
        kind="warning",
        statement=r"np\.",
        torch="__array__ implementation",
    ),
    Named(
        "A write with a place outside writes nothing",
        kind="value",
        statement=r"^x\[.*\[0, 1\].*\] = ",
    ),
    Named("Sparse tensors have a class of their own", kind="class", ours="SparseTensor"),
    Named(
        "Errors don't list what PyTorch has been built with",
        kind="message",
        torch=r"^Could not run 'aten::\w+' with arguments from the 'CPU' backend\. This could be",
        ours=r"^Could not run 'aten::\w+' with arguments from the 'CPU' backend\.$",
    ),
    Named(
        "PyTorch's exponential of bfloat16 matrices overflows",
        kind="value",
        statement=r"\bmatrix_exp\(",
        torch="nan|inf",
        program="bfloat16",
    ),
    Named("Nothing is pinned", kind="accepted", statement=r"\.pin_memory\("),
    Named(
        "Python says what its own methods don't take",
        kind="message",
        torch=r"^TensorBase\.\w+\(\) takes no ",
        ours="positional argument|unexpected keyword",
    ),
    Named(
        "Whether a new result is a view of a hidden tensor",
        kind="is_view",
        statement=r"fft|_window\(|max_pool1d|repeat_interleave|kron",
    ),
    Named(
        "Functions of several parts name themselves",
        statement="unique|split",
        torch=r"(_return_output|_unique2|unique_dim|unique_consecutive|split_with_sizes)\(\)",
    ),
    Named(
        "Whole numbers from 2**63 on",
        kind="accepted|refused|message|exception type",
        statement=r"2\*\*63",
    ),
]
