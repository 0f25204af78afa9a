"""A group's instructions as the calls that NumPy has for them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from math import frexp, inf
from typing import Final, NamedTuple

from ..._formula.ir import Group


class Step(NamedTuple):
    """One call: of values by their numbers, and of constants, which are floats."""

    value: int
    op: str
    args: tuple[int | float, ...]
    sort: str  # "f": floats, "b": bools, "s": a number; followed by "r" or "c" where by row, column


def steps_of(group: Group, once: bool = False) -> list[Step]:
    """The instructions of a group as calls that NumPy has, without those that nobody reads."""
    first = len(group.operands)
    constants: dict[int, float] = {}
    made: dict[int | float, Step] = {}
    fresh = count(first + len(group.body))
    given = {out.value for out in group.outputs}

    def add(op: str, *args: int | float, value: int = -1, sort: str = "f") -> int:
        step = Step(next(fresh) if value < 0 else value, op, args, sort)
        made[step.value] = step
        return step.value

    for value, one in enumerate(group.body, first):
        if one.op == "const":
            constants[value] = float(one.payload or 0)
            continue
        args = [constants.get(a, a) for a in one.args]
        summed = one.op == "total"
        sort = "s" if one.kind == "s" and not summed else "b" if one.dtype == "b1" else "f"
        sort += one.kind if one.kind in "rc" else ""
        inner = made.get(args[0]) if args else None
        if one.op == "exp" and inner is not None and _is_shifted(group, inner):
            add("shifted_exp", inner.args[0], value=value)
        elif one.op == "row_sum" and inner is not None and inner.op == "mul" and _of_arrays(
            group, inner
        ):  # fmt: skip
            add("row_dot", *inner.args, value=value, sort=sort)
        elif one.op in _PRODUCTS and inner is not None and inner.op == "mul" and _kinds(
            group, inner
        ) == ["f", _PRODUCTS[one.op][1]]:  # fmt: skip
            add(_PRODUCTS[one.op][0], *inner.args, value=value, sort=sort)
        elif (
            sort == "f" and one.op == "mul" and args[1] not in given
            and _is_reciprocal(made.get(args[1]))
        ):  # fmt: skip
            add("div", args[0], made[args[1]].args[1], value=value)
        elif sort == "f" and one.op == "sigmoid":
            x = inner.args[0] if inner is not None and inner.op == "neg" else add("neg", *args)
            add("div", 1.0, add("add", add("exp", x), 1.0), value=value)
        elif sort == "f" and one.op == "rsqrt":
            add("div", 1.0, add("sqrt", *args), value=value)
        elif sort == "f" and one.op in ("max", "min") and _is_number(group, one.args[1]):
            # One bound as `clip` is several times quicker than `maximum`, see `blocked`.
            if one.op == "max":
                add("clip", args[0], args[1], inf, value=value)
            elif inner is not None and inner.op == "clip" and inner.args[2] == inf:
                add("clip", *inner.args[:2], args[1], value=value)
            else:
                add("clip", args[0], -inf, args[1], value=value)
        elif sort == "f" and one.op == "mul" and _is_number(group, one.args[1]) and not once:
            x, factor = _exact_factor(made, args[0])
            number = args[1]
            if factor != 1:
                number = add("mul", number, factor, sort="s")
            add("mul", x, number, value=value)
        elif summed and inner is not None and inner.op == "mul" and _of_arrays(group, inner):
            add("dot", *inner.args, value=value)
        elif one.op == "where" and sort != "f":
            add("where", *args, value=value, sort=sort)
        elif one.op == "where" and args[2] == 0.0 and type(args[2]) is float:
            add("keep", args[1], args[0], value=value)
        elif one.op == "where" and args[1] == 0.0 and type(args[1]) is float:
            add("keep", args[2], add("not", args[0], sort="b"), value=value)
        else:
            add(one.op, *args, value=value, sort=sort)
    needed: set[int | float] = {*given}
    steps = []
    for step in reversed(made.values()):
        if step.value in needed:
            needed.update(a for a in step.args if type(a) is int)  # 1 and 1.0 are one key
            steps.append(step)
    return steps[::-1]


def mark_exact_products(steps: list[Step], group: Group) -> list[Step]:
    """The steps with products by numbers that are only added or subtracted marked as exact."""
    made: dict[int | float, Step] = {step.value: step for step in steps}
    read = [a for step in steps for a in step.args] + [out.value for out in group.outputs]
    exact: set[int] = set()
    found = []
    for step in steps:
        product = made.get(step.args[-1])
        if (
            step.op in ("add", "sub") and product is not None and product.op == "mul"
            and type(product.args[1]) is int and read.count(product.value) == 1
            and product.args[1] < len(group.operands) and _is_number(group, product.args[1])
        ):  # fmt: skip
            exact.add(product.value)
            step = step._replace(op=f"{step.op} once")
        found.append(step)
    return [s._replace(op="wide", sort="w") if s.value in exact else s for s in found]


def _is_number(group: Group, value: int) -> bool:
    return group.kind(value) == "s"


#: Sums of products with a vector, which are products with a matrix; and how the vector varies.
_PRODUCTS: Final = {"row_sum": ("row_product", "c"), "column_sum": ("column_product", "r")}


def _kinds(group: Group, step: Step) -> list[str]:
    """How the arguments of a step vary."""
    known = len(group.operands) + len(group.body)
    return [group.kind(a) if type(a) is int and a < known else "" for a in step.args]


def _of_arrays(group: Group, step: Step) -> bool:
    return all(kind == "f" for kind in _kinds(group, step))


def _is_reciprocal(step: Step | None) -> bool:
    """Whether it is one over a number by row: a product with it is one call as a quotient."""
    return step is not None and step.op == "div" and step.args[0] == 1.0 and step.sort == "fr"


def _is_shifted(group: Group, step: Step) -> bool:
    """Whether it is x less any number by row that keeps exponentials in range."""
    if step.op != "sub" or type(step.args[1]) is not int:
        return False
    shift = group.instruction(step.args[1])
    return shift is not None and shift.op == "row_top" and shift.payload is not None


def _exact_factor(made: Mapping[int | float, Step], x: int | float) -> tuple[int | float, float]:
    """A value as another one times a factor whose place in a product doesn't matter: ±2ⁿ."""
    factor = 1.0
    while True:
        step = made.get(x)
        if step is not None and step.op == "neg":
            factor = -factor
        elif (
            step is not None and step.op == "mul" and type(step.args[1]) is float
            and frexp(step.args[1])[0] in (0.5, -0.5)
        ):  # fmt: skip
            factor *= step.args[1]
        else:
            return x, factor
        x = step.args[0]
