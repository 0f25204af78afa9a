"""Passes that turn a program into native commands, each shown before and after."""

from textwrap import dedent
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight._native.llvm import target
from rushlight.nn import functional as F

pytestmark = pytest.mark.skipif(not target.available(), reason="no native code: replayed")


def compiled(function: Any, *args: Any) -> Any:
    step = torch.compile(function)
    for _ in range(4):
        step(*args)
    assert step.machine is not None, step.explain()
    return step


def shows(step: Any, before: str, after: str) -> None:
    """What is computed, and how it runs."""
    program = "\n".join(repr(i) for i in step.program.instructions)
    assert program == dedent(before).strip()
    assert str(step.machine) == dedent(after).strip()


def test_elementwise_work_broadcasts_and_reductions_become_one_kernel() -> None:
    def function(x: Any, b: Any) -> Any:
        y = (x + b).tanh()
        return y - y.mean(-1, keepdim=True)

    shows(
        compiled(function, torch.randn(6, 8), torch.randn(8)),
        """
        v2: float32[6, 8] = add(v0, v1)
        v3: float32[6, 8] = tanh(v2)
        v4: float32[6, 1] = mean(v3, (-1), True, None)
        v5: float32[6, 8] = sub(v3, v4)
        """,
        """
        kernel over 6 x 8 gives v5
            v2: float32[6, 8] = add(v0, v1)
            v3: float32[6, 8] = tanh(v2)
            v4: float32[6, 1] = mean(v3, (-1), True, None)
            v5: float32[6, 8] = sub(v3, v4)
        arena of 0 bytes
        """,
    )


def test_bias_and_relu_are_done_while_a_product_is_stored() -> None:
    w, b = torch.randn(16, 8), torch.randn(16)
    step = compiled(lambda x: F.linear(x, w, b).relu(), torch.randn(32, 8))
    program = [i.name for i in step.program.instructions]
    assert program == ["_linear", "relu"]
    text = str(step.machine)
    if "by BLAS" in text:  # where no microkernel is emitted for the machine
        assert "kernel over" in text
        return
    assert text.splitlines()[0] == (
        "product v4 = v0 [32 x 8] @ v1 [8 x 16], plus v2, negatives are zeros"
    )
    assert len([x for x in text.splitlines() if not x.startswith(("arena", " "))]) == 1


def test_an_optimizer_updates_all_parameters_in_one_sweep() -> None:
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any) -> None:
        optimizer.zero_grad()
        model(x).square().sum().backward()
        optimizer.step()

    run = compiled(step, torch.randn(5, 4))
    last = repr(run.program.instructions[-1])
    assert last.startswith("SGD.step([v1, v2], [")
    lines = str(run.machine).splitlines()
    start = lines.index("sweep of SGD over 2 parameters")
    names = last.partition("[v1, v2], [")[2].rstrip("])").split(", ")
    assert lines[start + 1] == f"    v1 by {names[0]}, v2 by {names[1]}"
    assert lines[start + 2].startswith("arena of")


def test_writes_in_place_become_one_pass_over_their_target() -> None:
    average = torch.zeros(4)

    def step(x: Any) -> None:
        average.mul_(0.9).add_(x, alpha=0.1)

    shows(
        compiled(step, torch.randn(4)),
        """
        v1 <- mul(v1, 0.9)
        v1 <- add(v1, v0, 0.1)
        """,
        """
        kernel over 1 x 4 gives v1 in place
            v2: float32[4] = mul(v1, 0.9)  (over v1)
            v3: float32[4] = add(v2, v0, 0.1)  (over v1)
        arena of 0 bytes
        """,
    )


def test_a_reader_between_two_writes_keeps_them_apart() -> None:
    x = torch.ones(4, 4)

    def step(w: Any) -> Any:
        x.mul_(0.5)
        y = x @ w
        x.add_(1)
        return y

    run = compiled(step, torch.eye(4))
    lines = [line for line in str(run.machine).splitlines() if not line.startswith((" ", "arena"))]
    assert [line.split()[0] for line in lines] == ["kernel", "product", "kernel"]
    expected = x * 0.5
    assert torch.equal(run(torch.eye(4)), expected) and torch.equal(x, expected + 1)


def test_a_result_takes_the_memory_of_an_operand_that_nobody_reads_again() -> None:
    def function(x: Any, w: Any) -> Any:
        y = (x @ w).tanh()
        return y @ w

    step = compiled(function, torch.randn(64, 64), torch.randn(64, 64))
    lines = str(step.machine).splitlines()
    assert "    v3: 16384 bytes in place of v2" in lines
    assert "arena of 16448 bytes" in lines


def test_values_share_memory_when_one_is_dead_before_the_other_is_made() -> None:
    def function(x: Any, w: Any) -> Any:
        for _ in range(6):
            x = x @ w
        return x * 2

    step = compiled(function, torch.randn(64, 64), torch.randn(64, 64))
    lines = str(step.machine).splitlines()
    places = {line.rpartition(" ")[2] for line in lines if " bytes at " in line}
    assert len([line for line in lines if line.startswith("    v") and "bytes" in line]) == 6
    assert len(places) == 2 and "arena of 32896 bytes" in lines


def test_numbers_that_differ_from_call_to_call_are_operands_of_kernels() -> None:
    w = torch.ones(4)

    def step(x: Any, rate: float, count: int) -> None:
        w.sub_(x * rate / (1 - 0.5**count))

    run = torch.compile(step)
    x = torch.randn(4)
    for n in range(1, 7):
        before = w.clone()
        run(x, 0.1 / n, n)
        assert torch.equal(w, before - x * (0.1 / n) / (1 - 0.5**n))
    assert len(run.variants) == 1
    assert any("0.5 ** n2" in repr(i) for i in run.program.instructions)
    lines = str(run.machine).splitlines()
    assert lines[0] == "kernel over 1 x 4 gives v3 in place" and lines[-1] == "arena of 0 bytes"
    assert [line.split(" = ")[1].partition("(")[0] for line in lines[1:-1]] == ["mul", "div", "sub"]
