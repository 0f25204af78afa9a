"""Decided differences that one program in ten thousand shows; see known.py."""

from __future__ import annotations

from tests.compare.fuzz.known import GRADIENTS, Named

_FAULTS = "Of several faults one is told"
_SINGULAR = "A matrix that is nearly singular"
_LAYOUT = "Layout has fewer details"
_PAST = "Gradients have no past"
_STEPS = "Compound products take other steps"
_PLAIN_WORDS = "Python says what its own methods don't take"

RARE: list[Named] = [
    # ---- words, and the order of faults
    Named(
        _FAULTS,
        "message",
        r"[.](addcdiv|softplus|hinge_embedding_loss|clamp_(max|min)|cdist|float_power|"
        r"frobenius_norm|ldexp|rfftn)\(",
        ours=r"^(value cannot be converted|The size of tensor|ldexp|result type|rfftn expects|"
        r"Expected out tensor|\"m(ax|in)imum_cpu\" not implemented for 'ComplexHalf'|cdist only|"
        r"\[.*\] is not a valid value for compute_mode)",
    ),
    Named(_FAULTS, "message", r"\.rand\(.*generator=.*out=", "cannot resize variables that"),
    Named(_FAULTS, "message", r"\.zeros\(torch\.tensor\(.*pin_memory=True", "requires a CUDA"),
    Named(_FAULTS, "message", r"\.randperm\(.*pin_memory=True", "^Expected one of cpu, cuda"),
    Named(_FAULTS, "message", r"lambda t: t\.mul_\(2\).*where\(", "result type Long can't be cast"),
    Named(_FAULTS, "message", r"\.lerp_\(", "^expected dtype", "refer to a single memory location"),
    Named(
        _FAULTS,
        "message",
        r"\.squeeze_\(|^\w+\[\w+ > 2\] = ",
        torch="multiple times in the list of dims|refer to a single memory location",
        ours="^a view of a leaf Variable that requires grad",
        program=r"\.set_\(",
    ),
    Named(
        _FAULTS,
        "message",
        r"index_reduce_\(",
        torch="^Inference tensors cannot be saved for backward",
        ours="^index_reduce_.. *: Indexing dim|^index_reduce_",
    ),
    Named(_FAULTS, "message", "meshgrid", "^A view was created in no_grad mode and its base"),
    Named(_FAULTS, "exception type", r"lu_unpack\(", "Dimension out of range", "^RuntimeError: "),
    Named(_FAULTS, "exception type", r"max_unpool\dd\(.*np\.bool", "^TypeError: cond must be a b"),
    Named(_FAULTS, "exception type", r"\.bmm\(.*out_dtype=.*out=", "^RuntimeError: aten::bmm"),
    Named(_FAULTS, "exception type", r"\.lstm_cell\(", "weight_ih first dim must be"),
    Named(_FAULTS, "exception type", r"\.bilinear\(", "\"bmm\" not implemented for 'Bool'"),
    Named(
        _FAULTS,
        "exception type",
        r"fractional_max_pool\dd_with_indices\(",
        torch="kernel_size must either be a single Int or tuple",
    ),
    Named(
        _FAULTS,
        "exception type",
        r"@= ",
        torch="expected m1 and m2 to have the same dtype",
        ours="\"bmm\" not implemented for 'Bool'",
    ),
    Named(
        _FAULTS,
        "exception type",
        r"^x\[.*\] = ",
        torch="^RuntimeError: Autograd not support dtype",
        ours="^IndexError: shape mismatch",
    ),
    Named(
        _PLAIN_WORDS,
        "message",
        r"\.\w+\(.*foo=1",
        torch="argument 'memory_format' must be torch.memory_format, not",
        ours=r"^Tensor\.\w+\(\) got an unexpected keyword argument 'foo'$",
    ),
    Named(_PLAIN_WORDS, "message", r"\.copy_\(other=", "^copy_.*'non_blocking' must be bool"),
    Named(
        "Modules and classes say where they come from",
        "message",
        r"interpolate\(",
        torch=r"got size with types \[<class 'torch\.",
        ours=r"got size with types \[<class 'rushlight\.",
    ),
    Named(
        "A step of zero is refused whatever the bounds are",
        "exception type",
        r"\[.*:0\b",
        torch="^AttributeError: __index__$",
        ours="^TypeError: slice indices must be integers",
    ),
    Named(
        "A size that stands for a symbol in C is a negative one",
        "message",
        r"\.arange\(2\*\*63",
        torch="IntArrayRef contains an int that cannot be represented as a SymInt",
    ),
    Named(
        "Whole numbers from 2**63 on",
        "exception type",
        r"divide\((input=)?2\*\*63",
        torch="attempted to promote UInt64 and",
        ours="^OverflowError: int too big to convert$",
    ),
    Named(
        "Ranges are computed in double precision",
        "message",
        r"\.histogram\(bins=2\*\*31",
        torch="you tried to allocate 8589934592 bytes",
    ),
    # ---- warnings
    Named(
        "A warning comes once a call",
        "warning",
        torch=r"^\[\('UserWarning', 'An output with .*\('UserWarning', ['\"](?!An output)",
        ours=r"^\[\('UserWarning', ['\"](?!An output).*\('UserWarning', 'An output with ",
    ),
    Named(
        "A warning comes once a call",
        "warning",
        r"\b(eq|ne|logical_(and|or|xor))\(.*out=",
        torch="was resized since.*was resized since.*Casting complex values",
        ours="was resized since.*Casting complex values",
    ),
    Named(
        "A write with a place outside writes nothing",
        "warning",
        r"\.qr\(.*out=",
        torch="was resized since it had shape",
        ours=r"^(?!.*was resized)",
        raised=r"\w",
    ),
    Named(
        "A warning comes once a call",
        "warning",
        r"\.backward\(",
        torch="^\\[\\('UserWarning', 'index_reduce\\(\\) is in beta",
        ours=r"^\[\]$",
    ),
    Named(
        "NumPy's functions have gradients",
        "warning",
        r"\.dot\(",
        torch="__array__ implementation",
        program=r"\.numpy\(\)",
    ),
    # ---- what is taken
    Named(
        "Convolutions of complex numbers have one name more",
        "accepted",
        r"\b_?convolution\(",
        torch=r"\"(slow_conv[\w<>]*|compute_columns3d)\" not implemented for 'Complex",
    ),
    Named(
        "An operation on no elements looks at its arguments",
        "refused",
        r"fractional_max_pool3d\(|sub_\(.*, 1e40\)",
        ours="not implemented for 'Complex|without overflow",
    ),
    Named(
        "Memory behind an operand isn't read",
        "refused",
        r"\.as_strided\(",
        ours="out of bounds for storage of size 8$",
        program=r"_loss\(",
    ),
    Named(
        "Operands of matrix products may be written",
        "refused|accepted",
        r"\.(addmm\((\w+), .*out=\2|max\((\w+), .*out=\(\3,)",
        program=r"z = torch\.empty\(0\)",
    ),
    Named(
        "Overlapping memory is written as a whole",
        "refused",
        r"nan_to_num_\(",
        ours="more than one element of the written-to tensor",
        program=r"torch\.arange\(6\)",
    ),
    Named(
        _LAYOUT,
        "accepted",
        torch="some elements of the input tensor and the written-to tensor refer",
        program=r"::2\](.*\n)+.*atleast_2d\(",
    ),
    # ---- numbers
    Named(
        "The last digits",
        "value",
        r"view\(torch\.int32\)",
        torch="-4194304",
        ours="2143289344",
    ),
    Named("The last digits", "value", r"\bsin_?\(", program=r"\.exp\(\)(.*\n)+.*\.exp_\("),
    Named(_SINGULAR, "value", r"digamma\(| / |div_\(", program=r"solve\((\w+), \1\)"),
    Named(_SINGULAR, "value", r"div_\(", program=r"cross\((\w+), \1,"),
    Named(_SINGULAR, "value", r"corrcoef\(", program=r"corrcoef\((.*\n)+.*corrcoef\("),
    Named("Signs of singular vectors", "value", r"linalg\.qr\(", program=r"\.repeat\(2, 1\)"),
    Named(
        "Signs of singular vectors",
        "value",
        r"eigh\((\w+) @ \1\.t\(\)",
        variable=r"\w+\[1\]",
        program=r"unsqueeze\(-1\)",
    ),
    Named(
        "A write with a place outside writes nothing",
        "value",
        r"\.scatter_reduce_\(",
        raised=r"index \S+ is out of bounds",
    ),
    Named(
        "A tensor that is shared takes its base along, and no other view",
        "value",
        r"inplace=True",
        moved=True,
    ),
    # ---- the graph
    Named(_PAST, "version", r"detach\(", "^[12]$", "^0$", program=r"linear\(|quantile\("),
    Named(_PAST, "version", r"matmul\(.*out=", "^2$", "^1$"),
    Named(_PAST, "warning", r"matmul\(.*out=", r"output shape \[1, ", r"output shape \[\d+\]"),
    Named(_PAST, "version", r"\.rand\(.*generator=.*out=", "^2$", "^1$"),
    Named(_STEPS, "node|is_view", r"broadcast_tensors|float\(", program=r"einsum\("),
    Named(_STEPS, "is_view", r" @ ", "^True$", "^False$", program=r"(avg|max)_pool1d\("),
    Named(_LAYOUT, "stride", r" @ ", program=r"as_strided\(\(2, 2\), \(1, 1\)\)"),
    Named(_LAYOUT, "stride", r"addr\(", program=r"rot90\("),
    Named(
        "Some layers are one node until somebody looks",
        "value",
        r"str\(\w+\.grad_fn\)",
        torch="^<AddBackward0$",
        ours="^<ViewBackward0$",
        program=r"linear\(",
    ),
    Named(
        "Gradients made in inference mode are ordinary tensors",
        "accepted",
        r"grad\.requires_grad_\(",
        torch="^RuntimeError: Setting requires_grad=True on inference tensor outside",
    ),
    Named(
        "A tensor keeps no other shape than its data's",
        "accepted|refused",
        GRADIENTS,
        torch="^ok$|^IndexError: Dimension out of range",
        ours=r"^ok$|output with shape .* doesn't match the broadcast shape",
        program=r"\.data = ",
    ),
    Named(
        "Nodes save what their formulas read",
        "exception type|accepted",
        GRADIENTS,
        torch="modified by an inplace operation|masked_scatter_ only supports boolean masks",
        program=r"saved_tensors_hooks(.*\n)+.*(vander|combinations)\(|combinations\(",
    ),
    Named(
        "Nodes save what their formulas read",
        "accepted|value",
        GRADIENTS,
        torch=r"\[torch\.\w+ \[0\]\] is at version \d; expected version|^\[nan",
        program=r"addcdiv_\((\w+), \1\)|erfinv_\((.*\n)+.*\.data\[0\] = ",
    ),
    Named(
        "Where PyTorch is the less accurate one",
        "accepted",
        GRADIENTS,
        torch="^RuntimeError: setStorage: ",
        program=r"as_strided_scatter\(",
    ),
    Named(
        "A tensor whose memory is set keeps no base",
        "grad",
        GRADIENTS,
        program=r"inference_mode\(\): \w+\.set_\(",
    ),
    Named(
        "A custom function gives no tensor of a list a history",
        "node|refused",
        program=r"F\.apply\(\[",
        torch="^FBackward$|^ok$",
        ours="Backward0$|a leaf Variable that requires grad is being used",
    ),
    Named(
        "The parts of `unsafe_split` are those of `split` in inference mode",
        "message",
        torch="^A view was created in inference mode and is being modified inplace",
        program=r"inference_mode\(\): \w+ = \w+\.unsafe_(split|chunk)\(",
    ),
    Named(
        "The parts of `unsafe_split` are those of `split` in inference mode",
        "node",
        torch="^None$",
        ours="^RuntimeError: A view was created in inference mode and its base or another view",
        program=r"inference_mode\(\): \w+ = \w+\.unsafe_(split|chunk)\(",
    ),
    Named(
        "Results of inference tensors have no past",
        "node|graph",
        torch="CopyBackwards",
        program=r"inference_mode\(\): \w+\.data = (.*\n)+.*\.float\(",
    ),
    Named(
        "Errors don't list what PyTorch has been built with",
        "exception type",
        r"\.asarray\(.*device='cuda",
        torch="^ValueError: can't alias tensor from|^RuntimeError: PyTorch is not linked with|"
        "^NotImplementedError: Could not run 'aten::empty_strided'",
        ours="^AssertionError: Torch not compiled with CUDA enabled",
    ),
    Named(
        "A quotient by whole numbers has a gradient",
        "accepted",
        GRADIENTS,
        torch="^RuntimeError: result type (Float|Double) can't be cast to the desired output type",
        program=r"addcdiv",
    ),
    Named(
        "Gradients have no past",
        "graph",
        torch=r"'ExpandBackward0', \(\(?'ViewBackward0'",
        ours=r"'ExpandBackward0', \(None,\)",
        program=r"no_grad\(\): \w+ = \w+\.unsqueeze\((.*\n)+.*\[\.\.\.\] = ",
    ),
]
