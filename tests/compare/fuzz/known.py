"""Differences that are decided: a pattern for what is seen, and the reason.

Longer reasons stand in docs/notes/differences.md. A pattern here is for what will stay so; what
only waits to be mended does not belong here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.compare.fuzz.differences import Difference


@dataclass(frozen=True)
class Named:
    """A decided difference: regular expressions for what is seen and for the program, and why."""

    reason: str
    kind: str = ""
    statement: str = ""
    torch: str = ""
    ours: str = ""
    program: str = ""  # searched for in the statements up to the one that shows the difference
    variable: str = ""  # matched from its beginning
    tangled: bool = False  # only where memory was written that is shown more than once
    raised: str = ""  # what the statement raised in PyTorch
    signs: bool = False  # only where nothing but signs of rows or columns differs
    form: bool = False  # only where a gradient's shape or type differs, whatever its values
    halves: bool = False  # only where nothing but parts that are nan in PyTorch differs

    def covers(self, difference: Difference, program: list[str]) -> bool:
        before = "\n".join(program[: difference.number + 1])
        return bool(
            re.fullmatch(self.kind or ".*", difference.kind)
            and re.search(self.statement, difference.statement)
            and re.match(self.variable, difference.variable)
            and re.search(self.torch, difference.torch, re.DOTALL)
            and re.search(self.ours, difference.ours, re.DOTALL)
            and re.search(self.program, before)
            and (difference.tangled or not self.tangled)
            and re.search(self.raised, difference.raised)
            and (difference.signs or not self.signs)
            and (difference.halves or not self.halves)
            and (not self.form or _form(difference.torch) != _form(difference.ours))
        )


def _form(shown: str) -> str:
    """The type and shape of a gradient that is shown, or all of what is."""
    return shown.partition("), ")[0]


_GRADIENTS = r"autograd|backward|grad|jacobian|hessian"
_GIVEN = r"(g|n|log)(\[|$)"  # variables that hold gradients, or what hooks have seen
_SEVERAL = (
    r"einsum|kron|multi_dot|tensordot|quantile|bilinear|vander|cond|corrcoef|local_response|matmul"
)
_TURNED = r"\.t\(|\.T\b|permute|expand|rot90|lstsq|transpose|unfold|movedim|t_\(|solve|inv"
#: Where operands of different layouts meet.
_MEETING = r"\b(addcdiv|addcmul|lerp|addr|index_put)\(| \*\* "
_HOOKED = r"saved_tensors_hooks"
_UNRECORDED = r"(no_grad|inference_mode|set_grad_enabled)\((False)?\)"
_RESHAPED = "transpose|swapaxes|swapdims|squeeze|unsqueeze|as_strided"

KNOWN: list[Named] = [
    # ---- the graph
    Named("Gradients have no past", "is_view|version|stride", _GRADIENTS, variable=_GIVEN),
    Named("Gradients have no past", "requires_grad", _GRADIENTS, variable=_GIVEN),
    Named("Gradients have no past", "version", "one_hot|quantile|isclose|diff", ours="^0$"),
    Named("Gradients have no past", "version", "@|matmul|linear", "^1$", "^0$"),
    # What a hook notes of a gradient's version.
    Named("Gradients have no past", "value", _GRADIENTS, "^[1-9]$", "^0$", variable="log"),
    # A gradient that is spread over a mean's input can't be written.
    Named(
        "Gradients have no past",
        "refused",
        _GRADIENTS,
        ours="refers to a single memory location",
        program=r"lambda g: g\.mul_\(2\)",
    ),
    Named(
        "Gradients have memory of their own",
        "grad|value|version",
        "backward|grad",
        program=r"return g\.detach\(\), g|backward\(\w+\.sum\(\), \w+\)|lambda g: g\.mul_\(2\)",
    ),
    Named(
        "Gradients have memory of their own",
        "grad|value|version|node",
        program=r"backward\(\[(\w+), (\w+)\], \[\1, \2\]\)",
    ),
    Named(
        "Gradients made in inference mode are ordinary tensors",
        "version|is_view|accepted|message",
        torch="^inference$|Inplace update to inference tensor",
        program=r"inference_mode\(\): .*(backward|grad|functional\.)",
    ),
    Named(
        "Results of inference tensors have no past",
        "version",
        torch="^[1-9]$",
        ours="^0$",
        program=r"inference_mode\(\)",
    ),
    Named("Results of inference tensors have no past", "version", r"\.data = ", torch="nference"),
    Named("Layout has fewer details", "stride", _MEETING, program=_TURNED),
    Named(
        "A change of shape is always recorded",
        "node|graph",
        ours="Backward1",
        program=rf"{_UNRECORDED}: \w+\.(t|{_RESHAPED})_\(",
    ),
    Named(
        "A tensor whose memory is set keeps no base",
        "node|graph|requires_grad|is_leaf",
        torch="^(CopySlices|AsStridedBackward0|ViewAsRealBackward0|True|False)$|CopySlices",
        program=r"\.set_\(",
    ),
    Named(
        "A tensor that is given twice is written twice",
        "graph",
        program=r"_foreach_\w+_\(\[(\w+), \1\]",
    ),
    Named(
        "The parts of `unsafe_split` are those of `split` in inference mode",
        "requires_grad|version|is_leaf",
        torch=r"^(True|\d+|False)$",
        program=r"inference_mode\(\): \w+ = \w+\.unsafe_(split|chunk)\(",
    ),
    Named("Compound products take other steps", "node|is_view", _SEVERAL),
    Named("Compound products take other steps", "graph", program=_SEVERAL),
    Named(
        "Compound products take other steps",
        "accepted|refused|message",
        r"_saved|\.variable",
        program=_SEVERAL,
    ),
    Named("Compound products take other steps", "value", r"__name__|name\(\)", program=_SEVERAL),
    Named("The graph of a gradient has other nodes", "node|graph", variable=_GIVEN),
    Named(
        "The graph of a gradient has other nodes",
        "grad|requires_grad",
        "create_graph=True",
        torch=r"\), True, '|^True$",
        ours=r"\), False, None|^False$",
    ),
    Named(
        "Nodes save what their formulas read",
        "variable|value",
        _HOOKED + r"\(lambda t: log",
        variable="log",
    ),
    # A hook that writes what it is given changes what a node saves.
    Named("Nodes save what their formulas read", "value", _HOOKED + r"\(lambda t: t\.mul_"),
    Named(
        "Nodes save what their formulas read", "refused|accepted|variable", r"grad_fn\._saved|dir\("
    ),
    Named(
        "Nodes save what their formulas read",
        "accepted",
        _GRADIENTS,
        torch="outside of the 'allow_mutation_on_saved_tensors'",
    ),
    Named("A gradient of a larger source is given", "shape", r"\.grad_fn\(", program="scatter"),
    Named(
        "Nodes save what their formulas read",
        "accepted|message",
        torch=r"modified by an inplace operation",
        program=r"elu_\(|complex\(",
    ),
    Named(
        "Nodes save what their formulas read",
        "refused",
        ours=r"modified by an inplace operation: .* output 0 of Erfinv",
        program=r"erfinv_\(",
    ),
    Named(
        "A gradient of a larger source is given",
        "accepted",
        torch=r"(Scatter\w*Backward\d|CopySlices) returned an invalid gradient",
        program="scatter",
    ),
    Named(
        "A node learns its output's shape when it is looked at",
        "accepted|exception type",
        torch=r"returned an invalid gradient",
        program=r"\.data = |as_strided_\(",
    ),
    Named(
        "Where PyTorch's own assertions fail",
        "accepted|message|exception type",
        torch=r"INTERNAL ASSERT FAILED",
    ),
    Named(
        "Saved tensors are packed once the result is there",
        "message|exception type",
        torch="A saved tensor pack hook is modifying its input in place",
    ),
    Named(
        "A tensor keeps no other shape than its data's",
        "accepted|refused|exception type|message",
        _GRADIENTS,
        torch=r"size|shape|dimension|type|^ok$",
        program=r"\.data = ",
    ),
    Named(
        "A tensor keeps no other shape than its data's",
        "grad|shape|dtype",
        _GRADIENTS,
        program=r"\.data = ",
        form=True,
    ),
    # ---- memory
    Named("Overlapping memory is written as a whole", "value|grad", tangled=True),
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
    Named("A storage that is shared is another one", "shares", program=r"share_memory_"),
    Named(
        "A storage that is shared is another one",
        "value",
        r"\w_\(|\] = |[-+*/%]= ",
        program=r"\w\.share_memory_\(\)",
    ),
    Named(
        "Of several faults one is told",
        "message",
        torch=r"^unsupported operation: some elements of the input tensor and the written-to",
        ours=r"^(The size of tensor|shape mismatch|Index tensor must have the same number of dim)",
    ),
    Named(
        "Of several faults one is told",
        "message",
        r"\b(addcdiv|baddbmm|addbmm|scatter_add|ldexp)_\(",
        torch=r"^(Integer division with addcdiv|The expanded size|Incompatible matrix|Index tensor "
        r"must have|Dimension specified as 0|ldexp can't be cast)",
    ),
    Named(
        "Of several faults one is told",
        "message",
        r"torch\.matmul\(.*out=",
        torch=r"^(both arguments to|vector \+ matrix @ vector|1D tensors expected|Expected out)",
    ),
    Named(
        "Of several faults one is told",
        "message",
        r"torch\.outer\(.*out=",
        torch=r"^mul\(\): functions with out=",
        ours=r"^outer\(\): functions with out=",
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
    # Systems without a solution.
    Named("Signs of singular vectors", "grad|value", program=r"lstsq"),
    # Products of less than full rank, some of whose vectors are any that are left.
    Named("Signs of singular vectors", "value", r"(eigh|svd)\((\w+) @ \2\.t\(\)"),
    Named("Messages print tensors as Python does", "message", "meshgrid", r"got: [^t]"),
    Named("Sums of complex numbers are taken part by part", "value", halves=True),
    Named(
        "Nothing is discarded of an answer",
        "warning",
        r"\b(logical_(and|or|xor)|eq|ne)(_\(|\(.*out=)",
        torch="Casting complex values to real",
        ours=r"^\[\]$",
    ),
    Named(
        "Signs of singular vectors",
        "value",
        r"slogdet\((\w+) @ \1\.t\(\)",
        torch=r"^-?[01]\.0$",
    ),
    Named("The last digits", "value", torch=r"\d{7}", program=r"view\(torch.int32\)"),
    Named("Signs of singular vectors", "value", r"svd|eigh|qr", signs=True),
]


def reason(difference: Difference, program: list[str]) -> str | None:
    """Why a difference is there, or None when nobody has decided it."""
    return next((named.reason for named in KNOWN if named.covers(difference, program)), None)


# It needs what is above.
from tests.compare.fuzz.known_calls import CALLS  # noqa: E402
from tests.compare.fuzz.known_orders import ORDERS  # noqa: E402

KNOWN += CALLS + ORDERS
