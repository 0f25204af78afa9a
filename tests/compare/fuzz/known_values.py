"""Decided differences of memory, words and numbers; see known.py."""

from __future__ import annotations

from tests.compare.fuzz.known import GRADIENTS, Named

VALUES: list[Named] = [
    # ---- memory
    Named("Overlapping memory is written as a whole", "value|grad", tangled=True),
    Named(
        "Overlapping memory is written as a whole",
        "value",
        r"squeeze\(\)\.mul_\(",
        program=r"unfold\(",
    ),
    Named(
        "A write with a place outside writes nothing", "shape|value|version", r"out=", raised=r"\w"
    ),
    Named(
        "Overlapping memory is written as a whole",
        "refused|accepted|message|exception type",
        r"(addb?mm|baddbmm|addmv|addr|masked_scatter|tri[lu])_\(|out=",
        ours=r"refers? to a single memory location",
        tangled=True,
    ),
    Named(
        "A tensor that is shared takes its base along, and no other view",
        "shares",
        program=r"share_memory_",
    ),
    Named(
        "A tensor that is shared takes its base along, and no other view",
        "accepted",
        torch="refer to a single memory location",
        program=r"share_memory_",
    ),
    Named(
        "A tensor that is written keeps its shape",
        "refused",
        r"addbmm_\(",
        ours="doesn't match the broadcast shape",
    ),
    Named(
        "Operands of matrix products may be written",
        "accepted",
        r"matmul\((\w+), \1, out=\1\)",
        torch="1D tensors expected, but got 0D and 0D tensors",
    ),
    Named(
        "Of several faults one is told",
        "message",
        r"meshgrid\(",
        torch="^Output 0 of View is a view of a view which was created in no_grad mode",
    ),
    Named(
        "Of several faults one is told",
        "message",
        r"\b(scatter|scatter_reduce|index_reduce|index_add|index_copy)_\(",
        ours="^unsupported operation: more than one element of the written-to tensor",
    ),
    Named(
        "Of several faults one is told",
        "exception type",
        r"\b(scatter|scatter_reduce|index_reduce|index_add|index_copy)_\(",
        torch="^IndexError: ",
        ours="^RuntimeError: unsupported operation: more than one element of the written-to tensor",
    ),
    Named(
        "A tensor that is shared takes its base along, and no other view",
        "value",
        r"\w_\(|\] = |[-+*/%]= ",
        moved=True,
    ),
    Named(
        "Of several faults one is told",
        "message",
        torch=r"^unsupported operation: some elements of the input tensor and the written-to",
        ours=r"^(The size of tensor|shape mismatch|Index tensor must have the same number of dim|"
        r"result type|output with shape)",
    ),
    Named(
        "Of several faults one is told",
        "message",
        torch="^Inference tensors cannot be saved for backward",
        ours="size of tensor|dimension|[0-9]D tensor|shape",
    ),
    Named(
        "Of several faults one is told",
        "warning",
        r"index_reduce_?\(",
        torch=r"^\[\]$",
        ours="index_reduce.. is in beta",
        raised="refer to a single memory location|Expected out tensor",
    ),
    Named(
        "Of several faults one is told",
        "message",
        r"index_(add|copy)_\(|mul_\(",
        torch=r"^(index_add_\(\): Number of indices|A view was created in no_grad mode)",
    ),
    Named(
        "Of several faults one is told",
        "exception type",
        r"scatter_(reduce|add)_\(|silu\(|glu\(|baddbmm\(|cum(sum|prod)_\(",
        torch=r"^(IndexError: Dimension out of|RuntimeError: (Autograd not support|Halving dim|"
        r"result type Long))",
    ),
    Named(
        "Of several faults one is told",
        "message",
        r"\b(addcdiv|baddbmm|addbmm|scatter_add|ldexp)_\(",
        torch=r"^(expand\(torch|Integer division with addcdiv|The expanded size|Incompatible "
        r"matrix|Index tensor must have|Dimension specified as 0|ldexp can't be cast)",
    ),
    Named(
        "Of several faults one is told",
        "message",
        r"torch\.matmul\(.*out=",
        torch=r"^(both arguments to|vector \+ matrix @ vector|1D tensors expected|Expected out)",
    ),
    Named(
        "A write with a place outside writes nothing",
        "warning",
        r"out=",
        torch="was resized since it had shape",
        ours=r"^\[\]$",
        raised=r"\w",
    ),
    Named(
        "A write with a place outside writes nothing",
        "value",
        r"(//|%)= |(floor_divide|remainder|fmod|div)_\(",
        raised="ZeroDivisionError",
    ),
    # ---- words and numbers
    Named(
        "A matrix that is nearly singular",
        "value",
        r"solve|inv|inverse|pinv|slogdet|float_power|\*\*",
        torch=r"\d{5}\.\d|e\+\d|-19\.",
        program=r"solve\(|inv\(|inverse\(|slogdet\((\w+) @ \1\.t\(\)",
        singular=True,
    ),
    # The inverse's own numbers, of rows that attention has made nearly equal, and of its square.
    Named(
        "A matrix that is nearly singular",
        "value",
        r"inv\(|inverse\(",
        torch=r"\d{4}\.\d",
        program=r"scaled_dot_product_attention\(|softmax\(",
        singular=True,
    ),
    Named(
        "A matrix that is nearly singular",
        "value",
        r"slogdet\((\w+) @ \1\.t\(\)\)",
        torch=r"^-?[12]\d\.\d",
        program=r"inv\(|inverse\(|diff\(",
        singular=True,
    ),
    Named(
        "A matrix that is nearly singular",
        "accepted|refused",
        r"solve\(|inv\(|inverse\(|cholesky\(",
        torch="_LinAlgError|^ok$",
        ours="_LinAlgError|^ok$",
        singular=True,
    ),
    Named("A matrix that is nearly singular", "value", r"solve\((\w+), \1\)", singular=True),
    Named(
        "A matrix that is nearly singular",
        "value|grad",
        r"log\(|" + GRADIENTS,
        program=r"(\w+) = .*solve\((\w+), \2\)(.*\n)+.*\1\.(log|sum)\(",
    ),
    Named("A matrix that is nearly singular", "value", r"frac\(", program=r"inv\(|inverse\("),
    Named("A matrix that is nearly singular", "value", r"pinv\(", program=r"kron\("),
    Named(
        "A matrix that is nearly singular",
        "value",
        torch=r"\[\[-?\d{3}\.",
        program=r"lstsq\(.*(\n.*)*multi_dot|multi_dot(.*\n)+.*lstsq\(",
    ),
    Named(
        "A matrix that is nearly singular",
        "value",
        r"\b(sin|cos|tan)_?\(",
        program=r"\b(inverse|inv|pinv)\(",
        singular=True,
    ),
    Named(
        "A matrix that is nearly singular",
        "value",
        GRADIENTS,
        program=r"pinv\((\w+)\)(.*\n)+.*tensordot\(\1, ",
        singular=True,
    ),
    Named(
        "A matrix that is nearly singular",
        "value",
        r"normalize|corrcoef",
        program=r"cross\((\w+), \1, dim=-?\d\)",
        singular=True,
    ),
    Named(
        "PyTorch refuses what it laid out itself",
        "accepted",
        r"kron\(",
        torch="^RuntimeError: view size is not compatible with input tensor's size and stride",
    ),
    Named(
        "A tensor without dimensions has no size",
        "message",
        r"\w\[[12]\]",
        torch=r"^select\(\) cannot be applied to a 0-dim tensor",
        ours="^index [12] is out of bounds for dimension 0 with size 0",
        program=r"resize_\(\(\)\)",
    ),
    Named(
        "Whether a new result is a view of a hidden tensor",
        "is_view",
        r"tile\(|repeat\(",
        program=r"inference_mode\(\): ",
    ),
    Named(
        "Whether a new result is a view of a hidden tensor",
        "is_view",
        r"atleast_3d\(",
        program=r"max_pool1d\(",
    ),
    Named(
        "Whether a new result is a view of a hidden tensor",
        "node|graph",
        torch="CopySlices",
        ours="AsStrided|CopySlices",
        program=r"max_pool1d\(",
    ),
    Named("Which of equal elements", "value", "kthvalue|topk|mode|sort", variable=r".*\[1\]"),
    Named(
        "The shortest functions look at their arguments late",
        "exception type|message",
        torch=r"must be Tensor, not|has no attribute|expected Tensor as element",
        ours=r"must be Tensor, not|has no attribute",
    ),
    Named(
        "The shortest functions look at their arguments late",
        "exception type",
        "embedding",
        torch="Dimension specified as 0",
        ours="'weight' must be 2-D",
    ),
    # What is made of rounding: of zeros and ones, and of gradients that are none.
    Named(
        "The last digits",
        "grad|value|shape|stride",
        r"^(?!.*lstsq\()",
        program=r"lstsq\((\w+), \1\)",
    ),
    # A system without a solution.
    Named(
        "Signs of singular vectors",
        "value",
        r"lstsq\(\w+, \w+\)",
        program=r"(interpolate|repeat|tri[lu])\(",
    ),
    Named(
        "The last digits",
        "grad",
        GRADIENTS,
        program=r"(\w+) = (\w+)\.lerp\(\2, \2\)(.*\n)+.*lstsq\(\2, \1\)",
    ),
    # Products of less than full rank, some of whose vectors are any that are left.
    Named(
        "Signs of singular vectors",
        "value",
        r"eigh\((\w+) @ \1\.t\(\)",
        variable=r"\w+\[1\]",
        program=r"(interpolate|repeat)\(",
    ),
    Named("Messages print tensors as Python does", "message", "meshgrid", r"got: [^t]"),
    Named("Sums of complex numbers are taken part by part", "value", halves=True),
    Named(
        "Signs of singular vectors",
        "value",
        r"slogdet\((\w+) @ \1\.t\(\)",
        torch=r"^(-?0|-1)\.0$",
        variable=r"\w+\[0\]",
    ),
    Named("The last digits", "value", program=r"view\(torch.int32\)", bits=True),
    # What is nothing but rounding where vectors are parallel.
    Named("The last digits", "value", r"bool\(|entr\(", program=r"cross\("),
    # A large number's sine.
    Named(
        "The last digits", "value", r"sin_\(", program=r"(\w+) = \w+\.exp\(\)(.*\n)+.*\1\.exp_\("
    ),
    Named("Where PyTorch is the less accurate one", "value", r"\b(r?sub|subtract)_?\(.*-2\*\*63"),
    Named(
        "Complex numbers of half precision",
        "accepted",
        r"2\*\*63",
        torch=r"cannot be converted to type c10::complex<c10::Half> without overflow",
    ),
    Named(
        "Of several faults one is told",
        "warning",
        r"torch\.range\(",
        torch=r"torch\.range is deprecated",
        ours=r"^\[\]$",
        raised=r"\w",
    ),
    Named(
        "Of several faults one is told",
        "exception type",
        r"\bldexp\(",
        torch="^NotImplementedError: .* not implemented for 'ComplexHalf'",
        ours="size of tensor",
    ),
    Named(
        "Of several faults one is told",
        "exception type",
        r"\b(lin|log)space\(",
        torch="^RuntimeError: Expected one of cpu, cuda",
        ours="^ValueError: Overflow when unpacking",
    ),
    Named(
        "Of several faults one is told",
        "message",
        torch=r"^Output 0 of (Split|Unbind|Chunk)\w* is a view and its base",
        ours="tensors expected",
    ),
    Named(
        "Of several faults one is told",
        "message|exception type",
        torch=r"^(A view was created in inference mode|IndexError: Dimension out of range)",
        ours=r"^(The size of tensor|RuntimeError: a view of a leaf)",
        statement=r"(gcd|lcm|baddbmm)_\(",
    ),
    # Two places of one element whose steps differ, which nobody goes.
    Named(
        "Layout has fewer details",
        "accepted",
        torch="some elements of the input tensor and the written-to tensor refer",
        program=r"::2\](.*\n)+.*reshape\(-1\)",
    ),
    Named(
        "Overlapping memory is written as a whole",
        "message",
        torch=r"^The size of tensor a",
        ours=r"^unsupported operation: some elements of the input tensor",
        program=r"view\(torch\.int32\)",
    ),
    # Of sums that come to nothing but rounding, and of what is large.
    Named(
        "The last digits",
        "value",
        r"\b(digamma|lgamma|reciprocal)\(",
        program=r"layer_norm\((.*\n)+.*\.sum\(",
    ),
    Named("The last digits", "value", r"\b(sin|cos|tan)_?\(", program=r"\bi0_?\("),
    Named("Signs of singular vectors", "value", r"svd|eigh|qr", signs=True),
    Named(
        "A least-squares problem is broadcast by its batches",
        "accepted",
        r"lstsq\(\w+, \w+\)",
        torch=r"^RuntimeError: The size of tensor a \(\d+\) must match the size of tensor b \(",
    ),
    Named(
        "A least-squares problem is broadcast by its batches",
        "shape",
        r"lstsq\(\w+, \w+\)",
        torch=r"^\(\d+, \d+, \d+",
        ours=r"^\(1, \d+, \d+",
    ),
    Named(
        "Of several faults one is told",
        "exception type",
        r"mean\(",
        torch="could not infer output dtype",
    ),
    Named("The last digits", "value", r"cosine_similarity\(|out=", rounded=True),
    # Two thousand million elements take longer to show than a program has.
    Named("A program that fills memory is given up", "hang", program=r"repeat_interleave\(2\*\*31"),
]
