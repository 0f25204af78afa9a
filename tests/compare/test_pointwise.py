"""Pointwise operations give what an installed torch gives, however they are called.

Values within a few units in the last place; dtypes, shapes, strides, the names of `grad_fn`,
gradients, second derivatives, in-place and `out=` variants, promotion and errors.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight import _table as ops
from rushlight._core.storage import new_tensor

from .pointwise_cases import BINARY_IN_PLACE, CASES, METHODS_IN_PLACE, Case

torch = pytest.importorskip("torch")

DTYPES = ["float32", "float64", "float16", "int64", "bool", "uint8", "complex64"]
ALL_DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
              "complex64", "complex128"]  # fmt: skip
LAYOUTS = ["line", "point", "broadcast", "turned", "empty"]
TOLERANCE = {
    "float16": 2e-3,
    "float32": 2e-5,
    "float64": 1e-10,
    "complex64": 2e-5,
    "complex128": 1e-10,
}


def ours(path: str) -> Any:
    """Rushlight's function at a path below torch."""
    namespace, _, name = path.rpartition(".")
    return ops.PUBLIC[(namespace, name)]


def theirs(path: str) -> Any:
    found: Any = torch
    for name in path.split("."):
        found = getattr(found, name)
    return found


def numbers(rng: np.random.Generator, domain: tuple[float, float], dtype: str, shape: Any) -> Any:
    low, high = domain
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype in ("uint8", "int8", "int16", "int32", "int64"):
        low = max(low, 0) if dtype == "uint8" else low
        low = min(int(np.ceil(low)), int(high))
        return np.asarray(rng.integers(low, int(high) + 1, shape)).astype(dtype)
    values = rng.uniform(low, high, shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.uniform(low, high, shape)
    return np.asarray(values).astype(dtype)


def operands(case: Case, layout: str, dtypes: list[str], seed: int = 0) -> list[Any]:
    """Arrays for the tensors of a case."""
    rng = np.random.default_rng(seed)
    made = []
    for k, (domain, dtype) in enumerate(zip(case.ranges, dtypes)):
        shape = {
            "line": (7,), "point": (), "broadcast": (3, 1) if k == 0 else (4,), "turned": (3, 4),
            "empty": (0, 3),
        }[layout]  # fmt: skip
        array = numbers(rng, domain, dtype, shape)
        made.append(array.T if layout == "turned" else array)
    if case.path.endswith("prelu"):
        made[1] = numbers(rng, case.ranges[1], dtypes[1], (1,))
    return made


def attempt(function: Any, *args: Any, **kwargs: Any) -> tuple[Any, Exception | None]:
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def unstorable(*errors: Exception | None) -> bool:
    """complex32, the complex type of float16, has no NumPy type: refused, where torch stores it."""
    return any("complex32" in str(e) or "ComplexHalf" in str(e) for e in errors)


def same_error(mine: Exception | None, wanted: Exception) -> str:
    """How an error differs from torch's; nothing where it doesn't."""
    if mine is None:
        return f"raises nothing, torch {type(wanted).__name__}: {wanted}"
    if type(mine).__name__ != type(wanted).__name__ and not isinstance(mine, type(wanted)):
        return f"raises {type(mine).__name__}({mine}), torch {type(wanted).__name__}: {wanted}"
    if isinstance(wanted, TypeError):
        return ""
    first = str(wanted).split("\n")[0]
    return "" if first == str(mine).split("\n")[0] else f"says {mine}, torch {first}"


def as_array(value: Any) -> Any:
    if str(getattr(value, "dtype", "")) == "torch.complex32":  # which no NumPy array has
        value = value.detach().real.clone(), value.detach().imag.clone()
        return np.stack([as_array(part) for part in value])
    if isinstance(value, torch.Tensor):
        return value.detach().clone().resolve_conj().resolve_neg().numpy()
    return value.detach()._raw if isinstance(value, rushlight.Tensor) else value


def differs(mine: Any, wanted: Any, tolerance: float | None = None, strides: bool = True) -> str:
    """How a result differs from torch's; nothing where it doesn't."""
    if isinstance(wanted, (tuple, list)):
        found = [differs(a, b, tolerance, strides) for a, b in zip(mine, wanted)]
        return next((text for text in found if text), "")
    if wanted is None or mine is None:
        return "" if mine is wanted else f"{mine} instead of {wanted}"
    a, b = as_array(mine), as_array(wanted)
    if isinstance(b, (bool, int, float, str)):
        return "" if a == b else f"{a} instead of {b}"
    if a.dtype != b.dtype:
        return f"dtype {a.dtype} instead of {b.dtype}"
    if a.shape != b.shape:
        return f"shape {a.shape} instead of {b.shape}"
    if strides and a.size > 1 and a.strides != b.strides:
        return f"strides {a.strides} instead of {b.strides}"
    limit = tolerance if tolerance is not None else TOLERANCE.get(a.dtype.name, 0)
    with np.errstate(all="ignore"):
        if not np.allclose(a, b, rtol=limit, atol=limit, equal_nan=True):
            return f"{a!r} instead of {b!r}"
    return ""


def call(function: Any, case: Case, tensors: list[Any]) -> Any:
    return function(*case.first, *tensors, *case.rest, **case.options)


def pairs(arrays: list[Any], grad: bool = False) -> tuple[list[Any], list[Any]]:
    """The same operands as tensors of both."""
    mine = [new_tensor(a.copy(order="K")) for a in arrays]
    wanted = [torch.from_numpy(a.copy(order="K")) for a in arrays]
    for t in [*mine, *wanted] if grad else []:
        t.requires_grad_(True)
    return mine, wanted


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_values_types_shapes_strides_and_errors_are_those_of_torch(case: Case) -> None:
    problems = []
    for dtype, layout in product(DTYPES, LAYOUTS):
        mine, wanted = pairs(operands(case, layout, [dtype] * len(case.ranges)))
        want, error = attempt(call, theirs(case.path), case, wanted)
        have, problem = attempt(call, ours(case.path), case, mine)
        if unstorable(problem, error):
            continue
        if error is not None:
            text = same_error(problem, error)
        elif problem is not None:
            text = f"raises {type(problem).__name__}: {problem}"
        else:
            text = differs(have, want, strides=case.strides)
        if text:
            problems.append(f"{dtype} {layout}: {text}")
    assert not problems, "\n".join(problems)


def graph_name(result: Any) -> str:
    first = result[0] if isinstance(result, tuple) else result
    return type(first.grad_fn).__name__


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_gradients_second_derivatives_and_node_names_are_those_of_torch(case: Case) -> None:
    problems = []
    for dtype, layout in product(["float64", "complex128"], LAYOUTS):
        arrays = operands(case, layout, [dtype] * len(case.ranges))
        mine, wanted = pairs(arrays, grad=True)
        want, error = attempt(call, theirs(case.path), case, wanted)
        if error is not None or not isinstance(want, (torch.Tensor, tuple)):
            continue
        have = call(ours(case.path), case, mine)
        want, have = (r[0] if isinstance(r, tuple) else r for r in (want, have))
        if have.requires_grad != want.requires_grad:
            problems.append(f"{dtype} {layout}: requires_grad {have.requires_grad}")
        if want.grad_fn is None:
            continue
        names = graph_name(have), graph_name(want)
        if names[0] != names[1]:
            problems.append(f"{dtype} {layout}: {names[0]} instead of {names[1]}")
        seeds = np.random.default_rng(1)
        seed = numbers(seeds, (-1, 1), as_array(want).dtype.name, as_array(want).shape)
        text = gradients_differ(have, want, mine, wanted, seed)
        if text:
            problems.append(f"{dtype} {layout}: {text}")
    assert not problems, "\n".join(problems)


def gradients_differ(have: Any, want: Any, mine: list[Any], wanted: list[Any], seed: Any) -> str:
    grad = rushlight.autograd.grad
    options: dict[str, Any] = {"create_graph": True, "allow_unused": True}
    first, error = attempt(torch.autograd.grad, want, wanted, torch.from_numpy(seed), **options)
    if error is not None:
        return ""
    plain = grad(have, mine, new_tensor(seed), retain_graph=True, allow_unused=True)
    text = differs(plain, first, 1e-8, strides=False)
    if text:
        return f"gradient {text}"
    traced = grad(have, mine, new_tensor(seed), **options)
    text = differs(traced, first, 1e-8, strides=False)
    if text:
        return f"traced gradient {text}"
    parts = [(a, b) for a, b in zip(traced, first) if b is not None and b.requires_grad]
    for a, b in parts:
        g = numbers(np.random.default_rng(2), (-1, 1), as_array(b).dtype.name, as_array(b).shape)
        options = {"allow_unused": True, "retain_graph": True}
        second, error = attempt(torch.autograd.grad, b, wanted, torch.from_numpy(g), **options)
        if error is not None:
            continue
        if not a.requires_grad:
            if any(s is not None and bool(s.abs().sum() != 0) for s in second):
                return "second derivative missing"
            continue
        again = grad(a, mine, new_tensor(g), allow_unused=True, retain_graph=True)
        for one, other in zip(again, second):
            if other is None or one is None:
                left = one if other is None else other
                if left is not None and np.any(as_array(left) != 0):
                    return f"second derivative {one} instead of {other}"
            elif text := differs(one, other, 1e-7, strides=False):
                return f"second derivative {text}"
    return ""


# Written in place, a truth about a real and a complex tensor: torch converts with a warning, or
# names its kernel where Rushlight names the types.
TRUTHS = {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or"}
# Both refuse integers with fractions, in words that differ.
OTHER_WORDS = {"ldexp", "clamp_min"}


@pytest.mark.parametrize("name", METHODS_IN_PLACE + BINARY_IN_PLACE)
def test_in_place_methods_write_and_refuse_as_those_of_torch(name: str) -> None:
    problems = []
    for dtype, other in product(DTYPES, [None, 2, 1.5, *DTYPES]):
        if (other is None) != (name in METHODS_IN_PLACE):
            continue
        if name in TRUTHS and other == "complex64":
            continue
        kinds = [dtype] if other is None or isinstance(other, (int, float)) else [dtype, other]
        case = Case(name + "_", ((0.3, 3.0),) * len(kinds))
        mine, wanted = pairs(operands(case, "line", kinds))
        rest = [other] if len(kinds) == 1 and other is not None else []
        want, error = attempt(getattr(torch.Tensor, name + "_"), *wanted, *rest)
        have, problem = attempt(getattr(rushlight.Tensor, name + "_"), *mine, *rest)
        if unstorable(problem, error):
            continue
        if error is not None:
            text = same_error(problem, error) or differs(mine[0], wanted[0])
            if name in OTHER_WORDS and type(problem) is type(error):
                text = ""
        elif problem is not None:
            text = f"raises {type(problem).__name__}: {problem}"
        else:
            limit = max(TOLERANCE.get(kind, 0) for kind in kinds)
            text = differs(have, want, limit) or (
                "" if have is mine[0] else "returns another tensor"
            )
        if text:
            problems.append(f"{dtype} {other}: {text}")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "div", "eq", "maximum", "pow", "exp", "sigmoid", "square"]
)
def test_out_takes_the_types_that_torch_takes(name: str) -> None:
    problems = []
    for dtype, target in product(DTYPES, DTYPES):
        if name == "eq" and dtype == "complex64":
            continue  # torch converts with a warning
        arity = 1 if name in ("exp", "sigmoid", "square") else 2
        case = Case(name, ((0.3, 3.0),) * arity)
        mine, wanted = pairs(operands(case, "line", [dtype] * arity))
        outs, goals = pairs([np.zeros(7, target)])
        _, error = attempt(theirs(name), *wanted, out=goals[0])
        _, problem = attempt(ours(name), *mine, out=outs[0])
        text = same_error(problem, error) if error is not None else ""
        if error is None and problem is not None:
            text = f"raises {type(problem).__name__}: {problem}"
        text = text or differs(outs[0], goals[0], TOLERANCE.get(dtype, 2e-5))
        if text:
            problems.append(f"{dtype} into {target}: {text}")
    assert not problems, "\n".join(problems)


PROMOTING = [
    "add",
    "sub",
    "mul",
    "div",
    "floor_divide",
    "remainder",
    "pow",
    "eq",
    "lt",
    "maximum",
    "atan2",
    "where",
    "xlogy",
    "copysign",
]


@pytest.mark.parametrize("name", PROMOTING)
def test_every_pair_of_types_promotes_as_in_torch(name: str) -> None:
    problems = []
    numbers_too: list[Any] = [True, 2, 1.5, 1 + 1j]
    for a, b in product(ALL_DTYPES, [*ALL_DTYPES, *numbers_too]):
        for shapes in product([(3,), ()], repeat=2):
            rng = np.random.default_rng(0)
            arrays = [numbers(rng, (1, 3), a, shapes[0])]
            if isinstance(b, str):
                arrays.append(numbers(rng, (1, 3), b, shapes[1]))
            mine, wanted = pairs(arrays)
            rest = [] if isinstance(b, str) else [b]
            if name == "where":
                mask = np.array([True, False, True])
                mine.insert(0, new_tensor(mask))
                wanted.insert(0, torch.from_numpy(mask))
            want, error = attempt(theirs(name), *wanted, *rest)
            have, problem = attempt(ours(name), *mine, *rest)
            if unstorable(problem, error):
                continue
            if error is not None:
                text = same_error(problem, error)
            elif problem is not None:
                text = f"raises {type(problem).__name__}: {problem}"
            else:
                text = differs(have, want)
            if text:
                problems.append(f"{a}{shapes[0]} {b}{shapes[1]}: {text}")
    assert not problems, "\n".join(problems[:20])


OPERATORS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a,
    b: a / b,
    "//": lambda a, b: a // b, "%": lambda a, b: a % b, "**": lambda a, b: a**b, "&": lambda a,
    b: a & b,
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a,
    b: a >= b,
}  # fmt: skip


@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators_take_tensors_and_numbers_on_either_side(symbol: str) -> None:
    problems = []
    operator = OPERATORS[symbol]
    for dtype, other in product(DTYPES, ["same", 2, 1.5, True, 1j, 0, -1, None, "text"]):
        case = Case("", ((1.0, 3.0),) * 2)
        (a, b), (c, d) = pairs(operands(case, "line", [dtype] * 2), grad="float" in dtype)
        choices = (
            [(a, b, c, d)] if other == "same" else [(a, other, c, other), (other, b, other, d)]
        )
        for x, y, v, w in choices:
            want, error = attempt(operator, v, w)
            have, problem = attempt(operator, x, y)
            if unstorable(problem, error):
                continue
            if error is not None:
                text = same_error(problem, error)
            elif problem is not None:
                text = f"raises {type(problem).__name__}: {problem}"
            else:
                text = differs(have, want)
                if not text and isinstance(want, torch.Tensor) and want.grad_fn is not None:
                    names = graph_name(have), graph_name(want)
                    if names[0] != names[1] and names[1] != "NotImplemented":
                        text = f"{names[0]} instead of {names[1]}"
            if text:
                problems.append(f"{dtype} {other} {'left' if x is a else 'right'}: {text}")
    assert not problems, "\n".join(problems)
