"""What stays different, each with the reason.

A line of a case that matches both patterns of an entry is passed over; every other line counts.
Strict: an entry that matches no line any more must go.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Known(NamedTuple):
    """Patterns of the case and of the line in which it differs.

    `capability` is that of PyTorch's vectors, where the difference comes from them.
    """

    case: str
    line: str
    reason: str
    capability: str = ""


_LAYOUT = "The strides of results where operands of different layouts meet"
_WHICH = "Both refuse, in other words: another check comes first, or reads the arguments otherwise"
_ROUNDING = "The last digits of numbers that cancel: another order of rounding"
_METHOD = "A method is the function of its name: messages count the tensor as an argument"
_EMPTY = (
    "PyTorch computes with memory that nobody wrote, or loses the shape, where nothing is there"
)

KNOWN: tuple[Known, ...] = (
    # ---- numbers -----------------------------------------------------------------------------
    Known(
        r"nn\.GELU.*inf",
        r"off by 0 of the largest",
        "PyTorch's GELU of infinity is nan where it computes with 512-bit vectors",
        "AVX512",
    ),
    Known(r"nn\.Hardsigmoid", r"float64 gradients", "PyTorch's sixth is a float32 in float64 too"),
    Known(r"nn\.Softmin\((0|-1)?\)\(30", r"float32 gradients", _ROUNDING),
    Known(r"nn\.GroupNorm\((2|4), 4.*\(R\(3, 4\)\)", r"float32|functional_call", _ROUNDING),
    Known(r"nn\.Transformer\(4, 2, 1, 1, 6, 0\.3\)", r"eval float32 gradients", _ROUNDING),
    Known(
        r"nn\.(Transformer\(|NLLLoss)",
        r"half: off by 0\.0",
        "Half precision is rounded at other steps",
    ),
    Known(
        r"nn\.EmbeddingBag\(6, 3, scale_grad_by_freq",
        r"gradients/parameters/weight",
        "PyTorch divides by how often another row occurs",
    ),
    Known(
        r"nn\.EmbeddingBag\(6, 3, include_last_offset=True\)\(K\(6, 4\), I\(0, 2\)",
        r"off by",
        "PyTorch counts indices behind the last offset into the mean's divisor",
    ),
    Known(
        r"nn\.CrossMapLRN2d",
        r".",
        "PyTorch's window keeps the first channel, and its gradient isn't that of its values",
    ),
    Known(
        r"nn\.CTCLoss.*K\(3, 2, 3\), \(6, 6\)",
        r"gradients",
        "Targets that are the blank: a gradient that has no meaning",
    ),
    Known(
        r"nn\.CTCLoss\(\)\(R\(6, 2, 4\), F\(2, 3\)",
        r"call",
        "Targets that are no whole numbers are cut off elsewhere",
    ),
    Known(r"nn\.Multi(LabelMargin|Margin)Loss\(\)\(R\(0", r"call", _EMPTY),
    Known(r"nn\.Pixel(Uns|S)huffle.*R\(0", r"float|half|functional_call", _EMPTY),
    # ---- layout ------------------------------------------------------------------------------
    Known(r"nn\.(LogSigmoid|RReLU)\(.*\.t\(\)", r"stride", _LAYOUT),
    Known(r"nn\.GRUCell.*\.t\(\)", r"stride", _LAYOUT),
    # ---- what there isn't --------------------------------------------------------------------
    Known(r"nn\.Lazy(Batch|Instance)Norm", r"^copy", "A buffer without a shape can be copied"),
    Known(
        r"nn\.LazyLinear\(4, dtype",
        r"^pickle",
        "A pickled parameter without a shape keeps its dtype",
    ),
    Known(r"nn\.LSTM\(.*proj_size", r"warns", "PyTorch warns of a kernel that it can't use"),
    Known(
        r"nn\.RMSNorm\(4, eps=None, dtype",
        r"functional_call warns",
        "PyTorch warns of a kernel that it can't use",
    ),
    Known(
        r"nn\.TransformerEncoder\(.*F\(3, 3, 4\), src_key",
        r"functional_call warns",
        "There are no nested tensors",
    ),
    Known(
        r"nn\.Threshold.*inplace=True\)\(F\(3, 1\)\.expand",
        r"call",
        "PyTorch lets `threshold_` write to memory that elements share",
    ),
    Known(
        r"nn\.EmbeddingBag\(6, 3\)\(K\(6, 4\), F\(1\)",
        r"call",
        "Offsets are taken as whole numbers",
    ),
    # ---- words -------------------------------------------------------------------------------
    Known(
        r"nn\.(LogSigmoid|SELU|Sigmoid|Tanh|(Log)?Softmax|Softmin)\(.*\)\((3|None|R\(3, 4\))\)",
        r"call: (Type|Attribute)Error",
        _METHOD,
    ),
    Known(r"nn\.Transformer\(4, 2, 1, 1, 6\)\(R\(4\)", r"call", _WHICH),
    Known(r"nn\.Conv\dd\(4, 6, 3, dilation=0", r"call", _WHICH),
    Known(r"nn\.ConvTranspose\dd\(4, 6, 3, 2\)\(K", r"call", _WHICH),
    Known(r"nn\.EmbeddingBag.*(I\(1, 2\)|I\(0, 3, 2\)|K\(3, 4\))\)$", r"call", _WHICH),
    Known(r"nn\.Linear\(3, 4, dtype.*expand", r"functional_call", _WHICH),
    Known(r"nn\.(BCELoss\(\)\(K|BCEWithLogitsLoss\(\)\(R\(3\), B)", r"call", _WHICH),
    Known(r"nn\.(NLL|CrossEntropy)Loss\(weight=T.ones\(3\)\)\(R\(2, 4, 3\)", r"call", _WHICH),
    Known(r"nn\.AvgPool2d\(2\)\(R\(\)\)", r"call", _WHICH),
    Known(r"nn\.MaxUnpool\dd.*\+ 9999", r"call", "Of several wrong indices the largest is named"),
    Known(r"nn\.LSTM\(3, 4(, dtype=T.float64)?\)\(pack", r"call", _WHICH),
    Known(r"nn\.(Unfold\(2\)\(R\(3\)|Unfold\(9\)|Fold\(-1)", r"call", _WHICH),
)


def surprises(case: str, lines: list[str], entries: tuple[Known, ...] = KNOWN) -> list[str]:
    """The lines that no entry names."""
    return [line for line in lines if not any(matches(entry, case, line) for entry in entries)]


def matches(entry: Known, case: str, line: str) -> bool:
    return bool(re.search(entry.case, case) and re.search(entry.line, line, re.DOTALL))
