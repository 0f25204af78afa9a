"""Products of small matrices and losses of few rows: the digits of the plain functions."""

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array import kernels, numpy_namespace as xp
from rushlight._array.linalg import matmul
from rushlight._array.nn import class_losses, small_rows
from rushlight._native import ufunc_loops
from rushlight._table import ROWS
from rushlight._table.linalg.matmul import _linear_2d, bmm, mm
from rushlight._table.nn.class_loss import _cross_entropy
from rushlight._table.rows import small_arrays
from tests.native.loops import Plain, module, same

Function = Callable[..., Any]
SOFTMAX, LOG_SOFTMAX = ROWS["softmax"][0], ROWS["log_softmax"][0]
SHORT = (_linear_2d, mm, bmm, _cross_entropy, SOFTMAX, LOG_SOFTMAX)
FORWARDS: dict[str, Function] = {
    "linear": matmul.linear, "mm": matmul.mm, "addmm": matmul.addmm, "mv": matmul.mv,
    "bmm": matmul.bmm, "baddbmm": matmul.baddbmm,
    "cross_entropy": class_losses.cross_entropy, "softmax": SOFTMAX.op.raw,
    "log_softmax": LOG_SOFTMAX.op.raw,
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The extension module, in its place."""
    found = module("products", tmp_path_factory.mktemp("products"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ufunc_loops, "PRODUCTS", found)
        ufunc_loops.set_bounds(*small_rows.BOUNDS)
        yield found


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def product(function: Function, letters: str) -> tuple[Function, Plain]:
    plain = Plain(function)
    return ufunc_loops.short("Product", plain, letters), plain


def entropy(function: Function, letters: str) -> tuple[Function, Plain]:
    plain = Plain(function)
    return ufunc_loops.short("Entropy", plain, letters), plain


def matrix(rng: Any, rows: int, columns: int, dtype: str) -> Any:
    return rng.standard_normal((rows, columns)).astype(dtype)


def gradients(forward: str) -> list[tuple[str, Function, str]]:
    """The gradients of an operation as the table has them, with their letters."""
    rows = {"linear": _linear_2d, "mm": mm}
    _, letters = small_arrays.KNOWN["linalg.matmul", forward]
    formulas = rows[forward].op.formulas
    return [(forward, f, told) for f, told in zip(formulas, letters[1:], strict=True)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_of_all_sizes_and_orders(dtype: str) -> None:
    rng = np.random.default_rng(1)
    sizes = (1, 2, 3, 4, 7, 8, 12, 17, 64)
    taken = calls = 0
    for m, k, n in itertools.product(sizes, sizes, sizes):
        a, b, g = (matrix(rng, *s, dtype) for s in ((m, k), (k, n), (m, n)))
        weight, bias = np.ascontiguousarray(b.T), matrix(rng, 1, n, dtype)[0]
        ways: list[tuple[Function, str, list[Any]]] = []
        for left, right in itertools.product((a, np.asfortranarray(a)), (b, np.asfortranarray(b))):
            ways.append((matmul.mm, "ab", [left, right]))
            ways.append((matmul.addmm, "cab11", [bias, left, right, 1, 1.0]))
            ways.append((matmul.addmm, "cab11", [g, left, right, 1.0, 1]))
            ways.append((matmul.mv, "av", [left, np.ascontiguousarray(right[:, 0])]))
            ways.append((matmul.mv, "av", [left, right[:, 0]]))
        for rows in (a, np.asfortranarray(a)):
            ways.append((matmul.linear, "aBc", [rows, weight, bias]))
            ways.append((matmul.linear, "aBc", [rows, weight, None]))
        given = {"-ab": [xp, g, weight], "-Ab": [xp, g, a], "-gs": [xp, g, (n,)]}
        ways += [(f, told, given[told]) for _, f, told in gradients("linear")]
        given = {"-aB": [xp, g, b], "-bA": [xp, g, a]}
        ways += [(f, told, given[told]) for _, f, told in gradients("mm")]
        if m == n:
            ways.append((matmul.mm, "ab", [a, a.T]))
        for function, letters, args in ways:
            made, plain = product(function, letters)
            assert same(made(*args), function(*args)), (letters, m, k, n)
            calls += 1
            taken += not plain.calls
    assert taken > calls * (0.8 if dtype == "f4" else 0.9)


def test_special_values_of_products() -> None:
    values = [0.0, -0.0, 1.0, -1.0, 1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan, 1e-45]
    rng = np.random.default_rng(2)
    for dtype in ("f4", "f8"):
        for _ in range(30):
            a, b = (
                rng.choice(values, (16, 9)).astype(dtype),
                rng.choice(values, (8, 9)).astype(dtype),
            )
            bias = rng.choice(values, 8).astype(dtype)
            made, plain = product(matmul.linear, "aBc")
            assert same(made(a, b, bias), matmul.linear(a, b, bias)) and not plain.calls
            made, plain = product(gradients("linear")[2][1], "-gs")
            assert same(made(xp, a, (9,)), xp.sum_to(a, (9,))) and not plain.calls


def odd_arrays() -> list[Any]:
    x = np.arange(1.0, 65, dtype=np.float32).reshape(8, 8)

    class Kind(np.ndarray):
        pass

    misaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(8, 8)
    strange = np.dtype(np.float32, metadata={"a": 1})
    return [
        x.view(Kind), misaligned, x.astype(">f4"), x.astype(np.float16), x.astype(np.float64),
        x.astype(np.int64), x.astype(np.complex64), x[::-1], x[:, ::-1],
        x[:, :1].repeat(16, 1)[:, ::2],
        np.broadcast_to(x[0], (8, 8)), np.broadcast_to(x[:, :1], (8, 8)), x.astype(strange),
        np.lib.stride_tricks.as_strided(x, (8, 8), (4, 4)), np.zeros((16, 16), np.float32)[::2, :8],
    ]  # fmt: skip


def attempt(function: Function, args: list[Any]) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


def agree(made: Function, function: Function, args: list[Any]) -> bool:
    found, wanted = attempt(made, args), attempt(function, args)
    if isinstance(wanted, tuple):
        return bool(found == wanted)
    return type(found) is type(wanted) and same(found, wanted)


def test_operands_that_are_not_plain_go_to_the_function() -> None:
    x = np.ones((8, 8), np.float32)
    for odd in odd_arrays():
        for letters, function, args in (
            ("ab", matmul.mm, [x, odd]), ("ab", matmul.mm, [odd, x]), ("ab", matmul.mm, [odd, odd]),
            ("aBc", matmul.linear, [x, x, odd[0]]), ("aBc", matmul.linear, [odd, x, None]),
            ("-gs", gradients("linear")[2][1], [xp, odd, (8,)]),
        ):  # fmt: skip
            if letters == "aBc" and args[2] is not None and odd[0].dtype == x.dtype:
                continue  # the row may well be a plain one
            made, plain = product(function, letters)
            assert agree(made, function, args), (letters, odd.dtype, odd.strides)
            # Nothing but one type of floats is taken.
            if odd.dtype != np.float64 or args[0] is not odd is not args[1]:
                assert plain.calls or odd.dtype == np.float64, (letters, odd.dtype, odd.strides)


def test_shapes_and_arguments_that_do_not_fit() -> None:
    x = np.ones((8, 9), np.float32)
    empty = np.ones((0, 9), np.float32)
    bias = np.ones(8, np.float32)
    for letters, function, args in (
        ("ab", matmul.mm, [x, x]), ("ab", matmul.mm, [x[0], x.T]), ("ab", matmul.mm, [empty, x.T]),
        ("ab", matmul.mm, [empty.T, empty]), ("ab", matmul.mm, [x, empty.T]),
        ("ab", matmul.mm, [x]),
        ("ab", matmul.mm, [x, None]), ("ab", matmul.mm, [x, 2.0]), ("ab", matmul.mm, [x, x.T, 3]),
        ("aBc", matmul.linear, [x, x, bias[:7]]), ("aBc", matmul.linear, [x, x, bias[:1]]),
        ("aBc", matmul.linear, [x, x, x]), ("aBc", matmul.linear, [x, x[0], None]),
        ("aBc", matmul.linear, [x, x, bias.astype("f8")]), ("aBc", matmul.linear, [x, x, 1.0]),
        ("aBc", matmul.linear, [np.ones((2, 8, 9), "f4"), x, bias]),
        ("cab11", matmul.addmm, [bias, x, x.T, 2, 1]),
        ("cab11", matmul.addmm, [bias, x, x.T, 1, 0.5]),
        ("cab11", matmul.addmm, [bias, x, x.T, True, 1]),
        ("cab11", matmul.addmm, [x[:, :8], x, x.T, 1, 1]),
        ("cab11", matmul.addmm, [bias, x, x.T, 1 << 70, 1]),
        ("cab11", matmul.addmm, [x, x, x.T, 1, 1]),
        ("-gs", gradients("linear")[2][1], [xp, x, (8, 9)]),
        ("-gs", gradients("linear")[2][1], [xp, x, (1,)]),
        ("-gs", gradients("linear")[2][1], [xp, empty, (9,)]),
        ("-gs", gradients("linear")[2][1], [xp, np.ones((3, 8, 9), "f4"), (9,)]),
    ):  # fmt: skip
        made, plain = product(function, letters)
        assert agree(made, function, args), (letters, args)
        assert plain.calls, (letters, args)
    with pytest.raises(TypeError):
        product(matmul.mm, "ab")[0](x, b=x.T)


def test_results_are_new_and_operands_are_only_read() -> None:
    x = np.arange(64.0).reshape(8, 8)
    x.flags.writeable = False
    kept = x.copy()
    for made, args in (
        (product(matmul.mm, "ab")[0], [x, x]), (product(matmul.linear, "aBc")[0], [x, x, x[0]]),
        (product(gradients("linear")[2][1], "-gs")[0], [xp, x, (8,)]),
        (entropy(class_losses.cross_entropy_backward, "gxtri")[0],
         [np.array(1.0), x % 3, np.arange(8), 1, -100]),
    ):  # fmt: skip
        found = made(*args)
        assert found.flags.owndata and found.flags.writeable and found.base is None
        assert not np.shares_memory(found, x) and same(x, kept)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_losses_and_their_gradients(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LEAST", sys.maxsize)  # whose digits are others
    monkeypatch.setattr(small_rows, "_SMALL", 131072)
    rng = np.random.default_rng(3)
    taken = calls = 0
    for rows, classes in itertools.product((1, 2, 3, 8, 33, 500, 3000), (1, 2, 3, 10, 17, 100)):
        for scale in (0.1, 3.0, 30.0):
            x = (rng.standard_normal((rows, classes)) * scale).astype(dtype)
            target = rng.integers(0, classes, rows)
            if scale < 1:
                target[:: 2 + rows % 3] = -100
            for reduction, g in ((0, x[:, 0].copy()), (1, np.array(-0.7, dtype)), (2, x[0, 0])):
                for function, letters, args in (
                    (class_losses.cross_entropy, "xtri", (x, target, reduction, -100)),
                    (class_losses.cross_entropy_backward, "gxtri", (g, x, target, reduction, -100)),
                ):
                    made, plain = entropy(function, letters)
                    assert same(made(*args), function(*args)), (letters, rows, classes, reduction)
                    calls += 1
                    taken += not plain.calls
    assert taken > calls * 0.2


def test_losses_of_what_is_not_plain() -> None:
    x = np.linspace(-2, 2, 24, dtype=np.float32).reshape(6, 4)
    target = np.array([0, 1, 2, 3, 0, 1])
    bad, cases = x.copy(), []
    bad[2, 1] = np.nan
    huge, confident = x.copy() + 80, np.eye(4, dtype="f4")[target] * 40
    for logits in (
        x.T.copy().T,
        x[:, ::-1],
        x.astype("f2"),
        bad,
        x + np.inf,
        huge,
        huge - 200,
        confident,
    ):
        cases.append((logits, target, 1, -100))
    for classes in (
        target - 1, target + 1, target.astype("i4"), target[:5], target[::-1], target[:, None],
        target.astype(">i8"), np.where(target == 1, -100, target), target.astype("u8"),
    ):  # fmt: skip
        cases.append((x, classes, 1, -100))
    some = np.where(target == 1, 9, target)
    cases += [(x, some, 2, 9), (x, some, 1, 9), (x, some, 0, 9), (x, some, 1, -100),
              (x, np.full(6, -7), 1, -7), (x, np.where(target == 1, 8, some), 1, 9)]  # fmt: skip
    cases += [(x, target, 1, 2), (x, target, 2, 0), (x, target, 0, -100), (x, target, 3, -100),
              (x, target, 1, 1 << 80), (x[0], target, 1, -100), (x[:0], target[:0], 1, -100),
              (x, target, 1, -1)]  # fmt: skip
    for case in cases:
        for function, letters, first in (
            (class_losses.cross_entropy, "xtri", ()),
            (class_losses.cross_entropy_backward, "gxtri", (np.array(0.5, case[0].dtype),)),
        ):
            args = [*first, *case]
            made, plain = entropy(function, letters)
            assert agree(made, function, args), (letters, case)
    for g in (np.array(0.5), np.float32(0.5), np.ones(1, "f4"), 0.5, np.array(0.5, ">f4"), None):
        args = [g, x, target, 1, -100]
        made, plain = entropy(class_losses.cross_entropy_backward, "gxtri")
        assert agree(made, class_losses.cross_entropy_backward, args) and plain.calls
    g = np.array(np.nan, "f4")
    made, plain = entropy(class_losses.cross_entropy_backward, "gxtri")
    assert same(made(g, x, target, 1, -100),
                class_losses.cross_entropy_backward(g, x, target, 1, -100))  # fmt: skip


def softmax_ways() -> list[tuple[Function, str]]:
    """Softmax, its logarithm and their gradients, with their letters."""
    ops = SOFTMAX.op, LOG_SOFTMAX.op
    return [
        (ops[0].raw, "sdn"), (ops[1].raw, "ldn"), (ops[0].formulas[0], "Sod"),
        (ops[1].formulas[0], "Lod"),
    ]  # fmt: skip


def given(letters: str, x: Any, g: Any, dim: Any) -> list[Any]:
    return [x, dim, None] if letters[2] == "n" else [g, x, dim]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_softmax_and_its_gradients(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LEAST", sys.maxsize)  # whose digits are others
    rng = np.random.default_rng(6)
    taken = calls = 0
    for rows, classes in itertools.product((1, 2, 3, 8, 33, 500, 3000), (1, 2, 3, 10, 17, 100)):
        for scale in (0.1, 3.0, 30.0, 200.0):
            x = (rng.standard_normal((rows, classes)) * scale).astype(dtype)
            g = matrix(rng, rows, classes, dtype)
            x[0, :2] = {0.1: 0.0, 3.0: -np.inf, 30.0: np.inf, 200.0: np.nan}[scale]
            x[-1, 0] = -0.0
            for (function, letters), dim in itertools.product(softmax_ways(), (1, -1)):
                plain = Plain(function)
                made = ufunc_loops.short("Softmax", plain, letters)
                args = given(letters, x, g, dim)
                assert same(made(*args), function(*args)), (letters, rows, classes, scale)
                calls += 1
                taken += not plain.calls
    assert taken > calls * 0.3


def test_softmax_of_what_is_not_plain() -> None:
    x = np.linspace(-2, 2, 64, dtype=np.float32).reshape(8, 8)
    for odd in [*odd_arrays(), x[0], x.reshape(2, 4, 8), x[:0], x[:, :0], np.array(1.0, "f4")]:
        for function, letters in softmax_ways():
            for one, other in ((odd, x), (x, odd), (odd, odd)):
                plain = Plain(function)
                made = ufunc_loops.short("Softmax", plain, letters)
                assert agree(made, function, given(letters, one, other, -1)), (letters, odd.dtype)
    for function, letters in softmax_ways():
        for dim in (0, -2, 2, 1.0, None, True, 1 << 80, (1,), np.int64(1)):
            plain = Plain(function)
            made = ufunc_loops.short("Softmax", plain, letters)
            assert agree(made, function, given(letters, x, x, dim)), (letters, dim)
            assert plain.calls
    made = ufunc_loops.short("Softmax", Plain(FORWARDS["softmax"]), "sdn")
    assert agree(made, FORWARDS["softmax"], [x, 1, np.dtype(np.float64)])


def test_operations_of_the_table_have_short_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = 0
    for row in SHORT:
        op = row.op
        former = op.small, op.small_formulas
        try:
            small_arrays.add_chains(op, row.schema, row.kind)
            for made, plain in zip(
                (op.small, *op.small_formulas), (op.raw, *op.formulas), strict=True
            ):
                assert made is not plain and made.plain is plain
                counted += 1
        finally:
            op.small, op.small_formulas = former
    assert counted == 4 + 3 + 3 + 2 + 2 + 2
    for module_name, name in small_arrays.KNOWN:
        function = FORWARDS[name]
        assert (function.__module__ or "").endswith(module_name) and function.__name__ == name


def with_and_without(step: Callable[[], list[Any]]) -> tuple[list[Any], list[Any]]:
    """The results of a step by the short ways and by the plain functions."""
    found = []
    for short in (True, False):
        former = {}
        for row in SHORT:
            op = row.op
            former[op] = op.small, op.small_formulas
            op.small, op.small_formulas = op.raw, op.formulas
            if short:
                small_arrays.add_chains(op, row.schema, row.kind)
        try:
            found.append(step())
        finally:
            for op, (small, formulas) in former.items():
                op.small, op.small_formulas = small, formulas
    return found[0], found[1]


def test_training_gives_the_same_digits() -> None:
    def step() -> list[Any]:
        torch.manual_seed(4)
        net = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        x, target = torch.randn(16, 4), torch.randint(0, 3, (16,))
        frozen = torch.ones(32, 32)
        losses = []
        for _ in range(5):
            optimizer.zero_grad()
            hidden = net[1](net[0](x)) @ frozen.mm(frozen)
            loss = torch.nn.functional.cross_entropy(net[2](hidden * 1e-3), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach().numpy())
        return [*losses, *[p.detach().numpy() for p in net.parameters()]]

    for a, b in zip(*with_and_without(step), strict=True):
        assert same(a, b)


def test_a_second_derivative_goes_through_a_product() -> None:
    def step() -> list[Any]:
        torch.manual_seed(5)
        w = torch.randn(8, 8, requires_grad=True, dtype=torch.float64)
        x = torch.randn(9, 8, dtype=torch.float64)
        loss = torch.nn.functional.linear(x, w, w[0]).pow(2).sum()
        (first,) = torch.autograd.grad(loss, w, create_graph=True)
        (second,) = torch.autograd.grad(first.pow(2).sum(), w)
        return [first.detach().numpy(), second.numpy()]

    for a, b in zip(*with_and_without(step), strict=True):
        assert same(a, b)


def test_calls_leave_no_memory_and_no_references() -> None:
    x, bias = np.ones((9, 8), np.float32), np.ones(9, np.float32)
    g, target = np.ones((), np.float32), np.zeros(9, np.int64)
    linear = product(matmul.linear, "aBc")[0]
    sums = product(gradients("linear")[2][1], "-gs")[0]
    loss = entropy(class_losses.cross_entropy, "xtri")[0]
    gradient = entropy(class_losses.cross_entropy_backward, "gxtri")[0]
    rows = [(ufunc_loops.short("Softmax", f, told), told) for f, told in softmax_ways()]
    odd = x[::2]

    def calls(count: int) -> None:
        for _ in range(count):
            linear(x, x, bias)
            linear(odd, x, bias)
            sums(xp, x, (8,))
            loss(x, target, 1, -100)
            gradient(g, x, target, 1, -100)
            for made, letters in rows:
                made(*given(letters, x, x, 1))

    calls(200)
    kept: list[Any] = [x, odd, bias, g, target, x.dtype, target.dtype]
    before = [sys.getrefcount(one) for one in kept]
    statm = Path("/proc/self/statm")
    size = int(statm.read_text().split()[1]) if statm.exists() else 0
    calls(20_000)
    assert [sys.getrefcount(one) for one in kept] == before
    if size:
        pages = int(statm.read_text().split()[1]) - size
        assert pages * os.sysconf("SC_PAGE_SIZE") < 1 << 20


def test_threads_share_the_functions() -> None:
    linear = product(matmul.linear, "aBc")[0]
    gradient = entropy(class_losses.cross_entropy_backward, "gxtri")[0]
    wrong = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(200):
            x, w, bias = (
                matrix(rng, 20, 9, "f4"),
                matrix(rng, 6, 9, "f4"),
                matrix(rng, 1, 6, "f4")[0],
            )
            found, g = linear(x, w, bias), np.array(1.0, "f4")
            args = g, found, rng.integers(0, 6, 20), 1, -100
            if not same(found, matmul.linear(x, w, bias)):
                wrong.append(seed)
            if not same(gradient(*args), class_losses.cross_entropy_backward(*args)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


def _stacks(rng: Any, kind: str, shape: tuple[int, ...]) -> list[Any]:
    """A stack of matrices in several layouts."""
    x = rng.standard_normal(shape).astype(kind)
    wide = rng.standard_normal((shape[0] * 2, *shape[1:])).astype(kind)
    return [x, x.swapaxes(1, 2).copy().swapaxes(1, 2), wide[::2], wide[::-2],
            np.broadcast_to(x[:1], shape), np.asfortranarray(x), np.repeat(x, 2, 2)[:, :, ::2],
            x.astype("f8" if kind == "f4" else "f4"), x[0]]  # fmt: skip


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_products_of_stacks(built: Any, kind: str) -> None:
    rng = np.random.default_rng(0)
    plains = Plain(matmul.bmm), Plain(matmul.baddbmm)
    plain_self, plain_mat2 = (Plain(f) for f in bmm.op.formulas)
    of_self = ufunc_loops.short("Product", plain_self, "-pQ")
    of_mat2 = ufunc_loops.short("Product", plain_mat2, "-qP")
    stacks = ufunc_loops.short("Product", plains[0], "pq")
    baddbmm = ufunc_loops.short("Product", plains[1], "cpq11")
    calls = 0
    for n, i, j, k in [
        (1, 1, 1, 1), (2, 4, 4, 4), (3, 1, 5, 2), (5, 3, 1, 4), (4, 2, 3, 1), (0, 2, 3, 4),
        (2, 0, 3, 1), (2, 3, 0, 1), (8, 16, 16, 16), (12, 40, 64, 40),
    ]:  # fmt: skip
        for a in _stacks(rng, kind, (n, i, j)) if n else [np.zeros((0, i, j), kind)]:
            for b in _stacks(rng, kind, (n, j, k)) if n else [np.zeros((0, j, k), kind)]:
                c = rng.standard_normal((n, i, k)).astype(kind)
                for made, plain, args in (
                    (stacks, plains[0], (a, b)), (of_self, plain_self, (xp, c, b)),
                    (of_mat2, plain_mat2, (xp, c, a)), (baddbmm, plains[1], (c, a, b, 1, 1)),
                    (baddbmm, plains[1], (c[:, :1], a, b, 1, 1.0)),
                    (baddbmm, plains[1], (c, a, b, 1, 0.5)),
                    (baddbmm, plains[1], (None, a, b, 1, 1)),
                ):  # fmt: skip
                    try:
                        wanted = plain.function(*args)
                    except Exception as error:
                        with pytest.raises(type(error)):
                            made(*args)
                        continue
                    found = made(*args)
                    assert same(found, wanted)
                    calls += 1
    assert calls > 300
    with pytest.raises(RuntimeError):
        stacks(np.zeros((2, 3, 4), kind), np.zeros((2, 3, 4), kind))
    with pytest.raises(RuntimeError):
        stacks(np.zeros((2, 3, 4), kind), np.zeros((3, 4, 3), kind))
