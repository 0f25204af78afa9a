"""Kernels that functions on small arrays call for larger ones."""

import gc
import sys
import threading
from typing import Any

import numpy as np
import pytest

from tests.native.loops import Plain, same


class Kernel:
    """Doubles an array and adds a number, as a kernel's builtin does, or says no."""

    def __init__(self, answer: Any = None) -> None:
        self.calls = self.asked = 0
        self.answer = answer

    def __call__(self, elements: int, columns: int, state: int, *rest: Any) -> Any:
        self.calls += 1
        x, number, out = rest
        assert (elements, columns, state) == (x.size, 4096, 0) and type(number) is float
        if isinstance(self.answer, BaseException):
            raise self.answer
        if self.answer is None:
            out[...] = 2 * x + number
        return self.answer

    def of(self, dtype: Any) -> Any:
        self.asked += 1
        return (self, 50_000) if dtype == np.float32 else None


def made_with(build: Any, kernel: Any, loader: Any = None) -> tuple[Any, Plain]:
    plain = Plain(lambda x, n: x + x + n)
    steps = (("u", np.add, "fff", bytes((0, 0, 2))), ("u", np.add, "fff", bytes((2, 1, 3))))
    chain = ((), (), 0, 1, False, steps, 3, 8192, False, loader or kernel.of, 4096)
    made = build(plain, lambda: ("fs", (chain,)), "fs", 0, 1 << 20)
    made(np.ones(3, np.float32), 1.0)
    assert made.known
    plain.calls = 0
    return made, plain


def test_a_kernel_is_asked_for_once_and_takes_arrays_in_order(build: Any) -> None:
    kernel = Kernel()
    made, plain = made_with(build, kernel)
    for size in (3, 4095, 4096, 9000, 49_999):
        x = np.arange(size, dtype=np.float32)
        for _ in range(3):
            assert same(made(x, 1), 2 * x + np.float32(1))
    assert (kernel.calls, kernel.asked, plain.calls) == (9, 1, 0)
    x = np.ones((80, 90), np.float32)
    assert same(made(x, 1.0), 2 * x + np.float32(1)) and kernel.calls == 10


def test_what_a_kernel_does_not_take_goes_on(build: Any) -> None:
    kernel = Kernel()
    made, plain = made_with(build, kernel)
    x = np.ones((80, 90), np.float32)
    for given, number in (
        (x.T, 1.0), (x[::2], 1.0), (x.astype(np.float64), 1.0), (np.ones(50_000, np.float32), 1.0),
        (x, float("inf")), (x, 1e39), (np.broadcast_to(np.float32(2), (80, 90)), 1.0),
        (x.astype(np.float16), 1.0), (np.ones(0, np.float32), 1.0), (x, 10**30), (x, True),
    ):  # fmt: skip
        found, wanted = made(given, number), plain(given, number)
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype
    assert kernel.calls == 0 and kernel.asked == 2
    with pytest.raises(TypeError):
        made(x, "1")


@pytest.mark.parametrize("size", [5000, 9000])
def test_a_kernel_that_says_no_leaves_it_to_the_others(build: Any, size: int) -> None:
    kernel = Kernel(NotImplemented)
    made, plain = made_with(build, kernel)
    x = np.ones(size, np.float32)
    assert same(made(x, 1.0), x + x + np.float32(1))
    assert kernel.calls == 1 and plain.calls == (size > 8192)


def test_errors_are_passed_on(build: Any) -> None:
    made, _ = made_with(build, Kernel(KeyError("no")))
    x = np.ones(5000, np.float32)
    with pytest.raises(KeyError):
        made(x, 1.0)

    def fail(dtype: object) -> None:
        raise LookupError

    made, _ = made_with(build, None, fail)
    with pytest.raises(LookupError):
        made(x, 1.0)
    for wrong in ((1,), 5, ("a", "b")):
        made, _ = made_with(build, None, lambda dtype, wrong=wrong: wrong)
        with pytest.raises((TypeError, SystemError)):
            made(x, 1.0)


def test_nothing_is_kept(build: Any) -> None:
    x = np.ones(5000, np.float32)
    for answer in (None, NotImplemented, KeyError("no")):
        kernel = Kernel(answer)
        made, _ = made_with(build, kernel)
        for _ in range(3):
            try:
                made(x, 1.5)
            except KeyError:
                kernel.answer.__traceback__ = None
        counts = sys.getrefcount(x), sys.getrefcount(kernel), sys.getrefcount(np.dtype("f4"))
        for _ in range(100):
            try:
                made(x, 1.5)
            except KeyError:
                kernel.answer.__traceback__ = None
        now = sys.getrefcount(x), sys.getrefcount(kernel), sys.getrefcount(np.dtype("f4"))
        assert now == counts
        del made
        gc.collect()
        assert sys.getrefcount(kernel) < counts[1]


def test_a_kernel_may_call_its_function_and_threads_may_ask_at_once(build: Any) -> None:
    x, kernel = np.ones(5000, np.float32), Kernel()
    asked = []

    def ask_again(dtype: Any) -> Any:
        if len(asked) < 3:
            asked.append(0)
            made(x, 1.0)
        return kernel.of(dtype)

    made, _ = made_with(build, None, ask_again)
    assert float(made(x, 1.0)[0]) == 3
    made, _ = made_with(build, kernel)
    found: list[float] = []
    threads = [threading.Thread(target=lambda: found.append(float(made(x, 1.0)[0])))
               for _ in range(8)]  # fmt: skip
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [3.0] * 8
