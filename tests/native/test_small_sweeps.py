"""Optimizers' updates of small arrays by ufuncs' loops: the digits of the code of NumPy calls."""

import sys
import threading
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.optimizers.rule import Rule, Update, constants
from rushlight._native import ufunc_loops
from tests.native.loops import placed, same

SHAPES: list[tuple[int, ...]] = [(3,), (48,), (49,), (8, 8), (257,), (16, 65), (2, 64), (), (0,)]
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {}), ("SGD", {"momentum": 0.9}), ("SGD", {"weight_decay": 0.1, "maximize": True}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "dampening": 0.1}), ("Adam", {}), ("AdamW", {}),
    ("Adam", {"amsgrad": True, "weight_decay": 0.1}), ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.5, "centered": True}), ("Adagrad", {}), ("Adadelta", {}),
    ("Adamax", {}), ("NAdam", {}), ("RAdam", {}), ("Rprop", {}), ("ASGD", {}),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The extension module, in its place."""
    with placed("sweeps", tmp_path_factory) as found:
        yield found


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def trained(
    name: str, options: dict[str, Any], dtype: Any, rule: Rule
) -> tuple[list[Any], set[str]]:
    """Parameters and states after some steps, and what kinds of functions made them."""
    torch.manual_seed(0)
    params = [torch.randn(shape, dtype=dtype).requires_grad_() for shape in SHAPES]
    optimizer = getattr(torch.optim, name)(params, lr=0.1, **options)
    for step in range(8):
        for p in params:
            p.grad = torch.randn(p.shape, dtype=dtype)
            if step == 5 and p.numel() > 2:
                p.grad.view(-1)[:3] = torch.tensor([np.inf, np.nan, -0.0])
        optimizer.step()
    states = [v for p in params for v in optimizer.state[p].values() if isinstance(v, torch.Tensor)]
    kinds = {type(u.run).__name__ for u in rule.known.values() if "run" in vars(u)}
    return [x.detach().numpy() for x in (*params, *states)], kinds


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_steps_of_optimizers(name: str, options: dict[str, Any], monkeypatch: Any) -> None:
    rule = getattr(torch.optim, name)._rule
    for dtype in (torch.float32, torch.float64):
        found = []
        for short in (True, False):
            monkeypatch.setattr(rule, "known", {})
            if not short:
                monkeypatch.setattr(ufunc_loops, "SWEEPS", None)
            arrays, kinds = trained(name, options, dtype, rule)
            monkeypatch.undo()
            found.append(arrays)
            assert kinds == {"function"} if not short else kinds <= {"Sweep", "function"}
            if short and name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad"):
                assert kinds == {"Sweep"}
        for a, b in zip(*found, strict=True):
            assert same(a, b)


def descend(p: Any, g: Any, average: Any, lr: Any, part: Any) -> tuple[Any, ...]:
    average = average * part + g * 0.25
    return p - average * lr, average


def updates() -> tuple[Any, Any]:
    """An update by loops, and the plain function behind it."""
    run = Update(Rule(descend, ("average",), tiny=4), ("average",), {}).run
    return run, run.plain


def numbers(dtype: Any) -> list[Any]:
    return constants(dtype, (0.1, 0.9))


def odd_cases() -> list[list[Any]]:
    """Parameters, gradients and averages that loops must not take, or only with care."""
    x = np.arange(1.0, 65, dtype=np.float32)

    class Kind(np.ndarray):
        pass

    def three(*arrays: Any) -> list[Any]:
        return [[a] for a in arrays]

    shared = np.arange(100.0, dtype=np.float32)
    long = np.arange(1200.0, dtype=np.float32)  # several blocks, which go through one by one
    frozen = x.copy()
    frozen.flags.writeable = False
    misaligned = np.zeros(64 * 4 + 1, np.uint8)[1:].view(np.float32)
    return [
        three(x.copy(), x.copy().view(Kind), x.copy()), three(x.copy().view(Kind), x, x.copy()),
        three(x.copy(), misaligned, x.copy()), three(misaligned, x, x.copy()),
        three(x.copy()[::2], x[:32], x.copy()[:32]), three(x.copy()[::-1], x, x.copy()),
        three(x.reshape(8, 8).copy().T, x.reshape(8, 8), x.reshape(8, 8).copy()),
        three(x.reshape(8, 8).copy(), x[:8], x.reshape(8, 8).copy()),
        three(x.copy(), x[:1], x.copy()), three(x.copy(), np.broadcast_to(x[0], 64), x.copy()),
        three(x.copy(), x.astype("f8"), x.copy()), three(x.astype("f8"), x, x.copy()),
        three(x.astype("f2"), x.astype("f2"), x.astype("f2")), three(x.copy(), x[:60], x.copy()),
        three(frozen, x, x.copy()), three(x.copy(), x, frozen), three(x.copy(), frozen, x.copy()),
        three(shared[:64], shared[1:65], x.copy()), three(shared[1:65], shared[:64], x.copy()),
        three(shared[:64], x, shared[30:94]), three(shared[:64], shared[:64], x.copy()),
        three(shared[:64], x, shared[:64]), three(shared[:64], shared[64:96], shared[:32]),
        three(long[1:1001], long[:1000], np.ones(1000, "f4")),
        three(long[:1000], long[1:1001], np.ones(1000, "f4")),
        three(long[:1000], np.ones(1000, "f4"), long[200:]),
        three(long[200:], np.ones(1000, "f4"), long[:1000]),
        three(np.ones(1000, "f4"), long[:1000], long[1:1001]),
        three(x[:0].copy(), x[:0], x[:0].copy()),
        three(np.array(1.0, "f4"), x[0], np.array(2.0, "f4")),
        three(x.copy(), None, x.copy()), three(x.copy(), 2.0, x.copy()),
        [[x.copy()], [x, x], [x.copy()]], [[x.copy()], [], []], [[], [], []],
        [[x.copy(), x.astype("f8")], [x, x.astype("f8")], [x.copy(), x.astype("f8")]],
        [[x.copy(), frozen, x.copy()], [x, x, x], [x.copy(), x.copy(), x.copy()]],
    ]  # fmt: skip


def copied(lists: list[Any]) -> list[Any]:
    """Copies of lists of arrays that share memory as these do."""
    memo: dict[int, Any] = {}

    def copy(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return x
        owner = x
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        bytes_of = memo.setdefault(id(owner), np.array(owner, subok=True))
        if owner is x:
            bytes_of.flags.writeable = x.flags.writeable
            return bytes_of
        offset = x.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        raw = bytes_of.view(np.ndarray).reshape(-1).view(np.uint8)
        made = np.ndarray(x.shape, x.dtype, raw.data, offset, x.strides)
        made.flags.writeable = x.flags.writeable
        return made.view(type(x))

    return [[copy(x) for x in one] for one in lists]


def attempt(function: Any, args: list[Any]) -> object:
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


def test_arrays_that_are_not_plain() -> None:
    run, plain = updates()
    for k, case in enumerate(odd_cases()):
        one, other = copied(case), copied(case)
        given = numbers(case[0][0].dtype if case[0] else np.dtype("f4"))
        assert attempt(run, [*one, given]) == attempt(plain, [*other, given]), k
        for a, b in zip(chain(*one), chain(*other), strict=True):
            assert a is b or a == b if not isinstance(a, np.ndarray) else same(a, b), k


def test_numbers_and_arguments_that_are_not_plain() -> None:
    run, plain = updates()
    x = np.linspace(-1, 1, 20, dtype=np.float32)
    f4, f8 = numbers(np.dtype("f4")), numbers(np.dtype("f8"))
    for given in (f4, f8, [0.1, 0.9], [*f4, 0.5], f4[:1], tuple(f4), [f4[0], x[:1]], [f4[0], None]):
        one, other = copied([[x], [x.copy()], [x.copy()]]), copied([[x], [x.copy()], [x.copy()]])
        assert attempt(run, [*one, given]) == attempt(plain, [*other, given])
        for a, b in zip(chain(*one), chain(*other), strict=True):
            assert same(a, b)
    for args in ([], [[x]], [[x], [x], [x]], [(x,), (x,), (x.copy(),), f4]):
        assert type(attempt(run, args)) is type(attempt(plain, args))


def test_sizes_around_blocks_and_limits() -> None:
    run, plain = updates()
    rng = np.random.default_rng(0)
    for dtype in ("f4", "f8"):
        for size in (1, 4, 5, 255, 256, 257, 512, 1000, 8192, 8193, 20000):
            case = [[rng.standard_normal(size).astype(dtype)] for _ in range(3)]
            one, other = copied(case), copied(case)
            run(*one, numbers(np.dtype(dtype)))
            plain(*other, numbers(np.dtype(dtype)))
            for a, b in zip(one, other, strict=True):
                assert same(a[0], b[0]), size


def test_an_error_comes_where_the_plain_function_has_it() -> None:
    run, _ = updates()
    x = np.ones(8, np.float32)
    frozen = x.copy()
    frozen.flags.writeable = False
    first, last = x.copy(), x.copy()
    with pytest.raises(ValueError):
        run([first, frozen, last], [x, x, x], [x.copy() for _ in range(3)], numbers(x.dtype))
    assert not same(first, x) and same(last, x)


def test_a_rule_with_unknown_steps_stays_as_it_is() -> None:
    def odd(p: Any, g: Any, lr: Any) -> tuple[Any, ...]:
        return (p - (g > 0.5) * lr,)

    def many(p: Any, g: Any, lr: Any) -> tuple[Any, ...]:
        for k in range(60):
            p = p - g * (lr * (k + 0.5))
        return (p,)

    for formula in (odd, many):
        run = attempt(lambda f: Update(Rule(f, ()), (), {}).run, [formula])
        assert type(run).__name__ != "Sweep"


def test_calls_leave_no_references_and_threads_do_not_meet() -> None:
    run, plain = updates()
    given = numbers(np.dtype("f4"))
    x, g, average = (np.ones(20, np.float32) for _ in range(3))
    frozen_order = np.ones((4, 5), np.float32).T
    kept = [x, g, average, frozen_order, given[0], plain]
    before = [sys.getrefcount(one) for one in kept]
    for _ in range(500):
        run([x, frozen_order], [g, frozen_order], [average, np.ones((5, 4), "f4")], given)
    assert [sys.getrefcount(one) for one in kept] == before
    wrong = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(200):
            case = [[rng.standard_normal(50).astype("f4")] for _ in range(3)]
            one, other = copied(case), copied(case)
            run(*one, given)
            plain(*other, given)
            if not all(same(a[0], b[0]) for a, b in zip(one, other, strict=True)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong
