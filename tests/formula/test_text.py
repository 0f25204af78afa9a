"""Formulas as text: what is written computes what the formula computes."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from rushlight._formula import words
from rushlight._formula.text import write
from tests.table._samples import all_rows

WORDS = {name: getattr(words, name) for name in words.__all__}


def told() -> dict[str, Any]:
    """Every formula of a row in the vocabulary, its parameters being named."""
    found = {}
    for row in all_rows():
        operation = row.op  # what is made of formulas is made by then
        functions = {"": operation.raw, **row.formulas}
        for key, function in functions.items():
            told = hasattr(function, "numbers") or key == ""  # not one of operations on Tensors
            formula = getattr(function, "formula", None) if told else None
            if key == "" and row.formula is not None:
                formula = row.formula
            if inspect.isfunction(formula):
                kinds = [p.kind for p in inspect.signature(formula).parameters.values()]
                if inspect.Parameter.VAR_POSITIONAL not in kinds:
                    found[f"{row.schema.name} {key}".strip()] = formula
    return found


FORMULAS = told()


@pytest.mark.parametrize("name", FORMULAS)
def test_the_text_computes_what_the_formula_computes(name: str) -> None:
    formula = FORMULAS[name]
    names = list(inspect.signature(formula).parameters)
    whole = "bitwise" in name or "logical" in name
    draw = np.random.default_rng(3)
    values = {n: draw.integers(0, 9, 40) if whole else 3 * draw.standard_normal(40) for n in names}
    for n in ("condition", "mask"):
        if n in values:
            values[n] = values[n] > 0
    result, parts = write(formula)
    scope: dict[str, Any] = {**WORDS, **values}
    with np.errstate(all="ignore"):
        for part, text in parts.items():
            scope[part] = eval(text, scope)
        np.testing.assert_array_equal(eval(result, scope), formula(*values.values()))


def test_rows_tell_formulas() -> None:
    assert {"softplus", "softplus self", "mish self", "addcmul", "tanh self"} <= FORMULAS.keys()


def test_parentheses_stand_where_the_order_needs_them() -> None:
    assert (
        write(lambda a, b, c: (a + b) * c - (a - (b - c))).result == "(a + b) * c - (a - (b - c))"
    )
    assert write(lambda a, b, c: a / (b / c) / -a).result == "a / (b / c) / -a"
    assert (
        write(lambda a, b: -((a * b) ** 2) + (a**b) ** 2).result == "-(a * b) ** 2 + (a ** b) ** 2"
    )
    assert write(lambda a, b: ((a > 1) & (b < 2)) | ~(a == b)).result == (
        "(a > 1) & (b < 2) | ~(a == b)"
    )
    assert write(lambda a: 2 - a * -0.5).result == "2 - a * (-0.5)"


def test_a_part_that_is_used_twice_is_written_once() -> None:
    def formula(x: Any) -> Any:
        e = words.exp(words.minimum(x, 20))
        return e / (1 + e)

    written = write(formula)
    assert written.parts == {"u": "exp(minimum(x, 20))"}
    assert written.result == "u / (1 + u)"


def test_numbers_are_written_in() -> None:
    assert write(lambda x, n: x * n + 1, n=3).result == "x * 3 + 1"


def test_a_word_is_a_formula() -> None:
    assert write(words.rsqrt).result == "rsqrt(self)"


def test_a_formula_that_looks_at_values_is_refused() -> None:
    with pytest.raises(TypeError, match="decides by `where`"):
        write(lambda x: x if x > 0 else -x)
