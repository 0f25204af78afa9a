"""Fusion groups as data: tracing, kinds, what is refused, and how they print and compare."""

import pytest

from rushlight._formula.ir import (
    Group,
    GroupError,
    Instruction,
    Operand,
    Output,
    Symbol,
    cast,
    column_sum,
    exp,
    into,
    one_hot,
    pick,
    row_max,
    row_sum,
    total,
    trace,
    where,
)
from rushlight._native.fusion.schedule import plan_group


def softmax(x: Symbol) -> Symbol:
    e = exp(x - row_max(x))
    return e / row_sum(e)


def test_a_traced_function_is_a_list_of_instructions() -> None:
    group = trace("softmax", softmax, {"x": ("f", "f32")})
    assert [i.op for i in group.body] == ["row_max", "sub", "exp", "row_sum", "div"]
    assert str(group).splitlines() == [
        "group softmax(x: f f32)",
        "  %1 = row_max x : r f32",
        "  %2 = sub x %1 : f f32",
        "  %3 = exp %2 : f f32",
        "  %4 = row_sum %3 : r f32",
        "  %5 = div %3 %4 : f f32",
        "  give %5",
    ]


def test_the_same_expression_is_computed_once() -> None:
    group = trace("twice", lambda x: (x * 2.0) + (x * 2.0), {"x": ("f", "f64")})
    assert [i.op for i in group.body] == ["const", "mul", "add"]


def test_zero_and_minus_zero_are_different_constants() -> None:
    group = trace("zeros", lambda x: (x + 0.0) + -0.0, {"x": ("f", "f32")})
    assert [repr(i.payload) for i in group.body if i.op == "const"] == ["0.0", "-0.0"]


def test_groups_that_compute_the_same_are_equal_and_hash_alike() -> None:
    first = trace("softmax", softmax, {"x": ("f", "f32")})
    second = trace("softmax", softmax, {"x": ("f", "f32")})
    assert first == second and hash(first) == hash(second)
    assert first != trace("softmax", softmax, {"x": ("f", "f64")})


def test_a_row_and_a_column_make_a_matrix() -> None:
    group = trace("outer", lambda r, c: r * c, {"r": ("r", "f32"), "c": ("c", "f32")})
    assert group.kind(2) == "f"
    assert not group.elementwise


def test_elementwise_groups_know_it() -> None:
    operands = {"x": ("f", "f32"), "s": ("s", "f32")}
    assert trace("scaled", lambda x, s: x * s, operands).elementwise
    assert not trace("softmax", softmax, {"x": ("f", "f32")}).elementwise


@pytest.mark.parametrize(
    ("function", "operands"),
    [
        (lambda x, y: x + y, {"x": ("f", "f32"), "y": ("f", "f64")}),
        (lambda x, y: x & y, {"x": ("f", "f32"), "y": ("f", "f32")}),
        (lambda x: row_sum(row_sum(x)), {"x": ("f", "f32")}),
        (lambda x: column_sum(x) * 2.0, {"x": ("f", "f32")}),
        (lambda x: x - total(x), {"x": ("f", "f32")}),
        (lambda x, i: pick(x, i), {"x": ("f", "f32"), "i": ("r", "f32")}),
        (lambda x: exp(cast(x, "i64")), {"x": ("f", "f32")}),
        (lambda x, r: into(r, x), {"x": ("f", "f32"), "r": ("r", "f32")}),
        (lambda x, c: c + 1.0, {"x": ("f", "f32"), "c": ("c", "f32")}),
    ],
)
def test_what_means_nothing_is_refused(function, operands) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(GroupError):
        trace("wrong", function, operands)


def test_a_value_must_be_there_before_it_is_used() -> None:
    x = Operand("x", "f", "f32")
    with pytest.raises(GroupError, match="isn't there yet"):
        Group("early", (x,), (Instruction("neg", (1,), "f", "f32"),), (Output(1),))


def test_an_exponential_is_kept_in_the_output_until_the_row_sum_is_known() -> None:
    plan = plan_group(trace("softmax", softmax, {"x": ("f", "f32")}))
    assert len(plan.stages) == 3
    assert plan.kept == {3: 0} and not plan.scratch


def test_a_difference_is_computed_again_rather_than_kept() -> None:
    def centred(x: Symbol) -> Symbol:
        d = x - row_sum(x)
        return d * row_sum(d * d)

    plan = plan_group(trace("centred", centred, {"x": ("f", "f32")}))
    assert len(plan.stages) == 3 and not plan.kept


def test_what_is_written_over_an_operand_waits_until_nothing_reads_it() -> None:
    def twisted(x: Symbol, y: Symbol) -> tuple[object, ...]:
        return into(x, y * 2.0), y - row_sum(x)

    plan = plan_group(trace("twisted", twisted, {"x": ("f", "f32"), "y": ("f", "f32")}))
    assert [stage.stores for stage in plan.stages] == [[0], [1]]

    def late(x: Symbol) -> tuple[object, ...]:
        return into(x, x * 2.0), x - row_sum(x)

    plan = plan_group(trace("late", late, {"x": ("f", "f32")}))
    assert [sorted(stage.stores) for stage in plan.stages] == [[], [0, 1]]


def test_scratch_rows_are_asked_for_where_no_output_is_free() -> None:
    def spread(x: Symbol) -> object:
        e = exp(x)
        return row_sum(where(e > row_sum(e), e, 0.0))

    plan = plan_group(trace("spread", spread, {"x": ("f", "f32")}))
    assert plan.scratch == ["f32"]


def test_a_class_is_marked_along_its_row() -> None:
    group = trace("marked", lambda i: cast(one_hot(i), "f32"), {"i": ("r", "i64")})
    assert group.kind(1) == "f" and group.dtype(1) == "b1"
