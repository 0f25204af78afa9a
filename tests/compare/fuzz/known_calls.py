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
    "get_device|half|int|is_complex|is_contiguous|is_floating_point|long|short|register_hook|"
    "register_post_accumulate_grad_hook|requires_grad_|size|stride|fill_|zero_"
)
#: Nothing, or nothing but that complex halves are experimental, once or more often.
_ONLY_HALVES = (
    r"^\[((, )?\('UserWarning', \"ComplexHalf support is experimental and many operators don't "
    r"support it yet\.\"\))*\]$"
)

CALLS: list[Named] = [
    Named("NumPy's functions have gradients", torch=_OPERAND, program=r"np\.|\.numpy\(\)"),
    Named(
        "NumPy's functions have gradients",
        kind="class|value|refused",
        statement=r"!= np\.|np\.[^=]+ != ",
    ),
    Named(
        "A custom function gives no tensor of a list a history",
        kind="is_leaf|node|graph|refused",
        program=r"F\.apply\(\[",
        torch="^False$|FBackward|^ok$",
        ours="^True$|^None$|AccumulateGrad|Backward0$|a leaf Variable that requires grad is being",
    ),
    Named(
        "Errors don't list what PyTorch has been built with",
        kind="message",
        torch=r"^Cannot initialize CUDA without ATen_cuda library\. PyTorch splits|"
        r"^Could not run 'aten::[\w.]+' with arguments from the 'CPU' backend\. This could",
        ours=r"^Cannot initialize CUDA without ATen_cuda library\.$|"
        r"^Could not run 'aten::[\w.]+' with arguments from the 'CPU' backend\.$",
    ),
    Named(
        "A size that stands for a symbol in C is a negative one",
        kind="message",
        torch="SymIntArrayRef expected to contain only concrete integers$|"
        "IntArrayRef contains an int that cannot be represented as a SymInt",
    ),
    Named(
        "Ranges are computed in double precision",
        kind="message",
        statement=r"[.](arange|range|linspace|logspace|vander|histogram)\(",
        torch=r"^\[enforce fail at alloc_cpu\.cpp:\d+\] .* you tried to allocate \d+ bytes",
        ours=r"^\[enforce fail at alloc_cpu\.cpp:\d+\] .* you tried to allocate \d+ bytes",
    ),
    Named(
        "Python says what its own methods don't take",
        kind="message",
        statement=r"\.\w+\(.*foo=1",
        torch="argument 'memory_format' must be torch.memory_format, not",
        ours=r"^(Tensor\.)?\w+\(\) got an unexpected keyword argument 'foo'$",
    ),
    Named(
        "A size is never negative",
        kind="refused",
        statement=r"[.](expand|broadcast_to|as_strided_?)\(.*-\d",
        ours="^RuntimeError: (numel: integer multiplication overflow$|"
        "Storage size calculation overflowed with sizes=)",
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
        torch=_ONLY_HALVES,
        ours=_ONLY_HALVES,
    ),
    Named(
        "Modules and classes say where they come from",
        kind="message",
        torch=r"^(unsupported operand|'torch\.\w+' object|'\S+' not supported)|"
        r"^object of type 'torch\.(\w+)' has no len\(\)$|got size with types \[<class 'torch\.",
        ours=r"^(unsupported|'|only)|^object of type '\w+' has no len\(\)$|"
        r"got size with types \[<class 'rushlight\.",
    ),
    Named(
        "NumPy's functions have gradients",
        kind="warning",
        torch="__array__ implementation",
        program=r"np\.|\.numpy\(\)",
    ),
    Named(
        "Where PyTorch is the less accurate one",
        kind="value",
        statement=r"\bmatrix_exp\(",
        torch="nan|inf",
        ours="^(?!.*(nan|inf))",
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
        torch=r"^(Tensor\.|TensorBase\.)?\w+\(\)(: argument '\w+' must be| (takes|missing|got an "
        "unexpected|got multiple|received an invalid))",
        ours=r"^(Tensor\.|fill_\(\) received)?(\w+\(\))?(: argument '\w+' \(position \d\)| (takes|"
        "got|missing|an? invalid))|positional argument|unexpected keyword|multiple values",
    ),
    Named(
        "A warning comes once a call",
        kind="warning",
        torch=r"^\[(?:\('UserWarning', 'torch.ger is (?:(?!\), \().)+\), )?"
        r"(\('UserWarning', ['\"](?:(?!\), \().)+\))(, \1)+\]$",
        ours=r"^\[(?:\('UserWarning', 'torch.ger is (?:(?!\), \().)+\), )?"
        r"\('UserWarning', ['\"](?:(?!\), \().)+\)\]$",
    ),
    Named(
        "A warning comes once a call",
        kind="warning",
        torch=r"^\[\('UserWarning', ['\"](?:(?!\), \().)+\)\]$",
        ours=r"^\[(\('UserWarning', ['\"](?:(?!\), \().)+\))(, \1)+\]$",
        raised=r"\w",
    ),
    Named(
        "Conjugates are computed at once",
        kind="is_view|shares",
        statement=r"\b(conj\((input=)?(x\d+)?\)|adjoint\()|\.m?H$",
    ),
    Named(
        "Functions of several parts name themselves",
        kind="message",
        statement=r"unique|split|[.](lu|(adaptive_)?max_pool\dd|to_dlpack)\(",
        torch=r"(_return_\w+|_unique2|unique_dim|unique_consecutive|split_with_sizes|"
        r"_consecutive_return_\w+|_lu_with_infos|max_pool\dd_with_indices|_to_dlpack)\(\)",
        ours=r"^\w+\(\)",
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
        torch=r"^(IndexError: )?Dimension out of range|is out of bounds for dimension",
        ours=r"^(ok|Dimension out of|index -?\d+ is out of bounds for dimension \d with size 0$)",
    ),
    Named(
        "A step of zero is refused whatever the bounds are",
        kind="exception type",
        statement=r"\[.*:0\b",
        torch="^(SystemError: <method '__index__'|AttributeError: __index__$|"
        "ValueError: slice step cannot be zero$)",
        ours="^(ValueError: slice step cannot be zero|TypeError: only integer tensors of a single|"
        "TypeError: slice indices must be integers)",
    ),
    Named(
        "Whole numbers from 2**63 on",
        kind="accepted|exception type",
        statement=r"2\*\*63",
        torch="^OverflowError: can't convert negative int to unsigned|"
        "^ValueError: Overflow when unpacking long long$|attempted to promote UInt64 and",
    ),
    Named(
        "Compound products take other steps",
        kind="output_nr",
        statement=r"[.](lu|lu_unpack|svdvals|svd)\(",
    ),
    Named(
        "Gradients have no past",
        "version",
        r"\b(kron|matmul|rand)\(.*out=",
        "^[02]$",
        "^1$",
    ),
    Named(
        "A switch that is given by its place counts",
        kind="shape|value",
        statement=r"unique_consecutive\(x\d+, (True|False, True)\b",
        torch=r"^(\(0,\)|\[\])$",
    ),
    Named(
        "A switch that is given by its place counts",
        kind="shape|value",
        statement=r"torch\.unique_consecutive\(x\d+, (True, (False, )?(dim=|-?\d)|False, True, )",
        variable=r"r\d+\[1\]",
    ),
    Named(
        "Functions of several parts name themselves",
        kind="exception type",
        statement=r"[.]unique(_consecutive)?\(.*out=",
        torch="Boolean value of Tensor with .* is ambiguous",
        ours=r"unique(_consecutive)?\(\) got an unexpected keyword argument 'out'$",
    ),
    Named(
        "A turn by an angle of 19 digits has none that are right",
        kind="value",
        statement=r"chebyshev_polynomial_[tuvw]\((input=)?x\d+, (n=)?2\*\*(31|32|62|63)",
    ),
    Named(
        "An `out` is a tensor",
        kind="refused|exception type",
        statement=r"torch\.(add|sub|subtract|mul|multiply|div)\(.*out=[^x]",
        torch="^ok$|^RuntimeError: result type .* can't be cast to the desired output type",
        ours=r"^TypeError: (add|sub|mul|div)\(\): argument 'out' must be Tensor, not \w+$",
    ),
    Named(
        "A row that isn't sorted has no places",
        kind="value",
        statement=r"searchsorted\(",
        program=r"(x\d+) = torch\.rand(int|n)?\([^\n]*(\n[^\n]*)*"
        r"searchsorted\((sorted_sequence=)?\1\b",
    ),
    Named(
        "A mean over nothing",
        kind="refused|value",
        statement=r"[.]multi(label)?_margin_loss\(",
        ours=r"^NotImplementedError: \"multi(label)?_margin_loss\w+\" not implemented for|^nan$",
        program=r"\((0, \d|0,)",
    ),
    Named(
        "Compound products take other steps",
        kind="node|graph",
        statement=r"special\.ndtr\(|[.]where\(.*1j|softmax\(.*(dtype=|, torch\.\w)|"
        r"norm_except_dim\(",
        torch=r"^\('MulBackward1', \(\('AddBackward1', \(\('ErfBackward0'|"
        r"(Where|Softmax)Backward0', .*'ToCopyBackward0'|NormBackward0",
        ours=r"^\('MulBackward1', |(Where|Softmax)Backward0', |LinalgVectorNormBackward0",
    ),
    Named(
        "Of several faults one is told",
        kind="exception type",
        statement=r"nn\.functional\.",
        torch=r"^TypeError: \w+\(\): argument '\w+' (\(position \d+\) )?(must be|failed to unpack)",
        ours="^(RuntimeError|ValueError|IndexError|NotImplementedError): ",
    ),
    Named(
        "Of several faults one is told",
        kind="exception type",
        torch="^IndexError: Dimension out of range",
        ours=r"^RuntimeError: dim \d+ appears multiple times in the list of dims$",
    ),
    Named(
        "Conjugates are computed at once",
        kind="is_view",
        statement=r"[.]svd\(",
        program="complex",
        variable=r"r\d+\[2\]",
        torch="^True$",
    ),
    Named(
        "A size is never negative",
        kind="shape",
        statement=r"[.]as_strided_\(.*-\d",
        torch=r"^\(.*-\d",
        raised=r"\w",
    ),
    Named(
        "NumPy's functions have gradients",
        kind="exception type",
        statement=r"[.]batch_norm\((input=)?np\.array",
        torch="^TypeError: 'int' object is not callable$",
        ours="^IndexError: tuple index out of range$",
    ),
    Named(
        "An operand that is only read keeps its elements",
        kind="value",
        statement=r"[.]cov\(.*fweights=x",
        torch="^0$",
        variable=r"x\d+$",
    ),
    Named(
        "Memory behind an operand isn't read",
        kind="refused",
        statement=r"torch\.(native_batch_norm|embedding_bag)\(|\.as_strided\(",
        ours=r"^RuntimeError: (\w+ should contain \d+ elements not \d+|"
        r"offsets has to be a 1D Tensor, but got Tensor of dimension [2-9])$|"
        "out of bounds for storage of size 8$",
    ),
]
