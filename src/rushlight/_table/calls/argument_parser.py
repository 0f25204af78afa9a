"""PyTorch's way with arguments: which signature takes them, and what it says when none does.

Slow: only the first call of a kind comes here, and misuse. The signatures are tried one after the
other, as `_signatures.py` lists them; a single one complains itself, several are listed.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._base import dtypes as D
from ..._base.errors import type_name
from ..._base.schema import REQUIRED, Parameter
from ..._core.plain_writes import may_record
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase
from .overload_texts import Signature, python_signature, signatures, type_text

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Positional
    from ..._tensor.tensor import Tensor

Named = dict[str, Any]

#: The functions that take numbers for all of their tensors.
NUMBERS_TOO: Final = frozenset(
    name + ending
    for name in ("add", "div", "divide", "mul", "multiply", "sub", "subtract", "true_divide",
                 "floor_divide", "copy")
    for ending in ("", "_")
) | {"to"}  # fmt: skip
_NUMPY_NAMES: Final = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"),
                       "other": ("x2",)}  # fmt: skip
_OTHER_NAMES: Final = {"logsigmoid": "log_sigmoid"}
_LONGEST: Final = 2**63
_OVERFLOW: Final = "Overflow when unpacking long long"


class Thrown(Exception):
    """A complaint that ends the search: it is made while a signature is still being tried."""


def complaint(
    kind: str,
    name: str,
    args: tuple[object, ...],
    kwargs: Named,
    bound: list[tuple[Parameter, Any]] | None = None,
) -> Exception | None:
    """What PyTorch says to a call with these arguments; None where some signature takes them.

    For a method the arguments don't have the tensor itself. A name without known signatures takes
    everything. `bound` gets the values that are given, with their parameters.
    """
    name = _OTHER_NAMES.get(name, name)
    written = python_signature(kind, name)
    if written is not None:
        return _of_python(*written, (None, *args) if kind == "method" else args, kwargs)
    return complaint_of_c(kind, name, args, kwargs, bound)


def complaint_of_c(
    kind: str,
    name: str,
    args: tuple[object, ...],
    kwargs: Named,
    bound: list[tuple[Parameter, Any]] | None = None,
) -> Exception | None:
    """The same, for a function of C: also for one that a function in Python of its name calls."""
    found = signatures(kind, name)
    if not found:
        return None
    shown = f"{kind}_{name}" if kind in ("fft", "linalg", "special") else name
    if kind == "method" and not any(s.params for s in found):
        return _takes_none(name, args, kwargs)
    try:
        return _complaint(found, shown, args, kwargs, [] if bound is None else bound)
    except Thrown as thrown:
        return thrown.args[0]


def misuse(kind: str, name: str, args: tuple[object, ...], kwargs: Named) -> Exception:
    """What PyTorch says to a call of which it is known that it takes other arguments."""
    return complaint(kind, name, args, kwargs) or TypeError(f"{name}(): arguments don't fit")


def in_words_of(
    name: str, values: tuple[object, ...], error: Exception, kind: str = "torch"
) -> Exception:
    """What a function of C says to arguments of which something has been raised; else that."""
    return complaint_of_c(kind, name, values, {}) or error


def _complaint(
    found: tuple[Signature, ...],
    name: str,
    args: tuple[object, ...],
    kwargs: Named,
    bound: list[tuple[Parameter, Any]],
) -> Exception | None:
    for signature in found:
        bound.clear()
        problem = misfit(signature, name, args, kwargs, bound)
        if problem is None:
            return _wrong_inside(name, bound)
        if len(found) == 1:
            return problem
    count = len(args) + len(kwargs)
    plausible = [s for s in found if s.least <= count <= len(s.params) and not s.deprecated]
    if len(plausible) == 1:
        return misfit(plausible[0], name, args, kwargs, [])
    return listing(name, [s for s in found if not s.deprecated], args, kwargs)


@functools.cache
def _stub(qualified: str, parameters: str) -> AnyCallable:
    names: Named = {}
    # Code of this file's, so that a step under record doesn't take it for its own.
    exec(compile(f"def stub{parameters}: pass", __file__, "exec"), names)
    names["stub"].__qualname__ = qualified
    return names["stub"]


def _of_python(
    qualified: str, parameters: str, args: tuple[object, ...], kwargs: Named
) -> Exception | None:
    """What Python says where a function with these parameters doesn't take the arguments."""
    try:
        _stub(qualified, parameters)(*args, **kwargs)
    except TypeError as error:
        return TypeError(str(error))
    return None


def by_position(
    kind: str, name: str, args: tuple[object, ...], kwargs: Named
) -> tuple[tuple[Any, ...], Named] | None:
    """The arguments with as few keywords as may be, where PyTorch's names differ from ours."""
    bound: list[tuple[Parameter, Any]] = []
    own = 1 if kind == "method" else 0
    if complaint(kind, name, args[own:], kwargs, bound) is not None or not bound:
        return None
    taken = next(s for s in signatures(kind, name) if bound[0][0] in s.params)
    places = {p.name: i for i, p in enumerate(taken.params)}
    first = list(args[:own])
    named: Named = {}
    for p, value in bound:
        if not p.kw_only and places.get(p.name) == len(first) - own:
            first.append(value)
        else:
            named[p.name] = value
    return tuple(first), named


def _takes_none(name: str, args: tuple[object, ...], kwargs: Named) -> Exception | None:
    if kwargs:
        return TypeError(f"TensorBase.{name}() takes no keyword arguments")
    if args:
        return TypeError(f"TensorBase.{name}() takes no arguments ({len(args)} given)")
    return None


def misfit(
    signature: Signature,
    name: str,
    args: tuple[object, ...],
    kwargs: Named,
    bound: list[tuple[Parameter, Any]],
) -> Exception | None:
    """Why a signature doesn't take the arguments; None where it does, with what goes where."""
    params = signature.params
    packs = signature.positional == 1 and params[0].is_list and params[0].type == "int"
    packs = packs and bool(args) and is_index(args[0])
    if len(args) > signature.positional and not packs:
        return _too_many(signature, name, len(args))
    left = len(kwargs)
    position = 0
    for i, p in enumerate(params):
        given = position < len(args)
        by_name = False
        value: Any = REQUIRED
        if given:
            if p.kw_only:
                return _too_many(signature, name, len(args))
            value = args[position]
        elif kwargs:
            by_name = True
            value = next((kwargs[n] for n in names_of(p) if n in kwargs), REQUIRED)
        absent = value is REQUIRED
        if absent and p.default is REQUIRED:
            return _missing(name, params[i:])
        if not absent and not (value is None and p.optional):
            element = takes(p, value, name, i)
            if element is not None and p.type == "name":
                known = {q.name for q in params if q is not p}
                first = next(key for key in kwargs if key not in known)
                return TypeError(f"{name}() got an unexpected keyword argument '{first}'")
            if element is not None:
                if packs and position == 0 and not by_name and takes(p, args, name, i) is None:
                    bound.append((p, args))
                    position = len(args)
                    continue
                return _wrong_type(p, name, value, args, element, None if by_name else position)
        if not absent:
            bound.append((p, value))
        if not by_name:
            position += 1
        elif not absent:
            left -= 1
    if left > 0:
        return _wrong_keywords(signature, name, len(args), kwargs)
    return None


def names_of(p: Parameter) -> tuple[str, ...]:
    """The keywords that stand for a parameter."""
    return (p.name, *_NUMPY_NAMES.get(p.name, ()))


#: What `takes` gives for a value that doesn't fit as a whole, where no element is to blame.
WHOLE: Final = -1


def takes(p: Parameter, value: object, name: str, place: int) -> int | None:
    """None where a value fits a parameter, else the place of the element that doesn't, or WHOLE."""
    kind = p.type
    if p.is_list and kind != "name":
        return _takes_list(p, value, place)
    if kind == "Tensor":
        fits = isinstance(value, TensorBase) or (name in NUMBERS_TOO and is_number(value))
    elif kind == "Scalar":
        fits = is_number(value) or is_number_tensor(value)
    elif kind == "float":
        fits = (is_number(value) and not isinstance(value, complex)) or is_number_tensor(value)
    elif kind == "int":
        fits = is_integer(value)
    elif kind == "SymInt":
        fits = is_index(value)
    elif kind == "bool":
        fits = isinstance(value, bool)
    elif kind == "str":
        fits = isinstance(value, (str, bytes))
    elif kind == "ScalarType":
        fits = isinstance(value, D.dtype) or (
            isinstance(value, type) and value in (float, int, bool, complex)
        )
    elif kind == "Device":
        fits = (
            isinstance(value, (str, bytes))
            or (isinstance(value, int) and not isinstance(value, bool))
            or T.is_integer_scalar(value)
            or type_name(value) == "torch.device"
        )
    elif kind == "Storage":
        fits = type(value).__name__.endswith("Storage")
    elif kind == "object":
        fits = True
    elif kind == "name":  # there are none
        fits = False
    else:
        fits = type_name(value).removeprefix("torch._C.").removeprefix("torch.") == {
            "Layout": "layout", "MemoryFormat": "memory_format",
        }.get(kind, kind)  # fmt: skip
    return None if fits else WHOLE


def _takes_list(p: Parameter, value: Any, place: int) -> int | None:
    sequence = isinstance(value, (list, tuple))
    if p.type == "int":
        if sequence:
            return None if not value or is_index(value[0]) else 0
        return None if p.list_size and is_one_for_all(value) else WHOLE
    if not sequence:
        if p.list_size and p.type in ("float", "bool"):
            return None if takes_one(p.type, value) else WHOLE
        return WHOLE
    if p.type == "Tensor":
        for k, item in enumerate(value):
            if isinstance(item, TensorBase) or (item is None and p.optional):
                continue
            raise Thrown(
                TypeError(
                    f"expected Tensor as element {k} in argument {place}, but got {type_name(item)}"
                )
            )
        return None
    if not value:
        return None if p.type != "Scalar" else WHOLE
    return None if takes_one(p.type, value[0]) else 0


def takes_one(kind: str, value: Tensor | float) -> bool:
    """Whether a value may be an element of a list of numbers of this kind."""
    if kind == "bool":
        return isinstance(value, bool)
    return is_number(value) or (isinstance(value, TensorBase) and value._raw.ndim == 0)


def is_number(value: object) -> bool:
    """Whether a value is a number of Python's or NumPy's."""
    return isinstance(value, (int, float, complex)) or T.is_number(value)


def is_number_tensor(value: object) -> bool:
    """Whether a tensor may stand for a number: it has no dimensions, and no gradient to lose."""
    return isinstance(value, TensorBase) and not value._raw.ndim and not may_record(value)


def is_integer(value: Any) -> bool:
    """Whether a value may stand for an integer; a bool may not."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int) or T.is_integer_scalar(value):
        return True
    return is_number_tensor(value) and value._raw.dtype.kind in "iu"


def is_one_for_all(value: object) -> bool:
    """Whether a value may stand for all items of a list of integers: a tensor of one element, too,
    even of a bool.
    """
    if isinstance(value, TensorBase):
        return value._raw.size == 1 and value._raw.dtype.kind in "biu"
    return is_integer(value)


def is_index(value: Any) -> bool:
    """Whether a value may stand for an integer at the head of a list of them."""
    if isinstance(value, TensorBase):
        return value._raw.size == 1 and value._raw.dtype.kind in "biu"
    if isinstance(value, T.ndarray):
        return not value.ndim and value.dtype.kind in "iu"
    return is_integer(value) or (not isinstance(value, bool) and hasattr(type(value), "__index__"))


def _too_many(signature: Signature, name: str, count: int) -> TypeError:
    least, most = signature.least, signature.positional
    if least != most:
        return TypeError(
            f"{name}() takes from {least} to {most} positional arguments but {count} were given"
        )
    plural = "" if most == 1 else "s"
    verb = "was" if count == 1 else "were"
    return TypeError(f"{name}() takes {most} positional argument{plural} but {count} {verb} given")


def _missing(name: str, params: list[Parameter]) -> TypeError:
    missing = [f'"{p.name}"' for p in params if p.default is REQUIRED]
    # PyTorch's plural stands with the one, not with the many.
    plural = "s" if len(missing) == 1 else ""
    return TypeError(
        f"{name}() missing {len(missing)} required positional argument{plural}: "
        + ", ".join(missing)
    )


def _wrong_type(
    p: Parameter, name: str, value: object, args: Positional, element: int, position: int | None
) -> TypeError:
    head = f"{name}(): argument '{p.name}'"
    if position is None:
        return TypeError(f"{head} must be {type_text(p)}, not {type_name(value)}")
    head += f" (position {position + 1}) must be {type_text(p)}"
    if element != WHOLE:
        found = type_name((value if isinstance(value, (list, tuple)) else args)[element])
        return TypeError(f"{head}, but found element of type {found} at pos {element}")
    return TypeError(f"{head}, not {type_name(value)}")


def wrong_integers(p: Parameter, name: str, value: object, position: int | None) -> Exception:
    """What is wrong with a list of integers whose items aren't all integers."""
    inside = _wrong_inside(name, [(p, value)]) if takes(p, value, name, 0) is None else None
    return inside or _wrong_type(p, name, value, (), 0, position)


def _wrong_keywords(signature: Signature, name: str, count: int, kwargs: Named) -> TypeError:
    places = {p.name: i for i, p in enumerate(signature.params)}
    for key in kwargs:
        if key not in places:
            return TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        if places[key] < count:
            return TypeError(f"{name}() got multiple values for argument '{key}'")
    return TypeError("invalid keyword arguments")


def _wrong_inside(name: str, bound: list[tuple[Parameter, Any]]) -> Exception | None:
    """What is wrong with integers, and lists of tensors, that a signature has taken by type."""
    for p, value in bound:
        if value is None:
            continue
        if p.type == "Tensor" and p.is_list and p.list_size not in (None, len(value)):
            return TypeError(f"expected tuple of {p.list_size} elements but got {len(value)}")
        if p.type not in ("int", "SymInt", "Device"):
            continue
        if not (p.is_list and isinstance(value, (list, tuple))):
            if type(value) is int and not -_LONGEST <= value < _LONGEST:
                return ValueError(_OVERFLOW)
            continue
        for k, item in enumerate(value):
            if type(item) is int and not -_LONGEST <= item < _LONGEST:
                why = f'"{_OVERFLOW}'  # PyTorch's own mark stands behind its C++ frames
            elif type(item) is int or type(item) is bool or is_index(item):
                continue
            else:
                why = f'"type must be tuple of ints,but got {type_name(item)}"'
            return TypeError(
                f"{name}(): argument '{p.name}' failed to unpack the object at pos {k + 1} "
                f"with error {why}"
            )
    return None


def plain_arguments(
    bound: list[tuple[Parameter, Any]], args: tuple[object, ...], kwargs: Named
) -> tuple[tuple[object, ...], Named] | None:
    """The arguments with numbers for the tensors and the like that stand for numbers.

    None where there are none of these. `args` are those without the tensor of a method.

    Raises:
        RuntimeError: for a complex number where a real one is expected.
    """
    places: dict[int | str, object] = {}
    if bound and bound[0][1] is args:  # packed
        plain = all(type(v) is int for v in args)
        return None if plain else (tuple([_whole(v) for v in args]), kwargs)
    for i, (p, value) in enumerate(bound):
        if value is None or type(value) in (int, float, bool, str) or p.type == "object":
            continue
        if T.is_number(value):
            if not isinstance(value, T.generic):
                continue
            # NumPy's would decide the type of results, and be all that small ones can hold.
            number: object = T.python_number(value)
        else:
            number = _plain(p, value)
        if number is not value:
            places[i if i < len(args) else p.name] = number
    if not places:
        return None
    named = {
        k: next((n for w, n in places.items() if w == k or _NUMPY_WORDS.get(k) == w), v)
        for k, v in kwargs.items()
    }
    return tuple([places.get(i, a) for i, a in enumerate(args)]), named


_NUMPY_WORDS: Final = {n: name for name, words in _NUMPY_NAMES.items() for n in words}


def _plain(p: Parameter, value: object) -> object:
    """The number, or the numbers, that a value stands for; else the value itself."""
    if p.type in ("int", "SymInt"):
        if not p.is_list:
            return _whole(value)
        if not isinstance(value, (list, tuple)):
            return _whole(value) if isinstance(value, TensorBase) else value
        if all(type(v) is int for v in value):
            return value
        return type(value)([_whole(v) for v in value]) if type(value) in (list, tuple) else value
    if p.type == "float" and not p.is_list and isinstance(value, TensorBase):
        return real_number(value)
    return value.decode() if p.type == "str" and isinstance(value, bytes) else value


def real_number(value: object) -> Any:
    """The number that a tensor stands for where a real one is asked for; else the value itself.

    Raises:
        RuntimeError: for a complex number.
    """
    if not is_number_tensor(value):
        return value
    number = read_by_python(value, "a number").item()  # type: ignore[arg-type]
    if not isinstance(number, complex):
        return number
    if number.imag:
        raise RuntimeError("value cannot be converted to type double without overflow")
    return number.real


def _whole(value: Any) -> int:
    if isinstance(value, TensorBase):
        value = read_by_python(value, "a number").item()
    return operator.index(value)


def listing(name: str, shown: list[Signature], args: Positional, kwargs: Named) -> TypeError:
    """The error that shows what was given and the signatures."""
    named = in_order_of_hash(kwargs)
    given = [type_name(a) for a in args] + [f"{k}={type_name(v)}" for k, v in named.items()]
    got = ", ".join(given) + (", " if given and not args else "")
    head = f"{name}() received an invalid combination of arguments - got "
    if len(shown) == 1:
        parts = _parts(shown[0].text)
        unknown = _unknown(parts, named)
        if unknown:
            return TypeError(f"{head}unrecognized keyword arguments: {', '.join(unknown)}")
        if len(parts) == len(args) + len(kwargs):
            return TypeError(f"{head}{_mark(parts, args, named)}, but expected {shown[0].text}")
        return TypeError(f"{head}({got}), but expected {shown[0].text}")
    lines = []
    for signature in shown:
        lines.append(f" * {signature.text}\n")
        parts = _parts(signature.text)
        if len(parts) != len(args) + len(kwargs):
            continue
        unknown = _unknown(parts, named)
        if unknown:
            lines.append(
                "      didn't match because some of the keywords were incorrect: "
                f"{', '.join(unknown)}\n"
            )
        else:
            lines.append(
                "      didn't match because some of the arguments have invalid types: "
                f"{_mark(parts, args, named)}\n"
            )
    return TypeError(f"{head}({got}), but expected one of:\n{''.join(lines)}")


def _parts(text: str) -> list[tuple[str, str]]:
    """Type and name of each part of a signature, as PyTorch reads them back from its text.

    What stands behind the last blank counts as the name: of `int dim = -1` that is `-1`.
    """
    found = []
    for part in text[1:-1].split(", "):
        kind, _, name = part.rpartition(" ")
        found.append((kind or name, name))
    return found


def _unknown(parts: list[tuple[str, str]], kwargs: Named) -> list[str]:
    names = [name for _, name in parts[max(0, len(parts) - len(kwargs)) :]]
    return [key for key in kwargs if key not in names]


def _mark(parts: list[tuple[str, str]], args: tuple[object, ...], kwargs: Named) -> str:
    shown = []
    for i, (kind, name) in enumerate(parts):
        value = args[i] if i < len(args) else kwargs.get(name)
        key = "" if i < len(args) else f"{name}="
        simple = type_name(value)
        fits = simple in {"float": ("float", "int"), "int": ("int",)}.get(kind, (kind,))
        shown.append(f"{key}{simple}" if fits else f"!{key}{_name_types(value)}!")
    text = ", ".join(shown)
    return f"({text}{', ' if text and not args else ''})"


def _name_types(value: object) -> str:
    """The type of a value, with those of its items where it is a sequence."""
    if isinstance(value, tuple):
        inside = ", ".join(map(type_name, value))
        return f"{type_name(value)} of ({inside}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"list of [{', '.join(map(type_name, value))}]"
    return type_name(value)


def in_order_of_hash(kwargs: Named) -> Named:
    """The keywords in the order in which C++ goes over a hash map that has been given them.

    A key goes to the front, or before those of its own bucket where there are some.
    """
    order: list[str] = []
    for key in kwargs:
        bucket = _hash(key.encode()) % 13
        same = [i for i, k in enumerate(order) if _hash(k.encode()) % 13 == bucket]
        order.insert(same[0] if same else 0, key)
    return {key: kwargs[key] for key in order}


def _hash(data: bytes) -> int:
    """MurmurHash2 for 64 bits, with the seed of libstdc++. Source: Appleby, public domain."""
    mask, times = 2**64 - 1, 0xC6A4A7935BD1E995
    h = 0xC70F6907 ^ (len(data) * times & mask)
    whole = len(data) & ~7
    for i in range(0, whole, 8):
        k = int.from_bytes(data[i : i + 8], "little") * times & mask
        h = (h ^ ((k ^ (k >> 47)) * times & mask)) * times & mask
    if len(data) & 7:
        h = (h ^ int.from_bytes(data[whole:], "little")) * times & mask
    h = (h ^ (h >> 47)) * times & mask
    return h ^ (h >> 47)
