"""What small arrays' short ways must stand: odd operands, modes, threads, forks, no memory left."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rushlight.overrides import TorchFunctionMode

import rushlight as torch
import rushlight.nn.functional as F
from rushlight._array import numpy_namespace
from rushlight._array.elementwise import chains, erf
from rushlight._array.elementwise.masks import order_results
from rushlight._array.reduce import extreme, reduce, scan, sort, variance
from rushlight._array.shape import concatenate, rearrange, scatter
from rushlight._native import ufunc_loops
from rushlight._table.rows import small_arrays
from rushlight.utils._python_dispatch import TorchDispatchMode
from tests.native.loops import Plain, module, same

Function = Callable[..., Any]
SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan, 6.1, 6.3, -6.3,
    0.5, 20.5, -20.5, 1e6, -1e6, 1e-8, 27.4, -27.4, 88.9, 1e-310,
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The extension modules, in their places."""
    folder = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ufunc_loops, "FUNCTION", module("chains", folder).Function)
        patch.setattr(ufunc_loops, "REDUCTIONS", module("reductions", folder))
        patch.setattr(ufunc_loops, "VIEWS", module("views", folder))
        patch.setattr(ufunc_loops, "PRODUCTS", module("products", folder))
        patch.setattr(ufunc_loops, "PLACES", module("places", folder))
        patch.setattr(ufunc_loops, "ORDERS", module("orders", folder))
        patch.setattr(ufunc_loops, "COPIES", module("copies", folder))
        yield


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def chained(function: Function, kinds: str) -> tuple[Any, Plain]:
    plain = Plain(function)
    maker = lambda: chains.chains_of(function, lambda: None, kinds)  # noqa: E731
    made = ufunc_loops.FUNCTION(plain, maker, kinds, 0, ufunc_loops.MOST)  # type: ignore[misc]
    made(*[numpy_namespace if kind == "-" else np.ones(2, np.float32) for kind in kinds])
    assert made.known
    plain.calls = 0
    return made, plain


@pytest.mark.parametrize("function", [erf.erf, erf.erfc, erf.gelu])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_functions_that_numpy_lacks(function: Function, dtype: str) -> None:
    made, plain = chained(order_results(function), "f")
    taken = 64 if function is not erf.gelu else 2048 if dtype == "f4" else 0
    rng = np.random.default_rng(1)
    for size in (1, 3, 16, 63, 64, 65, 255, 256, 257, 2048, 2049):
        many = np.concatenate([np.array(SPECIAL, dtype), 4 * rng.standard_normal(99).astype(dtype)])
        x = np.resize(rng.permutation(many), size)
        for one in (x, x.reshape(1, size, 1), x[:1].reshape(())):
            before = plain.calls
            assert same(made(one), function(one)), (size, one.shape)
            assert (plain.calls == before) == (one.size <= taken)
    x = np.resize(many, (4, 6))
    for odd in (
        x.T, x[:, ::2], x[::-1], x[:0], x.astype("f2"),
        np.broadcast_to(x[0, 0], (3, 4)), np.zeros(17 * 4 + 1, np.uint8)[1:].view("f4"),
    ):  # fmt: skip
        before = plain.calls
        assert same(made(odd), order_results(function)(odd))
        assert plain.calls == before + 1


def test_the_gradient_of_gelu() -> None:
    def gradient(xp: Any, g: Any, x: Any) -> Any:
        return erf.gelu_backward(g, x)

    gradient.plain = erf.gelu_backward  # type: ignore[attr-defined]
    made, plain = chained(gradient, "-ff")
    rng = np.random.default_rng(2)
    for size in (1, 16, 300, 2048):
        x = np.resize(np.array([*SPECIAL, *rng.standard_normal(99)], "f4"), size)
        g = rng.standard_normal(size).astype("f4")
        spread = np.broadcast_to(np.float32(0.3), x.shape)
        for given in (g, spread):
            assert same(made(numpy_namespace, given, x), erf.gelu_backward(given, x))
    assert not plain.calls
    double = x.astype(np.float64)
    assert same(made(numpy_namespace, double, double), erf.gelu_backward(double, double))
    assert plain.calls == 1


def short_ways() -> list[tuple[Function, tuple[Any, ...]]]:
    """Functions of each extension module, with operands that they take."""
    x = np.linspace(-2, 2, 240, dtype=np.float32).reshape(12, 20)
    views = {letters[0]: ufunc_loops.view(f, letters) for f, letters in small_arrays.VIEWS.items()}
    product = ufunc_loops.short("Product", numpy_namespace.matmul, "ab")
    return [
        (chained(erf.gelu, "f")[0], (x,)),
        (ufunc_loops.reduction(reduce.sum, "Sdk"), (x, 1, False)),
        (ufunc_loops.reduction(scan.cumsum, "Cd"), (x, 0)),
        (views["V"], (x, (20, 12))),
        (views["L"], (x, 1, 2, 9, 1)),
        (product, (x, x.T)),
        (ufunc_loops.reduction(variance.var_and_mean, "Udck"), (x, 1, 1, False)),
        (ufunc_loops.order(sort.sort, "sdf"), (x, 1, True)),
        (ufunc_loops.order(extreme.max_along, "Mdf"), (x, 0, False)),
        (ufunc_loops.copy(rearrange.flip, "Fd"), (x, (0, 1))),
        (ufunc_loops.copy(concatenate.cat, "Jd"), ([x, x], 1)),
        (ufunc_loops.places(scatter.index_select, "Idi"), (x, 0, np.array([3, 0, 3]))),
        (chained(numpy_namespace.multiply, "ff")[0], (x, x[0])),
    ]


def parts(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def test_threads_share_the_short_ways_and_forks_go_on_with_them() -> None:
    ways = short_ways()
    wanted = [function(*args) for function, args in ways]
    end = time.monotonic() + 2
    wrong: list[Any] = []

    def work() -> None:
        while time.monotonic() < end and not wrong:
            for (function, args), value in zip(ways, wanted, strict=True):
                found = function(*args)
                pairs = zip(parts(found), parts(value), strict=True)
                if not all(same(a, b) for a, b in pairs):
                    wrong.append(function)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    work()
    for one in threads:
        one.join()
    assert not wrong
    program = (
        "import os, rushlight as torch\n"
        "x = torch.ones(4, 4)\n"
        "g = lambda: torch.nn.functional.gelu(x).sum(1).view(2, 2) @ x[:2, :2]\n"
        "f = lambda: g().sort()[0].flip(0).tolist()\n"
        "wanted = [f() for _ in range(40)][-1]\n"
        "for _ in range(10):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        os._exit(f() != wanted)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
    )
    if hasattr(os, "fork"):
        subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_they_leave_no_references_behind() -> None:
    ways = short_ways()
    x = ways[0][1][0]

    def calls(count: int) -> None:
        for function, args in ways:
            for _ in range(count):
                function(*args)

    calls(10)
    before = sys.getrefcount(x), sys.getrefcount(x.dtype), sys.getrefcount(None)
    calls(20_000)
    after = sys.getrefcount(x), sys.getrefcount(x.dtype), sys.getrefcount(None)
    assert after[:2] == before[:2] and abs(after[2] - before[2]) < 100


STARVED = """
import resource
import rushlight as torch
x = torch.linspace(-2, 2, 2000)
column, row = x[:500].reshape(500, 1), x[:500].reshape(1, 500)
small = x[:16].reshape(4, 4)
calls = [
    lambda: column @ row, lambda: x * x, lambda: torch.erf(small), lambda: x.cumsum(0),
    lambda: torch.nn.functional.gelu(x), lambda: torch.softmax(small, 1), lambda: small.sum(1),
    lambda: x.sort()[0], lambda: x.topk(9)[0], lambda: x.flip(0), lambda: torch.cat([x, x]),
    lambda: x.reshape(40, 50).triu(), lambda: x.reshape(40, 50).max(0)[0], lambda: small * small[0],
    lambda: x.view(-1, 4), lambda: x.expand(3, 2000), lambda: torch.nn.functional.linear(row, row),
]
for call in calls:
    for _ in range(40):
        call()
wanted = [call().tolist() for call in calls]
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (24 << 20),) * 2)
refused = 0
for call in calls:
    kept = []
    try:
        while len(kept) < 30000:
            kept.append(call())
    except (MemoryError, RuntimeError) as error:
        refused += 1
        del error
    del kept
assert refused >= 3, refused
assert [call().tolist() for call in calls] == wanted
print("as before")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux's")
def test_memory_that_runs_out_is_an_error_and_no_more() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARVED],
        capture_output=True, text=True, timeout=240,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "as before\n"), done.stderr[-2000:]


CALLS: list[Function] = [
    F.gelu, torch.erf, torch.erfc, lambda x: x.sum(1), lambda x: x.cumsum(0), lambda x: x.mean(),
    lambda x: x.view(-1), lambda x: x[1:], lambda x: x.t(), lambda x: x * 2, lambda x: x @ x,
    lambda x: x.softmax(1), lambda x: x.var(0), lambda x: x.masked_fill(x > 0, 5000.0),
    lambda x: x.sort(1)[0], lambda x: x.topk(2)[0], lambda x: x.max(1)[0], lambda x: x.cummax(0)[0],
    lambda x: x.median(1).values, lambda x: torch.var_mean(x, 1)[1], lambda x: x.logcumsumexp(1),
    lambda x: x.nansum(1), torch.trace, lambda x: x.flip(0), lambda x: x.roll(1, 0), torch.rot90,
    torch.triu, lambda x: x.repeat(2, 1), lambda x: torch.cat([x, x]), lambda x: x[1] * x,
    lambda x: torch.stack([x, x], 1), lambda x: x.diagonal(),
    lambda x: x + x[:, :1], lambda x: torch.maximum(x, x[0]), lambda x: x.kthvalue(2)[0],
]  # fmt: skip


class Watch(TorchFunctionMode):
    seen = 0

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        self.seen += 1
        return func(*args, **(kwargs or {}))


class Below(TorchDispatchMode):
    seen = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        self.seen += 1
        return func(*args, **(kwargs or {}))


class Marked(torch.Tensor):
    pass


@pytest.mark.parametrize("call", CALLS)
def test_who_watches_is_asked_and_nothing_changes(call: Function) -> None:
    x = torch.linspace(-2, 2, 16).reshape(4, 4).clone()
    for _ in range(40):  # the short ways are known by now
        wanted = call(x)
    values = wanted.tolist()
    for mode in (Watch(), Below()):
        with mode:
            found = call(x)
        assert found.tolist() == values and found.stride() == wanted.stride() and mode.seen
    marked = call(x.as_subclass(Marked))
    assert type(marked) is Marked and torch.equal(marked.as_subclass(torch.Tensor), wanted)
    with torch.inference_mode():
        found = call(x)
    assert found.tolist() == values and (found.is_inference() or found._is_view())
    leaf = x.clone().requires_grad_()
    with torch.no_grad():
        assert call(leaf).grad_fn is None
    recorded = call(leaf)
    assert recorded.requires_grad and recorded.tolist() == values
    recorded.sum().backward()
    assert leaf.grad is not None and leaf.grad.shape == x.shape
    batched = torch.vmap(call)(torch.stack([x, x]))
    torch.testing.assert_close(batched, torch.stack([wanted, wanted]))
    on_meta = call(x.to("meta"))
    assert on_meta.shape == wanted.shape and on_meta.dtype is wanted.dtype


def test_numbers_lists_and_ranges_by_every_way() -> None:
    for data in ([1, 2, 3], [1.0, 2.5, -0.0], (True, False, True), [1, 2.0, True], [[1, 2, 3]] * 3):
        flat = np.array(data, np.float32 if 2.0 in np.ravel(data) else None)
        assert torch.tensor(data).tolist() == torch.tensor(np.array(data)).tolist()
        assert torch.tensor(data, dtype=torch.float64).tolist() == flat.astype(float).tolist()
    floats = torch.tensor([np.float32(1), np.float32(2), np.float32(3)])
    assert floats.dtype is torch.float32 and torch.tensor([1.0, 2, 3]).dtype is torch.float32
    assert torch.arange(3).tolist() == [0, 1, 2] and torch.arange(True).tolist() == [0]
    assert torch.arange(0, 1.5, 0.5).dtype is torch.float32
    assert torch.arange(torch.tensor(3)).dtype is torch.int64
    with pytest.raises(RuntimeError, match="upper bound and lower bound"):
        torch.arange(3, 1)
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.arange(3 + 1j)
    assert torch.full((2, 2), 300.0).tolist() == [[300.0] * 2] * 2
    for sizes in ((2, True), [2, 1.0], (2, "3"), (np.int64(2), 2)):
        try:
            made = torch.full(sizes, 1.0).shape
        except TypeError as error:
            assert "full" in str(error)
        else:
            assert made == (2, int(sizes[1]))
