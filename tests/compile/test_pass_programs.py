"""Passes over programs, each shown before and after."""

from collections.abc import Callable
from textwrap import dedent
from typing import Any

import rushlight as torch
from rushlight._compile.passes.apart import apart
from rushlight._compile.passes.common_subexpressions import without_repeats
from rushlight._compile.passes.constants import fold_constants
from rushlight._compile.passes.copies import without_copies
from rushlight._compile.passes.dead_code import without_dead
from rushlight._compile.passes.layout import copy_unordered
from rushlight._compile.passes.split_reductions import in_pieces
from rushlight._compile.step import CompiledStep


def program_of(function: Any, *args: Any) -> Any:
    """The program of one recording, before any pass."""
    step = CompiledStep(function)
    step(*args)
    assert step.recordings, step.explain()
    return step.recordings[0].program


def told(program: Any) -> str:
    """The instructions as lines."""
    return "\n".join(repr(i) for i in program.instructions)


def changes(function: Any, args: list[Any], pass_: Callable[[Any], Any], before: str, after: str
            ) -> Any:  # fmt: skip
    program = program_of(function, *args)
    assert told(program) == dedent(before).strip()
    pass_(program)
    assert told(program) == dedent(after).strip()
    return program


def test_dead_code_is_left_out() -> None:
    def function(x: Any) -> Any:
        x.exp().sum()
        return x * 2

    changes(
        function, [torch.ones(2)], without_dead,
        """
        v1: float32[2] = exp(v0)
        v2: float32[] = sum(v1, None)
        v3: float32[2] = mul(v0, 2.0)
        """,
        """
        v3: float32[2] = mul(v0, 2.0)
        """,
    )  # fmt: skip


def test_common_subexpressions_are_computed_once() -> None:
    changes(
        lambda x: x.tanh() * x.tanh() + x.tanh(), [torch.ones(2)], without_repeats,
        """
        v1: float32[2] = tanh(v0)
        v2: float32[2] = tanh(v0)
        v3: float32[2] = mul(v1, v2)
        v4: float32[2] = tanh(v0)
        v5: float32[2] = add(v3, v4)
        """,
        """
        v1: float32[2] = tanh(v0)
        v3: float32[2] = mul(v1, v1)
        v5: float32[2] = add(v3, v1)
        """,
    )  # fmt: skip


def test_what_is_made_of_constants_alone_is_computed_once_for_all_calls() -> None:
    def function(x: Any) -> Any:
        mask = torch.ones(2, 2).tril()
        return x * (1 - mask)

    program = changes(
        function, [torch.ones(2, 2)], fold_constants,
        """
        v1: float32[2, 2] = ones()
        v2: float32[2, 2] = tril(v1, 0)
        v3: float32[2, 2] = _rsub(v2, 1.0)
        v4: float32[2, 2] = mul(v0, v3)
        """,
        """
        v4: float32[2, 2] = mul(v0, v3)
        """,
    )  # fmt: skip
    constant = program.values[3]
    assert constant.kind == "constant" and constant.raw.tolist() == [[0, 1], [0, 0]]


def test_the_ones_that_gradients_begin_with_are_folded_away() -> None:
    w = torch.ones(3, requires_grad=True)

    def function(x: Any) -> Any:
        w.grad = None
        (w * x).mean().backward()

    changes(
        function, [torch.ones(3)], fold_constants,
        """
        v2: float32[3] = mul(v1, v0)
        v3: float32[] = mean(v2, None)
        v5: float32[] = truediv(v4, 3)
        v6: float32[3] = broadcast_to(v5, (3))
        v7: float32[3] = mul(v6, v0)
        v8: float32[3] = in_layout(v7, v1)
        set_grad(v8)
        """,
        """
        v2: float32[3] = mul(v1, v0)
        v3: float32[] = mean(v2, None)
        v7: float32[3] = mul(v6, v0)
        v8: float32[3] = in_layout(v7, v1)
        set_grad(v8)
        """,
    )  # fmt: skip


def test_constants_that_somebody_gets_or_writes_are_made_anew() -> None:
    def function(x: Any) -> Any:
        written = torch.zeros(2)
        written.add_(x)
        return torch.ones(2), written * 1

    text = """
        v1: float32[2] = zeros()
        v1 <- add(v1, v0)
        v2: float32[2] = ones()
        v3: float32[2] = mul(v1, 1.0)
        """
    changes(function, [torch.ones(2)], fold_constants, text, text)


def test_a_gradient_goes_to_its_leaf_without_a_copy() -> None:
    w = torch.ones(2, requires_grad=True)

    def function(x: Any) -> Any:
        w.grad = None
        (w * x).sum().backward()

    changes(
        function, [torch.ones(2)], without_copies,
        """
        v2: float32[2] = mul(v1, v0)
        v3: float32[] = sum(v2, None)
        v5: float32[2] = broadcast_to(v4, (2))
        v6: float32[2] = mul(v5, v0)
        v7: float32[2] = in_layout(v6, v1)
        set_grad(v7)
        """,
        """
        v2: float32[2] = mul(v1, v0)
        v3: float32[] = sum(v2, None)
        v5: float32[2] = broadcast_to(v4, (2))
        v6: float32[2] = mul(v5, v0)
        set_grad(v6)
        """,
    )  # fmt: skip


def test_operands_that_no_kernel_reads_where_they_lie_are_copied_once() -> None:
    def function(x: Any, y: Any) -> Any:
        turned = x.transpose(0, 1)
        return y + turned, y * turned

    changes(
        function, [torch.ones(2, 3, 4), torch.ones(3, 2, 4)], copy_unordered,
        """
        v2: float32[3, 2, 4] = transpose(v0, 0, 1)
        v3: float32[3, 2, 4] = add(v1, v2)
        v4: float32[3, 2, 4] = mul(v1, v2)
        """,
        """
        v2: float32[3, 2, 4] = transpose(v0, 0, 1)
        v5: float32[3, 2, 4] = in_order(v2, (3, 2, 4), (32, 16, 4))
        v3: float32[3, 2, 4] = add(v1, v5)
        v4: float32[3, 2, 4] = mul(v1, v5)
        """,
    )  # fmt: skip


def test_slices_and_repeated_rows_are_read_where_they_lie() -> None:
    text = """
        v2: float32[5, 2] = slice(v0, 1, 1, 3, 1)
        v3: float32[5, 2] = add(v2, v1)
        """
    changes(
        lambda x, y: torch.narrow(x, 1, 1, 2) + y,
        [torch.ones(5, 4), torch.ones(5, 1)],
        copy_unordered,
        text,
        text,
    )


def test_a_copy_is_not_shared_past_a_write_of_what_it_was_made_from() -> None:
    def function(x: Any, y: Any) -> Any:
        turned = x.transpose(0, 1)
        first = turned + y
        x.mul_(2)
        return first, turned * y

    program = program_of(function, torch.ones(2, 3, 4), torch.ones(3, 2, 4))
    copy_unordered(program)
    assert [i.name for i in program.instructions].count("in_order") == 2


def test_a_sum_over_first_and_last_dimensions_is_taken_apart() -> None:
    changes(
        lambda x: x.sum((0, 2, 3)), [torch.ones(3, 2, 8, 8)], in_pieces,
        """
        v1: float32[2] = sum(v0, (0, 2, 3), False, None)
        """,
        """
        v2: float32[3, 2, 1, 1] = sum(v0, (2, 3), True, None)
        v1: float32[2] = sum(v2, (0, 2, 3), False, None)
        """,
    )  # fmt: skip


def test_a_batch_norm_becomes_sums_products_and_writes_of_its_statistics() -> None:
    mean, variance = torch.zeros(3), torch.ones(3)

    def function(x: Any) -> Any:
        return torch.nn.functional.batch_norm(x, mean, variance, training=True)

    program = program_of(function, torch.randn(5, 3))
    norms = [i for i in program.instructions if i.name == "native_batch_norm"]
    assert [len(i.outputs) for i in norms] == [3]
    apart(program)
    names = [i.name for i in program.instructions if i.kind == "call"]
    norm = "sum mul sub mul sum mul add sqrt reciprocal mul"
    assert names == f"{norm} mul mul reciprocal sub mul mul".split()
    assert [repr(i).partition(" <-")[0] for i in program.instructions if i.kind == "write"] == [
        f"{x!r}" for x in (norms[0].inputs[3],) * 2 + (norms[0].inputs[4],) * 2
    ]
