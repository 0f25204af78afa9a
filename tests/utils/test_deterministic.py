"""Determinism on demand: operations that refuse, and memory that is filled."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True


MAKERS: list[Callable[[Any], Any]] = [
    lambda d: torch.empty(3, 2, dtype=d),
    lambda d: torch.empty(3, out=torch.zeros(1, dtype=d)),
    lambda d: torch.empty_like(torch.zeros(2, 3, dtype=d).t()),
    lambda d: torch.empty_strided((2, 3), (1, 4), dtype=d),
    lambda d: torch.empty_permuted((2, 3), (1, 0), dtype=d),
    lambda d: torch.zeros(1, dtype=d).new_empty(3),
    lambda d: torch.zeros(1, dtype=d).new(3),
    lambda d: torch.zeros(0, dtype=d).resize_(3),
]


@pytest.mark.parametrize("make", MAKERS)
def test_fresh_memory_is_filled(make: Callable[[Any], Any]) -> None:
    torch.use_deterministic_algorithms(True)
    for dtype in (torch.float32, torch.bfloat16, torch.complex64):
        assert make(dtype).isnan().all()
    for dtype in (torch.int8, torch.uint16, torch.int64):
        assert make(dtype).eq(torch.iinfo(dtype).max).all()
    assert make(torch.bool).all()


def test_memory_that_grows_keeps_what_it_had() -> None:
    torch.use_deterministic_algorithms(True)
    assert torch.ones(2, dtype=torch.int32).resize_(2, 2).tolist() == [[1, 1], [2**31 - 1] * 2]


def test_filling_can_be_turned_off() -> None:
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.use_deterministic_algorithms(True)
    assert not torch.zeros(0).resize_(3).isnan().any()
    with pytest.raises(RuntimeError, match="expected a bool, but got int"):
        torch.utils.deterministic.fill_uninitialized_memory = 1


def test_what_depends_on_the_order_of_writes_refuses_or_warns() -> None:
    a, at, values = torch.zeros(4), torch.tensor([0, 0]), torch.tensor([1.0, 2.0])
    planes = torch.zeros(1, 1, 2, 2), torch.zeros(1, 1, 2, 2, dtype=torch.int64)
    calls = [
        ("put_", lambda: a.put_(at, values)),
        ("put_", lambda: a.put(at, values)),
        ("max_unpooling2d_forward_out", lambda: torch.nn.functional.max_unpool2d(*planes, 2)),
    ]
    for name, call in calls:
        torch.use_deterministic_algorithms(True)
        with pytest.raises(RuntimeError, match=f"^{name} does not have a deterministic impl"):
            call()
        torch.use_deterministic_algorithms(True, warn_only=True)
        with pytest.warns(UserWarning, match=f"^{name} does not have a deterministic impl"):
            call()
    torch.use_deterministic_algorithms(True)
    assert a.put(at, values, accumulate=True).tolist()[1:] == [0.0, 0.0, 0.0]


def test_the_switch_takes_bools_and_keeps_both() -> None:
    torch.use_deterministic_algorithms(False, warn_only=True)
    assert torch.is_deterministic_algorithms_warn_only_enabled()
    assert torch.get_deterministic_debug_mode() == 0
    with pytest.raises(TypeError, match=r"argument 'mode' \(position 1\) must be bool, not int"):
        torch.use_deterministic_algorithms(1)
    with pytest.raises(TypeError, match="argument 'warn_only' must be bool, not int"):
        torch.use_deterministic_algorithms(True, warn_only=0)
    with pytest.raises(TypeError, match="debug_mode must be str or int, but got <class 'float'>"):
        torch.set_deterministic_debug_mode(1.0)
