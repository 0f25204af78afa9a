"""Elements that share memory, in steps that write or sum them; the library's looks at values."""

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional as F
from tests.compile.twins import Twin, check

BOTH = pytest.mark.parametrize("native", [True, False], ids=["native", "replayed"])

VIEWS: dict[str, Callable[[Any], Any]] = {
    "expanded": lambda x: x.expand(3, 4),
    "of a result": lambda x: (x * 2).expand(3, 4),
    "a slice": lambda x: x.expand(3, 5)[:, 1:],
    "detached": lambda x: x.detach().expand(3, 4),
    "overlapping": lambda x: x.repeat(1, 2).view(-1).as_strided((3, 4), (1, 1)),
}
FIRST = torch.zeros(3, 1, dtype=torch.int64)
WRITES: dict[str, Callable[..., Any]] = {
    "index_fill_": lambda y, i, s, m: y.index_fill_(1, i, 3.0),
    "index_copy_": lambda y, i, s, m: y.index_copy_(1, i, s[:, :2]),
    "index_add_": lambda y, i, s, m: y.index_add_(1, i, s[:, :2]),
    "scatter_": lambda y, i, s, m: y.scatter_(1, FIRST, s),
    "scatter_ of a number": lambda y, i, s, m: y.scatter_(1, FIRST, 2.0),
    "scatter_add_": lambda y, i, s, m: y.scatter_add_(1, FIRST, s),
    "masked_fill_": lambda y, i, s, m: y.masked_fill_(m, 5.0),
    "masked_scatter_": lambda y, i, s, m: y.masked_scatter_(m, s),
    "fill_": lambda y, i, s, m: y.fill_(2.0),
    "zero_": lambda y, i, s, m: y.zero_(),
    "add_": lambda y, i, s, m: y.add_(1),
    "mul_": lambda y, i, s, m: y.mul_(s),
    "copy_": lambda y, i, s, m: y.copy_(s),
    "a column": lambda y, i, s, m: y.__setitem__((slice(None), 0), 7.0),
    "by index": lambda y, i, s, m: y.__setitem__((i,), 7.0),
    "by mask": lambda y, i, s, m: y.__setitem__(m, 7.0),
    "put_": lambda y, i, s, m: y.put_(i, s[0, :2]),
    "through a column": lambda y, i, s, m: y[:, 0].add_(3.0),
    "relu_": lambda y, i, s, m: y.relu_(),
    "uniform_": lambda y, i, s, m: y.uniform_(),
    "lerp_": lambda y, i, s, m: y.lerp_(s, 0.5),
}


@BOTH
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("write", WRITES)
def test_a_write_to_elements_that_share_memory_is_as_eager(
    write: str, view: str, native: bool
) -> None:
    def scenario(twin: Twin) -> None:
        @twin
        def step(x: Any, i: Any, s: Any, m: Any) -> Any:
            y = VIEWS[view](x)
            WRITES[write](y, i, s, m)
            return x * 1, y.sum()

        for _ in range(5):
            x, i, m = torch.randn(3, 1), torch.tensor([0, 1]), torch.rand(3, 4) > 0.5
            step(x, i, torch.randn(3, 4), m)
            twin.note(x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that such a write will be refused, some day
        check(scenario, native)


def against(loss: Any) -> Callable[[Any], Any]:
    return lambda y: loss(y, torch.ones_like(y) * 0.5)


SUMS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda y: y.sum(),
    "mean": lambda y: y.mean(),
    "first": lambda y: y.sum(0),
    "last": lambda y: y.sum(-1),
    "both ends": lambda y: y.sum((0, -1)),
    "computed": lambda y: (y * y.sin()).sum(),
    "kept": lambda y: (y * 2).mean(-1, keepdim=True),
    "counted": lambda y: (y > 0).sum(),
    "norm": lambda y: y.norm(),
    "deviation": lambda y: y.std(),
    "maximum": lambda y: y.amax(),
    "place": lambda y: y.argmax(-1),
    "logsumexp": lambda y: y.logsumexp(-1),
    "mse": against(F.mse_loss),
    "smooth l1": against(F.smooth_l1_loss),
    "huber": against(F.huber_loss),
    "logits": against(F.binary_cross_entropy_with_logits),
}


@BOTH
@pytest.mark.parametrize("name", SUMS)
def test_a_sum_counts_expanded_elements_in_each_place(name: str, native: bool) -> None:
    def scenario(twin: Twin) -> None:
        for grown in itertools.product([False, True], repeat=3):
            shape = tuple(1 if one else n for one, n in zip(grown, (3, 4, 5)))
            step = twin(lambda x: SUMS[name](x.expand(3, 4, 5)))
            trained = twin(lambda w: torch.autograd.grad(SUMS[name](w.expand(2, 3, 4, 5)).sum(), w))
            for _ in range(4):
                step(torch.randn(shape, dtype=torch.float64))
                if name not in ("counted", "place"):
                    trained(torch.randn(shape, dtype=torch.float64, requires_grad=True))

    check(scenario, native, 1e-9)


@BOTH
@pytest.mark.parametrize("dim", [0, 1, None])
def test_indices_of_another_sign_are_taken_as_eager(dim: int | None, native: bool) -> None:
    def scenario(twin: Twin) -> None:
        step = twin(lambda x, i, k: torch.take_along_dim(x, i - k, dim) * 2)
        size = 12 if dim is None else (3, 4)[dim]
        shape = {0: (2, 4), 1: (3, 2), None: (5,)}[dim]
        for k in (0, 0, 0, 0, size, size, 0, 1, -size):
            step(torch.randn(3, 4), torch.randint(0, size, shape), torch.tensor(k))

    check(scenario, native)


@BOTH
def test_what_the_library_checks_of_values_is_checked_in_each_call(native: bool) -> None:
    def scenario(twin: Twin) -> None:
        step = twin(lambda x, q: torch.quantile(x, q) * 2)
        for q in (0.1, 0.2, 0.3, 0.4, 1.5, 0.5, -1.0, float("nan"), 0.7):
            step(torch.arange(10.0), torch.tensor(q))
        factors = twin(lambda x: torch.linalg.ldl_factor(x)[0] * 2)
        for k in (1, 1, 1, 1, 0, 1):
            factors(torch.eye(3) * k + torch.ones(3, 3) * k)

    check(scenario, native)
