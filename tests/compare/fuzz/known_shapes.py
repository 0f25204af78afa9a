"""Decided differences of tensors whose data or shape was replaced; see known.py."""

from __future__ import annotations

from tests.compare.fuzz.known import GRADIENTS, Named

SHAPES: list[Named] = [
    Named(
        "A tensor keeps no other shape than its data's",
        "accepted|exception type|message",
        GRADIENTS,
        torch=r"invalid gradient at index \d - got|appears to not have been used in the graph|"
        r"does not require grad|mat1 and mat2 shapes cannot",
        program=r"\.data = |\.resize_\(",
    ),
    Named(
        "A tensor keeps no other shape than its data's",
        "is_leaf|shape",
        GRADIENTS,
        program=r"\.data = ",
        variable=r"g\[",
    ),
    # An older node lives that the backward doesn't run through.
    Named(
        "A tensor keeps no other shape than its data's",
        "grad",
        GRADIENTS,
        program=r"\.data = ",
        form=True,
    ),
    Named(
        "A tensor keeps no other shape than its data's",
        "accepted|refused",
        GRADIENTS,
        torch="^ok$|^IndexError: Dimension out of range",
        ours="^ok$|output with shape .* doesn't match the broadcast shape|"
        "must match the size of tensor|non-broadcastable output operand",
        program=r"\.data = ",
    ),
    Named(
        "A tensor keeps no other shape than its data's",
        "refused|accepted|message",
        torch=r"^ok$|nference tensor|kthvalue.*don't support automatic differentiation",
        program=r"inference_mode\(\): (\w+\.data = |(.*\n)+.*\.data = )",
    ),
]
