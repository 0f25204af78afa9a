"""Expanded and oddly laid out tensors in compiled steps: values, strides, what is dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional as F
from tests.compile.twins import check

REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: (x * 2).sum(), "sum alone": lambda x: x.sum(), "mean": lambda x: x.mean(),
    "sum 0": lambda x: x.sum(0), "sum -1": lambda x: (x + 1).sum(-1), "var": lambda x: x.var(),
    "norm": lambda x: x.norm(), "mse": lambda x: F.mse_loss(x, x * 0.5),
    "huber": lambda x: F.huber_loss(x, x * 0.5), "l1": lambda x: F.l1_loss(x, x * 0.5),
    "counted": lambda x: (x > 0).sum(), "softmax": lambda x: x.softmax(-1),
    "rows and all": lambda x: (x.sum(-1) * 2).sum() + x.sum(),
    "like": lambda x: x + torch.ones_like(x),
}  # fmt: skip
LAYOUTS: dict[str, Callable[[], Any]] = {
    "rows": lambda: torch.randn(4, 1).expand(4, 3),
    "columns": lambda: torch.randn(1, 3).expand(4, 3),
    "both": lambda: torch.randn(1, 1).expand(4, 3),
    "turned": lambda: torch.randn(3, 1).expand(3, 4).t(),
    "middle": lambda: torch.randn(2, 1, 3).expand(2, 4, 3), "one row": lambda: torch.randn(1, 5),
}  # fmt: skip


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("learns", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_what_was_expanded_counts_in_every_place(
    name: str, layout: str, learns: bool, native: bool
) -> None:
    def step(x: Any) -> Any:
        if not learns:
            return REDUCTIONS[name](x)
        w = x.detach().requires_grad_()
        found = REDUCTIONS[name](w)
        return torch.autograd.grad(found.sum(), w)[0] if found.requires_grad else found

    def scenario(twin: Any) -> None:
        run = twin(step)
        for _ in range(6):
            run(LAYOUTS[layout]())

    check(scenario, native)


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("use", [
    lambda x, n: x[n], lambda x, n: F.embedding(n, x), lambda x, n: x.gather(0, n[:, None]),
    lambda x, n: 6 // n, lambda x, n: torch.tensor([2, 3]) ** n,
])  # fmt: skip
def test_a_result_that_nobody_reads_is_still_refused(use: Any, native: bool) -> None:
    def step(x: Any, n: Any) -> Any:
        use(x, n)
        return x * 2

    def scenario(twin: Any) -> None:
        run = twin(step)
        for numbers in ([1, 2], [2, 1], [1, 1], [2, 2], [1, 9], [0, -7], [1, 2]):
            run(torch.ones(3, 2), torch.tensor(numbers))

    check(scenario, native)


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
def test_a_leaf_of_which_only_the_shape_matters_may_get_another(native: bool) -> None:
    def scenario(twin: Any) -> None:
        leaf = torch.ones(4, requires_grad=True)

        def step(x: Any) -> Any:
            leaf.sum().backward()
            return x * 2

        run = twin(step)
        for _ in range(5):
            run(torch.ones(2))
        leaf.data = torch.ones(6)
        leaf.grad = None
        run(torch.ones(2))
        twin.note(leaf.grad)

    check(scenario, native)


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("learns", [False, True], ids=["plain", "leaf"])
def test_tensors_of_one_array_may_part(learns: bool, native: bool) -> None:
    def scenario(twin: Any) -> None:
        kept, other = torch.ones(3, requires_grad=learns), torch.ones(3)

        def step(x: Any, y: Any) -> Any:
            return (x + 2 * y + 4 * kept + 8 * other).detach()

        run = twin(step)
        for turn in range(8):
            x = torch.full((3,), turn + 1.0)
            y = x.detach() if turn < 6 else torch.full((3,), 0.5)
            kept.data = x if turn != 6 else torch.full((3,), 0.25)
            other.data = kept.detach() if turn != 7 else torch.full((3,), 0.125)
            run(x, y)

    check(scenario, native)


def row_beside_a_column(x: Any) -> Any:
    column, row = x.abs() + 1, x.tanh()[..., 0]
    return column * row + (row.mean() + column.mean())


def column_beside_a_row(x: Any) -> Any:
    row, column = x.tanh()[..., 0], x.abs() + 1
    return row - column + (column.sum() * row.mean())


def both_at_once(x: Any) -> Any:
    y = x.exp()
    return y * y.view(1, -1) + y.view(1, -1).mean() + y.mean()


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("step", [row_beside_a_column, column_beside_a_row, both_at_once])
def test_what_is_read_in_two_shapes_is_read_in_each(step: Any, native: bool) -> None:
    def scenario(twin: Any) -> None:
        run = twin(step)
        for _ in range(6):
            run(torch.randn(4, 1, dtype=torch.float64))

    check(scenario, native)


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)], ids=str)
def test_reductions_of_nothing(shape: Any, native: bool) -> None:
    def scenario(twin: Any) -> None:
        run = twin(lambda x: ((x * 2).mean(), (x + 1).sum(), x.mean(-1), x.sum(0)))
        for _ in range(5):
            run(torch.zeros(shape))

    compiled = check(scenario, native)
    assert "Error" not in compiled.steps[0].explain()


@pytest.mark.parametrize("native", [True, False])
def test_results_of_mixed_layouts_are_laid_out_as_eagerly(native: bool) -> None:
    def step(a: Any, b: Any) -> Any:
        total = a.t() + b
        return total, torch.where(total > 0, a.t(), b), (total * 2).exp(), a.t() < b

    compiled = torch.compile(step, options={"native": native})
    for _ in range(8):
        a, b = torch.randn(4, 5), torch.randn(5, 4)
        for mine, wanted in zip(compiled(a, b), step(a, b)):
            assert mine.stride() == wanted.stride()
            torch.testing.assert_close(mine, wanted)
    assert "1 compiled" in compiled.explain()
