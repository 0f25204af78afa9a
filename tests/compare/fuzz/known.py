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
    tangled: bool = False  # only where memory was written that is shown more than once
    raised: str = ""  # what the statement raised in PyTorch
    signs: bool = False  # only where nothing but signs of rows or columns differs

    def covers(self, difference: Difference, program: list[str]) -> bool:
        before = "\n".join(program[: difference.number + 1])
        return bool(
            re.fullmatch(self.kind or ".*", difference.kind)
            and re.search(self.statement, difference.statement)
            and re.search(self.torch, difference.torch, re.DOTALL)
            and re.search(self.ours, difference.ours, re.DOTALL)
            and re.search(self.program, before)
            and (difference.tangled or not self.tangled)
            and re.search(self.raised, difference.raised)
            and (difference.signs or not self.signs)
        )


_GRADIENTS = r"autograd|backward|grad|jacobian|hessian"
_SEVERAL = (
    r"einsum|kron|multi_dot|tensordot|quantile|bilinear|vander|cond|corrcoef|local_response|matmul"
)
_HOOKED = r"saved_tensors_hooks"

KNOWN: list[Named] = [
    # ---- the graph
    Named("Gradients have no past", "is_view|version|output_nr", program=_GRADIENTS),
    Named("Results start at version 0", "version", torch=r"^[1-9]", ours=r"^0$"),
    Named("Compound products take other steps", "node|is_view", _SEVERAL),
    Named("Compound products take other steps", "graph", program=_SEVERAL),
    Named("The graph of a gradient has other nodes", "node|graph|is_leaf", program=_GRADIENTS),
    Named("Layout has fewer details", "stride|offset", program=_GRADIENTS),
    Named("Nodes save what their formulas read", "variable|value", program=_HOOKED),
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
    # ---- words and numbers
    Named("Messages print tensors as Python does", "message", "meshgrid", r"got: [^t]"),
    Named("The last digits", "value", torch=r"\d{7}", program=r"view\(torch.int32\)"),
    Named("Signs of singular vectors", "value", r"svd|eigh|qr", signs=True),
]


def reason(difference: Difference, program: list[str]) -> str | None:
    """Why a difference is there, or None when nobody has decided it."""
    return next((named.reason for named in KNOWN if named.covers(difference, program)), None)


# It needs what is above.
from tests.compare.fuzz.known_calls import CALLS  # noqa: E402

KNOWN += CALLS
