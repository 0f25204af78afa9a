"""What a step leaves in lists, dicts, attributes and globals, compiled or not."""

import collections
import gc
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn import functional as F
from tests.compile.twins import Twin, check

BOTH = pytest.mark.parametrize("native", [True, False], ids=["native", "replayed"])
HISTORY: list[Any] = []
LAST: Any = None
COUNT = 0


class Own:
    def __init__(self) -> None:
        self.items: list[Any] = []
        self.entries: dict[str, Any] = {}
        self.by_name: dict[str, list[Any]] = {"loss": [], "rate": []}
        self.made: Any = collections.defaultdict(list)
        self.recent: Any = collections.deque()
        self.nested: list[Any] = [[]]
        self.last: Any = None
        self.best = 1e9
        self.n = self.later = 0


def trained(w: Any, x: Any) -> Any:
    loss = ((w * x).sum() - 1) ** 2
    (g,) = torch.autograd.grad(loss, w)
    with torch.no_grad():
        w.sub_(g, alpha=0.01)
    return loss.detach()


def numbers(own: Any, loss: Any, x: Any) -> Any:
    own.items.append(loss.item())
    return loss


def results(own: Any, loss: Any, x: Any) -> Any:
    own.items.append(loss)
    return loss


def into_a_global(own: Any, loss: Any, x: Any) -> Any:
    global LAST, COUNT
    HISTORY.append(loss.item())
    LAST = loss
    COUNT += 1
    return loss


def by_name(own: Any, loss: Any, x: Any) -> Any:
    own.by_name["loss"].append(loss.item())
    own.by_name["rate"].append(loss * 2)
    return loss


def made_at_first(own: Any, loss: Any, x: Any) -> Any:
    own.made["loss"].append(loss.item())
    return loss


def the_last(own: Any, loss: Any, x: Any) -> Any:
    own.last = loss
    own.n += 1
    own.entries["loss"] = loss.item()
    own.entries["both"] = (loss, 1)
    return loss


def pairs(own: Any, loss: Any, x: Any) -> Any:
    own.items.append((own.n, loss.item()))
    own.n += 1
    return loss


def containers(own: Any, loss: Any, x: Any) -> Any:
    own.items.append({"loss": loss.item(), "x": x, "all": [loss, None, "text"]})
    return loss


def recent(own: Any, loss: Any, x: Any) -> Any:
    own.recent.append(loss.item())
    return loss


def many(own: Any, loss: Any, x: Any) -> Any:
    for k in range(3):
        own.items.append(loss * k)
    own.items.extend([loss.item(), x, x.shape[0]])
    return loss


def written_later(own: Any, loss: Any, x: Any) -> Any:
    own.items.append(loss)
    loss.mul_(2)
    return loss


def new_attribute(own: Any, loss: Any, x: Any) -> Any:
    own.fresh = loss.item()
    return loss


def taken_back(own: Any, loss: Any, x: Any) -> Any:
    own.items.append(loss.item())
    own.items.pop()
    return loss


COMPILED = [numbers, results, into_a_global, by_name, made_at_first, the_last, pairs, containers,
            recent, many, written_later, new_attribute, taken_back]  # fmt: skip


def counted(own: Any, loss: Any, x: Any) -> Any:
    own.items.append(loss.item())
    return loss * 2 if len(own.items) > 3 else loss


def the_last_is_read(own: Any, loss: Any, x: Any) -> Any:
    own.items.append(loss)
    return own.items[-1] + len(own.items)


def read_by_another_name(own: Any, loss: Any, x: Any) -> Any:
    own.items.append(loss)
    return loss * len(getattr(own, "items"))  # noqa: B009


def read_through_a_local(own: Any, loss: Any, x: Any) -> Any:
    items = own.items
    items.append(loss)
    return loss * len(items)


def read_from_the_dict(own: Any, loss: Any, x: Any) -> Any:
    own.items.append(loss)
    return loss * sum(len(v) for v in vars(own).values() if isinstance(v, list))


def inserted(own: Any, loss: Any, x: Any) -> Any:
    own.items.insert(0, loss.item())
    return loss


def in_place(own: Any, loss: Any, x: Any) -> Any:
    own.items += [loss.item()]
    return loss


def in_a_list(own: Any, loss: Any, x: Any) -> Any:
    own.nested[0].append(loss.item())
    return loss


def read_before(own: Any, loss: Any, x: Any) -> Any:
    own.last = loss if own.last is None else own.last * 0.9 + loss
    return own.last * 1


def keys_that_change(own: Any, loss: Any, x: Any) -> Any:
    own.entries[f"k{own.n}"] = loss
    own.n += 1
    return loss


def two_places(own: Any, loss: Any, x: Any) -> Any:
    both = [loss]
    own.items.append(both)
    own.entries["last"] = both
    return loss


OTHERS = [counted, the_last_is_read, read_by_another_name, read_through_a_local, in_place,
          read_from_the_dict, inserted, in_a_list, read_before, keys_that_change,
          two_places]  # fmt: skip


def plain(x: Any) -> Any:
    """What lies in a container, with the types of numbers, by values."""
    if isinstance(x, torch.Tensor):
        return ("tensor", x.tolist(), x.requires_grad)
    if isinstance(x, (list, tuple, collections.deque)):
        return [type(x).__name__, *map(plain, x)]
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return (type(x).__name__, x)


def ran(keep: Callable[..., Any], native: bool) -> Any:
    def scenario(twin: Twin) -> None:
        global LAST, COUNT
        HISTORY.clear()
        LAST, COUNT = None, 0
        own, w = Own(), torch.ones(3, requires_grad=True)
        step = twin(lambda x: keep(own, trained(w, x), x))
        for k in range(9):
            x = torch.randn(3)
            result = step(x)
            twin.note([plain(vars(own)), plain([HISTORY, LAST, COUNT]), plain(w)])
            twin.note([any(result is y for y in own.items), result is own.last, result is LAST])
            if k == 6:
                own.items.clear()
                own.entries.clear()
            if k == 7:
                own.last = "another"

    return check(scenario, native)


@BOTH
@pytest.mark.parametrize("keep", COMPILED, ids=lambda keep: keep.__name__)
def test_what_is_kept_but_not_read_is_kept_by_a_program(keep: Any, native: bool) -> None:
    (step,) = ran(keep, native).steps
    assert step.program is not None, step.explain()
    assert step.calls["recorded"] <= 5, step.explain()


@BOTH
@pytest.mark.parametrize("keep", OTHERS, ids=lambda keep: keep.__name__)
def test_what_is_read_is_as_an_eager_step_finds_it(keep: Any, native: bool) -> None:
    ran(keep, native)


@BOTH
def test_a_module_keeps_its_activations(native: bool) -> None:
    class Watched(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(3, 2)
            self.seen: list[Any] = []
            self.shown: Any = None

        def forward(self, x: Any) -> Any:
            y = self.inner(x).tanh()
            self.seen.append(y.detach())
            self.shown = y
            return y * 2

    def scenario(twin: Twin) -> None:
        module = Watched()
        call = twin(module)
        for _ in range(6):
            out = call(torch.randn(4, 3))
            twin.note([plain(module.seen), plain(module.shown)])
            (out.sum() + module.shown.sum()).backward()
            twin.note([p.grad.tolist() for p in module.parameters()])

    (step,) = check(scenario, native).steps
    assert step.program is not None, step.explain()


def test_no_number_of_a_recording_stays_anywhere() -> None:
    class Slotted:
        __slots__ = ("value",)

    kept: Any = (collections.deque(), set(), Slotted(), {}, [])

    def step(x: Any) -> Any:
        n = x.sum().item()
        kept[0].append((n, (n, 1)))
        kept[2].value = n
        kept[3]["n"] = {"inner": (n,)}
        kept[4].append([n])
        return x * 2

    compiled = torch.compile(step)
    for _ in range(5):
        compiled(torch.randn(3))
        gc.collect()
        (a, (b, _)), c = kept[0][-1], kept[2].value
        found = [a, b, c, *kept[3]["n"]["inner"], *kept[4][-1]]
        assert [type(x) for x in found] == [float] * 5


def _factors(x: Any, n: Any) -> Any:
    return torch.linalg.cholesky(torch.eye(2) * (n[1] + 3) + 0 * x[:2])


REFUSED: dict[str, Any] = {
    "index": lambda x, n: x[n], "embedding": lambda x, n: F.embedding(n, x),
    "one_hot": lambda x, n: x[0, 0] + F.one_hot(n, 3), "cholesky": _factors,
    "pow": lambda x, n: x[0, 0] + torch.tensor([2, 3]) ** n,
    "index_add_": lambda x, n: x.clone().index_add_(0, n, x[:2]),
    "probability": lambda x, n: x[:2] + torch.bernoulli(n / 2.0)[:, None],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@BOTH
@pytest.mark.parametrize("name", REFUSED)
def test_a_row_that_refuses_a_value_leaves_what_an_eager_step_leaves(
    name: str, native: bool
) -> None:
    def scenario(twin: Twin) -> None:
        weight = torch.ones(3, 2, requires_grad=True)
        optimizer = torch.optim.Adam([weight], lr=0.1)
        own, means = Own(), torch.zeros(())

        def step(x: Any, n: Any) -> Any:
            own.n += 1
            own.last = x * 2
            own.items.append(x.sum().item())
            means.mul_(0.5).add_(x.mean())
            optimizer.zero_grad()
            noise = torch.randn(())
            loss = (REFUSED[name](x * weight, n) * noise).sum() + (weight * x).sum()
            own.later += 1
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = twin(step)
        for k, numbers in enumerate(([0, 1], [1, 0], [1, 1], [0, 0], [1, 9], [0, -7], [1, 0])):
            run(torch.eye(3)[:, :2] + 0.25 * k, torch.tensor(numbers))
            twin.note([own.n, own.later, own.last, list(own.items), means, weight])
            twin.note([weight.grad, dict(optimizer.state[weight]), torch.get_rng_state()])

    check(scenario, native)
