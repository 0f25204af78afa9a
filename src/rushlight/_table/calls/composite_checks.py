"""Argument checks for the functions of the table that are no rows.

A composite function says `Any` of its arguments and finds misuse late, or not at all. So its public
form asks PyTorch's signatures first. What types alone decide is asked once for each combination of
types, see Note [Plans].
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.device import find_device, on_meta
from ..._base.size import Size
from ..._core.interposers import NOT_HANDLED, misfit
from ..._core.mode import current
from ..._core.storage import TensorBase
from ..._native.ufunc_loops import types_of
from ..rows.composite import without_keywords
from .python_argument_errors import PASSED, explain_errors
from .signature_kinds import PYTHON_NAMES

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Keywords, Positional
    from ..._base.schema import Parameter

#: Called so often that a look at the arguments would be felt; these check by themselves.
UNCHECKED: Final = frozenset((
    "view", "reshape", "item", "tolist", "contiguous", "detach", "detach_", "copy_", "zero_",
    "fill_", "float", "double", "half", "bfloat16", "int", "long", "short", "char", "byte",
    "bool", "cfloat", "cdouble", "cat", "stack", "concat", "concatenate", "conv1d", "conv2d",
    "conv3d", "linear", "is_floating_point", "is_complex", "numel", "size", "cpu",
))  # fmt: skip
#: Those of them that are functions too, which are called seldom.
SELDOM: Final = frozenset((
    "detach", "detach_", "fill_", "is_complex", "is_floating_point", "numel", "zero_",
))  # fmt: skip
#: Called often enough that positional arguments are looked at only where something has gone wrong.
LATE: Final = frozenset((
    "zeros", "ones", "empty", "arange", "zeros_like", "ones_like", "empty_like", "to",
    "flatten", "narrow", "unflatten", "tensor", "as_tensor", "matmul", "type_as", "numpy",
    "is_complex", "is_floating_point", "expand_as", "view_as", "reshape_as", "squeeze_",
    "unsqueeze_", "t_", "transpose_", "rand_like", "randn_like",
))  # fmt: skip
#: Functions of which no signature is known, because they are Python in PyTorch, too.
UNSIGNED: Final = frozenset((
    "H", "T", "__delitem__", "__getitem__", "__setitem__", "apply_", "mH", "mT", "map2_",
    "map_", "_assert", "_segment_reduce", "atleast_1d", "atleast_2d", "atleast_3d",
    "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "cdist", "einsum",
    "from_dlpack", "from_numpy", "lobpcg", "meshgrid", "pca_lowrank", "stft",
    "svd_lowrank", "unravel_index",
))  # fmt: skip
#: The same, for one kind only.
WRITTEN: Final = {"torch": frozenset(("norm", "split", "unique", "unique_consecutive"))}
# Keywords that are looked at each time.
_SEEN_TO: Final = frozenset(("pin_memory", "out"))
# The key isn't known, so that the signatures are to be asked.
_ASK: Final = object()
#: The functions that make a tensor of nothing, whose `out` may have another shape; `range`, which
#: warns before it looks at it, does so itself.
FACTORIES: Final = frozenset((
    "ones", "zeros", "full", "rand", "arange", "linspace", "logspace", "eye", "randint", "randperm",
    "randn", "empty",
))  # fmt: skip
#: The factories that say what else is wrong before they say that nothing can be pinned.
_PINNED_LAST: Final = frozenset((
    "empty_permuted", "linspace", "logspace", "zeros", "tril_indices", "triu_indices",
    "tensor",
))  # fmt: skip
#: What these look at later still; and what those of places in triangles do.
_LATER_THAN_PINNED: Final = (("requires_grad",), ("requires_grad", "dtype"))
_NO_PINNED: Final = (
    "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is "
    "available on this system."
)
_NO_PINNED_COPY: Final = "Can't pin tensor constructed from a variable"


def guard(kind: str, name: str, function: AnyCallable) -> AnyCallable:
    """The function, which refuses what PyTorch's signatures of that kind and name don't take."""
    checked = _check(kind, name, function)
    return explain_errors(kind, name, function, checked) if (kind, name) in PASSED else checked


def _check(kind: str, name: str, function: AnyCallable) -> AnyCallable:
    if name in UNCHECKED and (kind != "torch" or name not in SELDOM):
        return function
    if name in UNSIGNED or name.startswith("_") or name in WRITTEN.get(kind, ()):
        return function
    if kind == "python" and name not in PYTHON_NAMES:
        return function
    # By types: None where these decide, else where the lists are of which each item is asked.
    fine: dict[Any, Any] = {}
    # What types, and names, decide: the places of lists that must hold nothing but ints.
    settled: dict[Any, tuple[int, ...]] = {}
    late = name in LATE
    factory = kind == "torch" and name in FACTORIES

    def ask(run: AnyCallable, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        if kwargs:
            key: Any = types_of(args), tuple(kwargs), types_of((*kwargs.values(),))
        else:
            key = types_of(args)
        lists = fine.get(key, _ASK)
        if lists is not None and (lists is _ASK or not plain_lists(lists, args, kwargs)):
            handled = check(kind, name, run, args, kwargs, fine, key)
            if handled is not NOT_HANDLED:
                return handled
            if "pin_memory" in kwargs:
                kwargs = dict(kwargs)
                if kwargs.pop("pin_memory") and kwargs.get("out") is None:
                    if name in _PINNED_LAST:
                        late_too = _LATER_THAN_PINNED[name.endswith("_indices")]
                        function(*args, **{k: v for k, v in kwargs.items() if k not in late_too})
                    elif name.endswith("_window"):
                        _say_pinned(function, args, kwargs)
                    copied = len(args) == 1 and name in _PINNED_LAST
                    copied = copied and isinstance(args[0], TensorBase)
                    raise RuntimeError(_NO_PINNED_COPY if copied else _NO_PINNED)
        if factory and kwargs.get("out") is not None:
            check_out(name, kwargs)
        try:
            made = function(*args, **kwargs) if kwargs else without_keywords(function)(*args)
            if key in fine and key not in settled and not _SEEN_TO & kwargs.keys():
                settled[key] = _places(fine[key], args, kwargs)
            return made
        except TypeError as error:
            if "unexpected keyword" not in str(error) and "multiple values" not in str(error):
                raise
            from .argument_parser import by_position

            moved = by_position(kind, name, args, kwargs)
            if moved is None or len(moved[0]) == len(args):
                raise
        except Exception:
            handled = check(kind, name, run, args, kwargs, {}, None)
            if handled is not NOT_HANDLED:
                return handled
            raise
        return function(*moved[0], **moved[1])

    if late:  # each names itself: one that isn't used would be a cycle

        def run_checked(*args: object, **kwargs: object) -> Any:
            return ask(run_checked, args, kwargs) if kwargs else run_or_recheck(args)
    else:

        def run_checked(*args: object, **kwargs: object) -> Any:
            if not kwargs and settled.get(types_of(args)) == ():
                return run_or_recheck(args)
            return ask(run_checked, args, kwargs)

    def run_or_recheck(args: tuple[object, ...]) -> Any:
        try:
            return function(*args)
        except Exception:
            handled = recheck(*args)
            if handled is not NOT_HANDLED:
                return handled
            raise

    def recheck(*args: object, **kwargs: object) -> Any:
        return check(kind, name, run, args, kwargs, {}, None)

    run: Any = functools.wraps(function)(run_checked)
    run._guarded = function  # what runs for arguments that are `_settled`, where it is not `_late`
    run._settled, run._recheck, run._late = settled, recheck, late
    return run


def _places(lists: Any, args: Positional, kwargs: Keywords) -> tuple[int, ...]:
    """The places of some lists, which are told by number or name, where keywords come last."""
    names = list(kwargs)
    return tuple(p if type(p) is int else len(args) + names.index(p) for p in lists or ())


def _say_pinned(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> None:
    """Calls a factory whose errors show the options, where memory is to be pinned."""
    try:
        function(*args, **kwargs)
    except RuntimeError as error:
        text = str(error).replace("pinned_memory=false", "pinned_memory=true")
        raise RuntimeError(text) from None


def check_out(name: str, kwargs: Keywords) -> None:
    """Refuses an `out` of another type than is asked for, or one that requires grad.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if kwargs.get("device") is not None:
        find_device(kwargs["device"])  # refuses what is none
    _check_type_of_out(kwargs["out"], kwargs.get("dtype"))
    if kwargs["out"].requires_grad:
        if name in ("empty", "randn") and not current().inference:
            raise RuntimeError("cannot resize variables that require grad")
        if not current().grad:
            return
        raise RuntimeError(errors.out_requires_grad(f"aten::{name}"))


def _check_type_of_out(out: TensorBase, dtype: object) -> None:
    have = T.from_raw(out._raw.dtype)
    if isinstance(dtype, type):
        dtype = D.OF_PYTHON.get(dtype)
    if isinstance(dtype, D.dtype) and dtype is not have:
        raise RuntimeError(
            f"dtype {D.scalar_name(dtype)} does not match dtype of out parameter "
            f"({D.scalar_name(have)})"
        )


_INT: Final = frozenset({int})


def plain_lists(lists: Any, args: Positional, kwargs: Keywords) -> bool:
    """Whether the lists at these places hold nothing but ints, or nothing but tensors."""
    for place in lists:
        items = args[place] if type(place) is int else kwargs[place]
        kinds = set(map(type, items))
        if kinds <= _INT or (len(kinds) == 1 and issubclass(kinds.pop(), TensorBase)):
            continue
        for item in items:
            if type(item) is not int and not isinstance(item, TensorBase):
                return False
        if len(items) > 1 and len({isinstance(item, TensorBase) for item in items}) > 1:
            return False
    return True


def check(
    kind: str,
    name: str,
    run: AnyCallable,
    args: tuple[object, ...],
    kwargs: Any,
    fine: Any,
    key: object,
) -> Any:
    """Refuses what doesn't fit; what another class makes of it, or NOT_HANDLED.

    Raises:
        TypeError: where no signature takes the arguments.
        RuntimeError: for a complex tensor where a real number is asked for.
        ValueError: for an integer of more than 64 bits.
    """
    from .argument_parser import complaint, plain_arguments

    values = (*args, *kwargs.values())
    if any(not isinstance(v, TensorBase) and errors.has_rules(type(v)) for v in values):
        return NOT_HANDLED
    bound: list[tuple[Any, Any]] = []
    own = 1 if kind == "method" else 0
    given = args[own:]
    problem = complaint(kind, name, given, kwargs, bound)
    if problem is None:
        for p, v in bound:
            if p.type == "float" and isinstance(v, TensorBase) and v._raw.dtype.kind == "c":
                raise RuntimeError(errors.no_conversion("double"))
        plain = plain_arguments(bound, given, kwargs)
        if plain is not None:
            return run(*args[:own], *plain[0], **plain[1])
        if "pin_memory" not in kwargs and all(_fits_another(p, v) for p, v in bound):
            # What a size holds is known.
            data = {id(v) for p, v in bound if p.type == "object"}
            lists = [
                i for i, v in enumerate(args)
                if isinstance(v, (list, tuple)) and type(v) is not Size and id(v) not in data
            ]  # fmt: skip
            lists += [k for k, v in kwargs.items() if isinstance(v, (list, tuple))]
            fine[key] = tuple(lists) or None
        return NOT_HANDLED
    handled = misfit(run, args, kwargs)
    if handled is NOT_HANDLED:
        if "failed to unpack the object" in str(problem):  # these PyTorch looks at first
            on_meta(kwargs.get("device"))
            if kwargs.get("out") is not None:
                _check_type_of_out(kwargs["out"], kwargs.get("dtype"))
        raise problem
    return handled


def _fits_another(p: Parameter, value: object) -> bool:
    """Whether another value of this type fits the parameter just as well."""
    if p.type == "object":
        return True
    if isinstance(value, TensorBase):
        return bool(p.type == "Tensor" and not p.is_list)
    if isinstance(value, (list, tuple)):
        return bool(p.is_list and (p.type == "int" or (p.type == "Tensor" and not p.list_size)))
    # Only some classes are types of elements, and some arrays have no dimensions.
    return not isinstance(value, (type, T.ndarray))
