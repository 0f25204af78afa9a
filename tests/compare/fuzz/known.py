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
    moved: bool = False  # only of memory that `share_memory_` was called for
    set_view: bool = False  # only where a view has been given other memory
    mixed: bool = False  # only where layouts meet
    laid_out: bool = False  # only where what comes in is laid out in another way already
    bits: bool = False  # only where floats that are read as whole numbers differ in their last bits
    singular: bool = False  # only where a matrix was inverted whose measured condition is large
    rounded: bool = False  # only where the values agree to the digits of the coarsest type

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
            and (difference.moved or not self.moved)
            and (difference.set_view or not self.set_view)
            and (difference.mixed or not self.mixed)
            and (difference.laid_out or not self.laid_out)
            and (difference.rounded or not self.rounded)
            and (difference.singular or not self.singular)
            and (difference.bits or not self.bits)
            and (not self.form or _form(difference.torch) != _form(difference.ours))
        )


def _form(shown: str) -> str:
    """The type and shape of a gradient that is shown, or all of what is."""
    return shown.partition("), ")[0]


GRADIENTS = r"autograd|backward|grad|jacobian|hessian"
_GIVEN = r"(g|n|log)(\[|$)"  # variables that hold gradients, or what hooks have seen
_SEVERAL = r"einsum|kron|multi_dot|tensordot|bilinear|vander|cond|corrcoef|matmul|\binner\("
#: Operations of several operands, each element by itself.
_ELEMENTWISE = (
    r" ([-+*/%]|\*\*|//) |\b(add|sub|mul|div|true_divide|floor_divide|remainder|fmod|pow|"
    r"float_power|maximum|minimum|fmax|fmin|atan2|hypot|copysign|heaviside|ldexp|logaddexp|xlogy|"
    r"addcdiv|addcmul|lerp|where|clamp|masked_fill|mse_loss|l1_loss|huber_loss|smooth_l1_loss|"
    r"complex|addr|index_put)\("
)
_HOOKED = r"saved_tensors_hooks"
_UNRECORDED = r"(no_grad|inference_mode|set_grad_enabled)\((False)?\)"
_RESHAPED = "transpose|swapaxes|swapdims|squeeze|unsqueeze|as_strided"

KNOWN: list[Named] = [
    Named(
        "Gradients have no past",
        "is_view|version|stride|requires_grad",
        GRADIENTS,
        variable=_GIVEN,
    ),
    Named(
        "Gradients have no past",
        "version",
        r"@|matmul|linear|one_hot|isfinite",
        "^[12]$",
        "^0$",
    ),
    # What comes from them by a view, or by an operation that gives it back.
    Named(
        "Gradients have no past",
        "version|value",
        r"_version|broadcast|movedim|reshape|dropout|view|squeeze|expand|flatten|float|contiguous|"
        r"\w\[|\.T$|\.t\(|as_strided|unfold|detach",
        "^[12]$",
        "^0$",
        program=r"one_hot|linear\(| @ |matmul\(",
    ),
    # What a hook notes of a gradient's version.
    Named("Gradients have no past", "value", GRADIENTS, "^[1-9]$", "^0$", variable="log"),
    # A gradient that is spread over a mean's input can't be written.
    Named(
        "Gradients have no past",
        "refused",
        GRADIENTS,
        ours="refers to a single memory location",
        program=r"lambda g: g\.mul_\(2\)",
    ),
    Named(
        "Gradients have memory of their own",
        "grad|value|version|node",
        r"backward|grad|\w_\(|[-+*/]= ",
        program=r"return g\.detach\(\), g|backward\(\w+\.sum\(\), \w+\)|lambda g: g\.mul_\(2\)|"
        r"\b(\w+)\.backward\(\1\)|backward\(\[(\w+), (\w+)\], \[\2, \3\]\)",
    ),
    Named(
        "Gradients made in inference mode are ordinary tensors",
        "version|is_view|accepted|message",
        torch="^inference$|Inplace update to inference tensor|"
        "^RuntimeError: Setting requires_grad=True on inference tensor outside",
        program=r"inference_mode\(\): .*(backward|grad|functional\.)",
    ),
    Named(
        "Results of inference tensors have no past",
        "version",
        torch="^[1-9]$",
        ours=r"^\d$",
        program=r"inference_mode\(\)",
    ),
    Named(
        "Results of inference tensors have no past",
        "version|is_view",
        torch="nference|^False$",
        ours=r"^(\d+|True|inference)$",
        program=r"inference_mode\(\)(.*\n)*.*\.data = ",
    ),
    Named(
        "Results of inference tensors have no past",
        "version",
        r"\.view\((\w+\.dtype|torch\.\w+)\)",
        torch="^0$",
        ours="^inference$",
    ),
    Named("Layout has fewer details", "stride", _ELEMENTWISE, mixed=True),
    Named("Layout has fewer details", "stride|offset", laid_out=True),
    Named(
        "Layout has fewer details",
        "shares|graph",
        r"\.(ravel|flatten|reshape|contiguous|to|type|view_as)\(",
        torch="CloneBackward0|^[^(]*$",
        laid_out=True,
    ),
    Named("Layout has fewer details", "stride", r"polygamma\(", program=r"expand\("),
    Named(
        "Layout has fewer details",
        "stride|offset",
        r"(batch_norm|index_put|put|cdist|(slice|select|diagonal)_scatter)\(",
    ),
    Named(
        "Layout has fewer details",
        "message",
        "as_strided",
        torch=r"^setStorage: .* storage offset [1-9]",
        ours=r"^setStorage: .* storage offset 0, .* out of bounds for storage of size 0$",
    ),
    Named(
        "A tensor keeps no other shape than its data's",
        "warning",
        "backward",
        torch="grad and param do not obey the gradient layout contract",
        ours=r"^\[\]$",
        program=r"\.data = |create_graph=True",
    ),
    Named("Gradients have memory of their own", "shares", "autograd.grad", variable=r"g\["),
    Named(
        "Overlapping memory is written as a whole",
        "accepted|message",
        torch="^The size of tensor a|some elements of the input tensor and the written-to tensor",
        ours="^ok$|^unsupported operation: some elements of the input tensor",
        program=r"view\(torch\.int32\)",
    ),
    Named(
        "A gradient of a larger source is given",
        "accepted|message",
        torch=r"(Scatter\w*Backward\d|CopySlices) returned an invalid gradient",
        program="scatter",
    ),
    Named(
        "A change of shape is always recorded",
        "node|graph|accepted",
        torch="^(?!RuntimeError)|(CopySlices|Backward[0-9]) returned an invalid gradient",
        ours="Backward[134]|^TransposeBackward0$|^ok$",
        program=rf"{_UNRECORDED}: \w+\.(t|{_RESHAPED})_\(",
    ),
    Named(
        "A tensor whose memory is set keeps no base",
        "node|graph|requires_grad|is_leaf|grad",
        torch="^(CopySlices|AsStridedBackward0|ViewAsRealBackward0|True|False)$|CopySlices",
        set_view=True,
    ),
    Named(
        "A tensor whose memory is set keeps no base",
        "accepted",
        GRADIENTS,
        torch="derivative for set_ is not implemented|"
        "appears to not have been used in the graph|returned an invalid gradient at index",
        program=r"\.set_\(",
    ),
    Named(
        "A tensor of integers has no history",
        "accepted",
        torch="^RuntimeError: Autograd not support dtype: ",
        ours="^ok$",
    ),
    Named(
        "Where PyTorch is the less accurate one",
        "grad|value|accepted",
        GRADIENTS,
        torch=r"^[^R]*\d|^RuntimeError: setStorage: ",
        ours=r"\d(?!.*nan)|^ok$",
        program=r"as_strided_scatter\(",
    ),
    Named(
        "A tensor whose memory is set keeps no base",
        "refused",
        torch="^ok$",
        ours="^RuntimeError: a view of a leaf Variable that requires grad is being used",
        set_view=True,
    ),
    Named(
        "A tensor that is given twice is written twice",
        "graph",
        program=r"_foreach_\w+_\(\[(\w+), \w+\]",  # or one is a view of the other
    ),
    Named(
        "The parts of `unsafe_split` are those of `split` in inference mode",
        "requires_grad|version|is_leaf|is_view|node|message",
        torch=r"^(True|\d+|False|None|inference)$|A view was created in inference mode",
        program=r"inference_mode\(\): .*unsafe_(split|chunk)\(",
    ),
    Named("Compound products take other steps", "node|is_view", _SEVERAL),
    Named(
        "Compound products take other steps",
        "accepted|shape",
        r"\.grad_fn\(",
        torch=r"^TypeError: expected 3 arguments, got 1 instead|^\(",
        program=r"(group_norm|layer_norm|batch_norm|bilinear)\(",
    ),
    Named(
        "Compound products take other steps",
        "node|graph",
        torch="TransposeBackward0|UnsafeViewBackward0",
        ours="CloneBackward0",
        program=r" @=? |matmul\(",
    ),
    Named("Compound products take other steps", "graph", program=_SEVERAL),
    Named(
        "Compound products take other steps",
        "node|graph",
        torch=r"\('UnsafeViewBackward0', \(\('BmmBackward0'|^AddBackward0$|'AddBackward0'",
        ours=r"\('UnsafeViewBackward0', \(\('|ConvolutionBackward0",
        program=r"scaled_dot_product_attention\(|complex(.*\n)+.*conv\w*\(",
    ),
    Named(
        "Compound products take other steps",
        "accepted|refused|message|variable|value",
        r"_saved|\.variable|next_functions|detach_\(|__name__|name\(\)",
        program=_SEVERAL,
    ),
    Named(
        "Compound products take other steps",
        "node|is_view",
        r"broadcast_tensors|float\(",
        program=r"einsum\(",
    ),
    Named("The graph of a gradient has other nodes", "node|graph", variable=_GIVEN),
    Named(
        "The graph of a gradient has other nodes",
        "is_leaf|requires_grad|output_nr|grad",
        r"create_graph=True|\.grad_fn\(",
        torch=r"\), True, '|^(True|False|\d)$",
        ours=r"\), False, None|^(True|False|\d)$",
    ),
    Named(
        "The graph of a gradient has other nodes",
        "value",
        r"\w+\.backward\(\w+\)|autograd\.grad\(\w+, \w+, \w+\)",
        torch="^True$",
        ours="^False$",
        program=r"log\.append\(g\.requires_grad\)",
        variable="log",
    ),
    Named(
        "Derivatives have no wrappers, vmap has one of its own class",
        "class",
        "is_grads_batched=True",
        torch="^Tensor$",
        ours="^BatchedTensor$",
        variable="log",
    ),
    Named(
        "Nodes save what their formulas read",
        "variable|value",
        _HOOKED + r"\(lambda t: log",
        variable="log",
    ),
    # A hook that writes what it is given changes what a node saves.
    Named(
        "Nodes save what their formulas read",
        "value|version|accepted",
        _HOOKED + r"\(lambda t: t\.mul_",
        torch=r"^[-\d\[(]|^RuntimeError: A saved tensor pack hook is modifying its input in place",
    ),
    Named(
        "The graph of a gradient has other nodes",
        "refused|message",
        GRADIENTS,
        ours="element 0 of tensors does not require grad",
        program="create_graph=True",
    ),
    Named(
        "A node that is called by hand gives what its formula does",
        "shape|dtype|stride",
        r"\.grad_fn\(",
        program=r"\.copy_\(|masked_fill|block_diag\(",
        variable=r"n(\[|$)",
    ),
    Named(
        "A leaf beside a node without derivative has its gradient",
        "grad",
        GRADIENTS,
        torch="^None$",
        raised=r"derivative for \S+ is not implemented$",
    ),
    Named(
        "A leaf has no node that is noted",
        "warning",
        GRADIENTS,
        torch="Error detected in torch::autograd::AccumulateGrad",
        program="detect_anomaly",
    ),
    Named(
        "A write without a derivative is recorded in views, too",
        "graph|refused|message",
        torch=r"'CopySlices', \(|^ok$|appears to not have been used in the graph",
        ours=r"'CopySlices', \(|derivative for aten::(heaviside|floor_divide)_ is not implemented",
        program=r"heaviside_\(|floor_divide_\(|//= ",
    ),
    Named(
        "Nodes save what their formulas read",
        "refused|accepted|variable",
        r"grad_fn\._(raw_)?saved|dir\(",
    ),
    Named(
        "Nodes save what their formulas read",
        "accepted",
        GRADIENTS,
        torch="outside of the 'allow_mutation_on_saved_tensors'",
    ),
    Named("A gradient of a larger source is given", "shape", r"\.grad_fn\(", program="scatter"),
    Named(
        "Nodes save what their formulas read",
        "accepted|refused|message|exception type",
        torch="^ok$|modified by an inplace operation|masked_scatter_ only supports boolean masks",
        ours=r"^ok$|modified by an inplace operation",
        program=r"elu_\(|complex\(|vander\(|addcdiv_\((\w+), \1\)|erfinv_?\(|pairwise_distance\(|"
        r"combinations\(",
    ),
    Named(
        "Nodes save what their formulas read",
        "value",
        r"startswith\('_saved'\)",
        torch="^_saved_",
        ours="^_saved_",
        variable=r"n\[",
    ),
    Named(
        "What a hook unpacks to another shape",
        "accepted|refused|message|exception type",
        GRADIENTS,
        program=_HOOKED + r"\(lambda t: 7, lambda t: torch\.ones\(2, 3\)\)",
    ),
    Named(
        "Some layers are one node until somebody looks",
        "node|graph|value",
        torch=r"^<?AddBackward0$|\('AddBackward0'|AddmmBackward0|MmBackward0|NllLossBackward0",
        ours=r"^<?ViewBackward0$|AddmmBackward0|MmBackward0|NllLossBackward0|SqueezeBackward4|"
        r"^\('ViewBackward0', ",
        program=r"linear\(|cross_entropy\(| @ |matmul\(",
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
        torch=r"INTERNAL ASSERT FAILED|sym_strides\(\) called on an undefined Tensor|"
        r"Expected scalar\.isIntegral\( false\) to be true|SmallVector unable to grow",
    ),
    Named(
        "Saved tensors are packed once the result is there",
        "message|exception type",
        torch="A saved tensor pack hook is modifying its input in place",
    ),
    Named(
        "Saved tensors are packed once the result is there",
        "warning|version",
        torch=r"^(\[\]|0)$",
        raised="A saved tensor pack hook is modifying its input in place",
    ),
]


def reason(difference: Difference, program: list[str]) -> str | None:
    """Why a difference is there, or None when nobody has decided it."""
    return next((named.reason for named in KNOWN if named.covers(difference, program)), None)


# It needs what is above.
from tests.compare.fuzz.known_calls import CALLS  # noqa: E402
from tests.compare.fuzz.known_orders import ORDERS  # noqa: E402
from tests.compare.fuzz.known_rare import RARE  # noqa: E402
from tests.compare.fuzz.known_shapes import SHAPES  # noqa: E402
from tests.compare.fuzz.known_sparse import SPARSE  # noqa: E402
from tests.compare.fuzz.known_values import VALUES  # noqa: E402

KNOWN += VALUES + CALLS + ORDERS + SHAPES + SPARSE + RARE
