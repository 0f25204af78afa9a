"""Decided differences of calls, conversions and operators; see known.py."""

from __future__ import annotations

from tests.compare.fuzz.known import Named

_OPERAND = (
    "unsupported operand type|not supported between|Can't call numpy|__array_wrap__|"
    "^(TypeError: )?Concatenation operation is not implemented for NumPy arrays"
)
#: What is called too often for its arguments to be counted by anybody but Python.
_PLAIN = (
    "as_subclass|bfloat16|bool|byte|cdouble|cfloat|char|contiguous|copy_|cpu|double|float|"
    "get_device|half|int|is_complex|is_contiguous|is_floating_point|long|short"
)

CALLS: list[Named] = [
    Named("NumPy's functions have gradients", statement=r"np\.", torch=_OPERAND),
    Named(
        "NumPy's functions have gradients",
        kind="class|value|refused",
        statement=r"!= np\.|np\.[^=]+ != ",
    ),
    Named(
        "NumPy's functions have gradients",
        kind="accepted",
        torch=r"Can't call numpy",
        program=r"\.numpy\(\)",
    ),
    Named(
        "NumPy's functions have gradients",
        kind="accepted",
        torch=_OPERAND,
        program=r"\.numpy\(\)",
    ),
    Named(
        "NumPy's functions have gradients",
        kind="exception type|warning",
        torch=rf"{_OPERAND}",
        program=r"\.numpy\(\)",
    ),
    Named(
        "NumPy's functions have gradients",
        kind="message",
        torch="^Can't call numpy",
        program=r"\.numpy\(\)",
    ),
    Named("Complex numbers of half precision", ours=r"torch\.complex32"),
    Named(
        "Complex numbers of half precision",
        kind="accepted",
        statement=r"[.]logical_\w+\(",
        torch="not implemented for 'ComplexHalf'$",
    ),
    Named(
        "A softmax of another type is one node",
        kind="graph",
        statement=r"softmax\(.*dtype=",
        torch="SoftmaxBackward0', \\(\\('ToCopyBackward0'",
        ours="SoftmaxBackward0', ",
    ),
    Named(
        "A custom function gives no tensor of a list a history",
        kind="is_leaf|node|graph",
        program=r"F\.apply\(\[",
        torch="^False$|FBackward",
        ours="^True$|^None$|AccumulateGrad",
    ),
    Named(
        "Errors don't list what PyTorch has been built with",
        kind="message",
        torch=r"^Cannot initialize CUDA without ATen_cuda library\. PyTorch splits",
        ours=r"^Cannot initialize CUDA without ATen_cuda library\.$",
    ),
    Named(
        "A size that stands for a symbol in C is a negative one",
        kind="message",
        torch="SymIntArrayRef expected to contain only concrete integers$",
        ours=r"^Trying to create tensor with negative dimension -9223372036854775808: ",
    ),
    Named(
        "Ranges are computed in double precision",
        kind="message",
        statement=r"[.](arange|range|linspace|logspace)\(",
        torch=r"^\[enforce fail at alloc_cpu\.cpp:\d+\] .* you tried to allocate \d+ bytes",
        ours=r"^\[enforce fail at alloc_cpu\.cpp:\d+\] .* you tried to allocate \d+ bytes",
    ),
    Named(
        "A call that is refused isn't warned of",
        kind="warning",
        statement=r"[.]range\(.*out=",
        torch=r"^\[\('UserWarning', \"torch.range is deprecated",
        ours=r"^\[\]$",
        raised="functions with out=|does not match dtype of out parameter",
    ),
    Named(
        "A call that is refused isn't warned of",
        kind="warning",
        statement=r"[.]tensor\(torch[.]tensor\(.*device=\d",
        torch="To copy construct from a tensor",
        ours=r"^\[\]$",
        raised=r"\w",
    ),
    Named(
        "A call that is refused isn't warned of",
        kind="warning",
        statement=r"[.]where\(.*out=",
        torch=r"^\[\]$",
        ours="where received a uint8 condition tensor",
        raised=r"\w",
    ),
    Named(
        "Of several faults one is told",
        kind="message",
        statement=r"[.]rand\(torch\.tensor\(2\.0\), dtype=",
        torch=r"^rand\(\) received an invalid combination of arguments - got \(Tensor, dtype",
        ours=r"^rand\(\): argument 'size' \(position 1\) must be tuple of ints, not Tensor$",
    ),
    Named(
        "Of several faults one is told",
        kind="message",
        statement=rf"\.({_PLAIN})\(.*foo=1",
        torch="argument 'memory_format' must be torch.memory_format, not",
        ours=r"^\w+\(\) got an unexpected keyword argument 'foo'$",
    ),
    Named(
        "Of several faults one is told",
        kind="message",
        statement=r"[.]range\(.*layout=.*pin_memory=",
        torch="argument 'layout' must be torch.layout, not",
        ours=r"^range\(\) got an unexpected keyword argument 'pin_memory'$",
    ),
    Named("Compound products take other steps", kind="node|graph", statement=r"[.]inner\("),
    Named(
        "A turn by an angle of 19 digits has none that are right",
        kind="value",
        statement=r"(pow_?\(|\*\*=? )-?2\*\*6[34]",
        program="complex",
    ),
    Named(
        "A size is never negative",
        kind="refused",
        statement=r"[.]expand\(.*-\d",
        ours="^RuntimeError: numel: integer multiplication overflow$",
    ),
    Named(
        "A new result isn't resized",
        kind="warning",
        statement=r"[.]ldexp\((?!.*out=)",
        torch="An output with one or more elements was resized",
        ours=r"^\[\]$",
    ),
    Named(
        "Complex numbers of half precision",
        kind="warning",
        torch=r"^\[\('UserWarning', \"ComplexHalf support is experimental",
        ours=r"^\[\]$",
    ),
    Named(
        "Modules and classes say where they come from",
        kind="message",
        torch=r"^(unsupported operand|'torch\.\w+' object|'\S+' not supported)",
        ours="^(unsupported|'|only)",
    ),
    Named(
        "Modules and classes say where they come from",
        kind="message",
        torch=r"^object of type 'torch\.(\w+)' has no len\(\)$",
        ours=r"^object of type '\w+' has no len\(\)$",
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
        statement=r"^x\[.*\] = ",
        raised=r"^IndexError: index -?\d+ is out of bounds",
    ),
    Named(
        "A write with a place outside writes nothing",
        kind="value",
        statement=r"\.bernoulli_\((p=)?x\d",
    ),
    Named("Sparse tensors have a class of their own", kind="class", ours="SparseTensor"),
    Named(
        "Errors don't list what PyTorch has been built with",
        kind="message",
        torch=r"^Could not run 'aten::[\w.]+' with arguments from the 'CPU' backend\. This could",
        ours=r"^Could not run 'aten::[\w.]+' with arguments from the 'CPU' backend\.$",
    ),
    Named(
        "Where PyTorch is the less accurate one",
        kind="value",
        statement=r"\bmatrix_exp\(",
        torch="nan|inf",
        program="float16",
    ),
    Named(
        "The inverse from a complex factor is that which its gradient is of",
        kind="value",
        statement=r"\bcholesky_inverse\(",
        program="complex",
    ),
    Named(
        "Classes of tensors have no `__torch_function__`",
        kind="warning",
        statement=r"\(torch\.\w*Tensor\b",
        torch="Defining your `__torch_function__` as a plain method is deprecated",
        ours=r"^\[\]$",
    ),
    Named("Nothing is pinned", kind="accepted", statement=r"\.pin_memory\("),
    Named(
        "Python says what its own methods don't take",
        kind="message",
        torch=r"^TensorBase\.\w+\(\) takes no ",
        ours="positional argument|unexpected keyword|multiple values",
    ),
    Named(
        "Python says what its own methods don't take",
        kind="message",
        statement=rf"\.({_PLAIN})\(",
        torch=r"^\w+\(\) (takes|got an unexpected keyword|missing) ",
        ours="positional argument|unexpected keyword|multiple values",
    ),
    Named(
        "A warning comes once a call",
        kind="warning",
        torch=r"^\[(\('UserWarning', ['\"](?:(?!\), \().)+\)), \1\]$",
        ours=r"^\[\('UserWarning', ['\"](?:(?!\), \().)+\)\]$",
    ),
    Named(
        "A warning comes once a call",
        kind="warning",
        torch=r"^\[\('UserWarning', ['\"](?:(?!\), \().)+\)\]$",
        ours=r"^\[(\('UserWarning', ['\"](?:(?!\), \().)+\)), \1\]$",
        raised=r"\w",
    ),
    Named(
        "Conjugates are computed at once",
        kind="is_view|shares",
        statement=r"\b(conj\((x\d+)?\)|adjoint\()|\.m?H$",
    ),
    Named(
        "Whether a new result is a view of a hidden tensor",
        kind="is_view",
        statement=r"fft|_window\(|max_pool1d|repeat_interleave|kron|\binner\(",
    ),
    Named(
        "Functions of several parts name themselves",
        statement="unique|split",
        torch=r"(_return_output|_unique2|unique_dim|unique_consecutive|split_with_sizes)\(\)",
    ),
    Named(
        "Functions of several parts name themselves",
        kind="message",
        statement=r"[.](unique|unique_consecutive|lu)\(",
        torch=r"^_(return_\w+|consecutive_return_\w+|lu_with_infos)\(\) (got|missing|takes)",
        ours=r"^(unique|unique_consecutive|_lu_no_infos)\(\) (got|missing|takes)",
    ),
    Named(
        "Functions of several parts name themselves",
        kind="message",
        statement=r"[.](adaptive_)?max_pool\dd\(",
        torch=r"^(adaptive_)?max_pool\dd_with_indices\(\) (got|missing|takes)",
        ours=r"^_(adaptive_)?max_pool\dd\(\) (got|missing|takes)",
    ),
    Named(
        "Python says what its own methods don't take",
        kind="message",
        statement=r"[.](register_hook|register_post_accumulate_grad_hook|requires_grad_|size|stride|"
        r"fill_|zero_|copy_)\(",
        torch=r"^(Tensor\.|TensorBase\.)?\w+\(\) (takes|got an unexpected|got multiple|missing|"
        r"received an invalid)",
        ours=r"^(Tensor\.)?\w+\(\) (takes|got an unexpected|got multiple|missing)",
    ),
    Named(
        "Python says what its own methods don't take",
        kind="message",
        statement=r"[.]fill_\(value=",
        torch=r"^fill_\(\) received an invalid combination of arguments - got \(value=",
        ours=r"^fill_\(\) received an invalid combination of arguments - got \(",
    ),
    Named(
        "Gradients have no past",
        kind="version",
        statement=r"[.](isclose|isfinite|matrix_rank|svd|cond|trapezoid|trapz|diff|max_pool1d)\(",
        torch="^[12]$",
        ours="^0$",
    ),
    Named(
        "A Fourier transform of nothing is nothing",
        kind="accepted",
        statement=r"[.]i?[hr]?fft(2|n)?\(",
        torch="MKL FFT error: Intel oneMKL DFTI ERROR: Inconsistent configuration parameters",
    ),
    Named(
        "Behind the last dimension there is none",
        kind="accepted|message",
        statement=r"\[.*\.\.\..*\.\.\..*\]",
        torch=r"^(IndexError: )?Dimension out of range",
        ours=r"^(ok|Dimension out of|index -?\d+ is out of bounds for dimension \d with size 0$)",
    ),
    Named(
        "A step of zero is refused whatever the bounds are",
        kind="exception type",
        statement=r"\[.*:0\b",
        torch="^(SystemError: <method '__index__'|AttributeError: __index__$|"
        "ValueError: slice step cannot be zero$)",
        ours="^(ValueError: slice step cannot be zero|TypeError: only integer tensors of a single)",
    ),
    Named(
        "Whole numbers from 2**63 on",
        kind="accepted|exception type",
        statement=r"-2\*\*63-1",
        torch="^OverflowError: can't convert negative int to unsigned",
    ),
    Named(
        "Sparse tensors are matrices, or lists of places",
        kind="refused|exception type|message",
        statement=r"[.]to_sparse_csr\(",
        ours="Only tensors with two sparse dimensions can be converted to the SparseCsr layout",
    ),
    Named(
        "Sparse tensors are matrices, or lists of places",
        kind="exception type",
        statement=r"[.]to_sparse\(.*layout=torch\.strided",
        ours=r"^NotImplementedError: to_sparse: Rushlight has no layout torch\.strided",
    ),
    Named(
        "Compound products take other steps",
        kind="node|graph",
        statement=r"[.](norm_except_dim|frobenius_norm)\(",
        torch="NormBackward1",
        ours="LinalgVectorNormBackward0",
    ),
    Named(
        "Compound products take other steps",
        kind="output_nr",
        statement=r"linalg[.]lu\(|[.]lu_unpack\(",
        torch="^[01]$",
        ours="^[12]$",
    ),
    Named(
        "Compound products take other steps",
        kind="output_nr",
        statement=r"[.]svdvals\(",
        torch="^1$",
        ours="^0$",
    ),
    Named(
        "Gradients have no past",
        kind="version",
        statement=r"[.]kron\(.*out=",
        torch="^0$",
        ours="^1$",
    ),
    Named(
        "Where PyTorch's own assertions fail",
        kind="accepted",
        statement=r"[.]index_put_?\(.*(\[\]|\(\))",
        torch=r"sym_strides\(\) called on an undefined Tensor",
    ),
    Named(
        "A switch that is given by its place counts",
        kind="shape|value",
        statement=r"unique_consecutive\(x\d+, (True|False, True)\b",
        torch=r"^(\(0,\)|\[\])$",
    ),
]
