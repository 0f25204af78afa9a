"""What PyTorch's functions in Python pass on to C, which then says what is wrong with it."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Final

from ..._base import errors
from ..._core.storage import TensorBase

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Keywords, Positional
    from ..._base.schema import Parameter

#: Kind and name of a function; the kind and name of what it calls, and the parameters that it
#: passes on in that order, with `=` by name. `0` and `False` stand for what it makes itself.
_CALLS: Final = """
method istft: torch istft input n_fft hop_length win_length window center normalized onesided
    length return_complex=
python elu: nn elu input alpha
python celu: torch celu input alpha
python cosine_embedding_loss: torch cosine_embedding_loss input1 input2 target margin
python ctc_loss: torch ctc_loss log_probs targets input_lengths target_lengths blank 0 zero_infinity
python fractional_max_pool2d_with_indices: nn fractional_max_pool2d input kernel_size output_size
    _random_samples
python fractional_max_pool3d_with_indices: nn fractional_max_pool3d input kernel_size output_size
    _random_samples
python fractional_max_pool2d: nn fractional_max_pool2d input kernel_size output_size _random_samples
python fractional_max_pool3d: nn fractional_max_pool3d input kernel_size output_size _random_samples
python grid_sample: torch grid_sampler input grid 0 0 False
python hinge_embedding_loss: torch hinge_embedding_loss input target margin
python instance_norm: torch instance_norm input weight bias running_mean running_var use_input_stats
    momentum eps False
python kl_div: torch kl_div input target
python leaky_relu: nn leaky_relu input negative_slope
python max_pool2d_with_indices: nn max_pool2d_with_indices input kernel_size stride padding dilation
    ceil_mode
python max_pool3d_with_indices: nn max_pool3d_with_indices input kernel_size stride padding dilation
    ceil_mode
python multi_margin_loss: nn multi_margin_loss input target p margin weight
python multilabel_margin_loss: nn multilabel_margin_loss input target
python nll_loss: nn nll_loss_nd input target weight 0 ignore_index
python rms_norm: torch rms_norm input normalized_shape weight eps
python soft_margin_loss: nn soft_margin_loss input target
python threshold: torch threshold input threshold value
python triplet_margin_loss: torch triplet_margin_loss anchor positive negative margin p eps swap
torch cdist: torch cdist x1 x2 p 0
"""


#: What NumPy says of operands that nobody has looked at.
_OF_NUMPY: Final = "could not broadcast|operands could not|The truth value of an array"
#: What Python says of a comparison.
_COMPARED: Final = "not supported between|^The truth value of an array"
_OTHERS: Final = {"0": 0, "False": False}


def _read(text: str) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for line in text.replace("\n    ", " ").strip().splitlines():
        head, _, rest = line.partition(": ")
        kind, name = head.split()
        found[kind, name] = rest.split()
    return found


PASSED: Final = _read(_CALLS)
#: Functions of C with the types of arguments that they take as they are.
_TAKEN: Final[set[tuple[object, ...]]] = set()
_SIMPLE: Final = (int, float, bool, str, type(None))


def take_as_c(
    kind: str, name: str, values: tuple[object, ...], named: Keywords | None = None
) -> tuple[Any, ...]:
    """The values as a function of C takes them: what stands for a number is one.

    Raises:
        TypeError, ValueError: in its words, for values that it doesn't take.
    """
    from .argument_parser import complaint_of_c, plain_arguments

    types = (kind, name, *map(type, values))
    usual = not named and all(type(v) in _SIMPLE or isinstance(v, TensorBase) for v in values)
    if usual and types in _TAKEN and all(type(v) is not int or abs(v) < 1 << 31 for v in values):
        return values
    bound: list[tuple[Parameter, object]] = []
    problem = complaint_of_c(kind, name, values, dict(named or {}), bound)
    if problem is not None:
        raise problem
    plain = plain_arguments(bound, values, {})
    if usual and plain is None and len(_TAKEN) < 1000:
        _TAKEN.add(types)
    return values if plain is None else plain[0]


def explain_errors(
    kind: str, name: str, function: AnyCallable, checked: AnyCallable
) -> AnyCallable:
    """The function, which where it raises says what C says to what is passed on to it."""

    @functools.wraps(function)
    def run(*args: object, **kwargs: object) -> Any:
        try:
            return checked(*args, **kwargs)
        except Exception as error:
            if _is_asked_by_python(error, function):
                raise
            problem = _refusal(kind, name, function, args, kwargs, error)
            if problem is None:
                raise
            raise problem from None

    return run


def _is_asked_by_python(error: Exception, function: AnyCallable) -> bool:
    """Whether an error is of a question that PyTorch's function asks before it calls C."""
    text = str(error)
    if re.search(_COMPARED, text):
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        return frame is not None and frame.tb_frame.f_code is function.__code__
    asked = type(error) is ValueError and not re.match(_OF_NUMPY, text)
    return asked or text.startswith("Boolean value of Tensor")


def _refusal(
    kind: str,
    name: str,
    function: AnyCallable,
    args: Positional,
    kwargs: Keywords,
    error: Exception,
) -> Exception | None:
    """What is wrong with the arguments that are passed on; None where C takes them."""
    import inspect

    from .argument_parser import complaint_of_c

    called, its_name, *parameters = PASSED[kind, name]
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    given = bound.arguments
    if "_random_samples" in given and given["output_size"] is None:
        return None
    if given.get("_random_samples", 0) is None:  # they are drawn first
        if isinstance(error, (NotImplementedError, IndexError)):
            return None
        given["_random_samples"] = given["input"]
    values = tuple(_OTHERS[p] if p in _OTHERS else given[p] for p in parameters if p[-1] != "=")
    named = {p[:-1]: given[p[:-1]] for p in parameters if p[-1] == "="}
    every = (*values, *named.values())
    if any(not isinstance(v, TensorBase) and errors.has_rules(type(v)) for v in every):
        return None
    return complaint_of_c(called, its_name, values, named)
