"""Decided differences of memory, words and numbers; see known.py."""

from __future__ import annotations

from tests.compare.fuzz.known import GRADIENTS, Named

VALUES: list[Named] = [
    # ---- memory
    Named("Overlapping memory is written as a whole", "value|grad", tangled=True),
    Named(
        "A write with a place outside writes nothing",
        "shape|value|version",
        r"out=|^x\[.*\] = |(//|%)= |\.(floor_divide|remainder|fmod|div|bernoulli|put|scatter_add|"
        r"scatter|scatter_reduce|index_fill|index_reduce)_\(",
        raised=r"\w",
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
        "shares|accepted",
        torch="^(?!RuntimeError)|refer to a single memory location",
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
        "refused|accepted",
        r"\.(addmm\((\w+), .*out=\2|max\((\w+), .*out=\(\3,|matmul\((\w+), \4, out=\4\))",
        program=r"z = torch\.empty\(0\)",
    ),
    Named(
        "A tensor that is shared takes its base along, and no other view",
        "value",
        r"\w_\(|\] = |[-+*/%]= |inplace=True",
        moved=True,
    ),
    Named(
        "A call that is refused isn't warned of",
        kind="warning",
        statement=r"\.where\(.*out=|index_reduce_?\(",
        torch=r"^\[\]$",
        ours="where received a uint8 condition tensor|index_reduce.. is in beta",
        raised=r"\w",
    ),
    Named(
        "A write with a place outside writes nothing",
        "warning",
        "out=",
        torch="was resized since it had shape",
        ours="^(?!.*was resized)",
        raised=r"\w",
    ),
    # ---- words and numbers
    Named(
        "A matrix that is nearly singular",
        "value",
        r"solve|inv|slogdet|float_power|\*\*|normalize|corrcoef|\b(sin|cos|tan|frac|div)_?\(|"
        + GRADIENTS,
        program=r"(solve|inv|inverse|slogdet|cross)\(",
        singular=True,
    ),
    # The inverse's own numbers, of rows that attention has made nearly equal, and of its square.
    Named(
        "A matrix that is nearly singular",
        "accepted|refused",
        r"solve\(|inv\(|inverse\(|cholesky\(",
        torch="_LinAlgError|^ok$",
        ours="_LinAlgError|^ok$",
        singular=True,
    ),
    Named(
        "A matrix that is nearly singular",
        "value|grad",
        r"\b(log|digamma)\(| / |div_\(|" + GRADIENTS,
        program=r"(\w+) = .*solve\((\w+), \2\)(.*\n)+.*\b\1\b",
    ),
    Named(
        "A matrix that is nearly singular",
        "value",
        torch=r"\[\[-?\d{3}\.",
        program=r"lstsq\(.*(\n.*)*multi_dot|multi_dot(.*\n)+.*lstsq\(",
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
        kind="is_view",
        statement=r"fft|repeat|tile\(|kron",
    ),
    Named("Which of equal elements", "value", "kthvalue|topk|mode|sort", variable=r".*\[1\]"),
    Named(
        "The shortest functions look at their arguments late",
        "exception type|message",
        torch=r"must be Tensor, not|has no attribute|expected Tensor as element|"
        "Dimension specified as 0",
        ours=r"must be Tensor, not|has no attribute|'weight' must be 2-D",
    ),
    # What is made of rounding: of zeros and ones, and of gradients that are none.
    Named(
        "The last digits",
        "grad|value|shape|stride",
        r"^(?!.*lstsq\()",
        program=r"lstsq\((\w+), \1\)|(\w+) = (\w+)\.lerp\(\3, \3\)(.*\n)+.*lstsq\(\3, \2\)",
    ),
    # A system without a solution.
    Named(
        "Signs of singular vectors",
        "value",
        r"lstsq\(\w+, \w+\)|linalg\.qr\(",
        program=r"(interpolate|repeat|tri[lu])\(",
    ),
    # Products of less than full rank, some of whose vectors are any that are left.
    Named(
        "Signs of singular vectors",
        "value",
        r"eigh\((\w+) @ \1\.t\(\)",
        variable=r"\w+\[1\]",
        program=r"(interpolate|repeat|unsqueeze)\(",
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
    Named(
        "The last digits",
        "value",
        r"\b(bool|entr|digamma|lgamma|reciprocal)\(",
        program=r"cross\(|layer_norm\((.*\n)+.*\.sum\(",
    ),
    # A large number's sine.
    Named(
        "The last digits",
        "value",
        r"\b(sin|cos|tan)_?\(",
        program=r"\.exp\(\)(.*\n)+.*\.exp_\(|\bi0_?\(",
    ),
    Named("Where PyTorch is the less accurate one", "value", r"\b(r?sub|subtract)_?\(.*-2\*\*63"),
    Named(
        "Complex numbers of half precision",
        "accepted",
        r"2\*\*63|\.logical_\w+\(",
        torch=r"cannot be converted to type c10::complex<c10::Half> without overflow|"
        "not implemented for 'ComplexHalf'$",
    ),
    # Two places of one element whose steps differ, which nobody goes.
    Named(
        "Layout has fewer details",
        "accepted",
        torch="some elements of the input tensor and the written-to tensor refer",
        program=r"::2\](.*\n)+.*(reshape\(-1\)|atleast_2d\()",
    ),
    # Of sums that come to nothing but rounding, and of what is large.
    Named("Signs of singular vectors", "value", r"svd|eigh|qr", signs=True),
    Named(
        "A least-squares problem is broadcast by its batches",
        "accepted|shape",
        r"lstsq\(\w+, \w+\)",
        torch=r"^RuntimeError: The size of tensor a \(\d+\) must match the size|^\(\d+, \d+, \d+",
        ours=r"^ok$|^\(1, \d+, \d+",
    ),
    Named("The last digits", "value", r"cosine_similarity\(|out=", rounded=True),
    # Two thousand million elements take longer to show than a program has.
    Named("A program that fills memory is given up", "hang", program=r"repeat_interleave\(2\*\*31"),
]
