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
        "A warning comes once a call",
        "warning",
        r"\.backward\(",
        torch="^\\[\\('UserWarning', 'index_reduce\\(\\) is in beta",
        ours=r"^\[\]$",
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
        "Overlapping memory is written as a whole",
        "refused",
        r"nan_to_num_\(",
        ours="more than one element of the written-to tensor",
        program=r"torch\.arange\(6\)",
    ),
    # ---- numbers
    Named(
        "The last digits",
        "value",
        r"view\(torch\.int32\)",
        torch="-4194304",
        ours="2143289344",
    ),
    # ---- the graph
    Named(_PAST, "warning", r"matmul\(.*out=", r"output shape \[1, ", r"output shape \[\d+\]"),
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
]
