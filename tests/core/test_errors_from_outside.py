"""An exception from outside, as a signal's handler raises it, ends the call that it strikes."""

import sys
from types import FrameType

import pytest

import rushlight as torch

x, y = torch.ones(6), torch.ones(6)


class TookTooLong(Exception):
    """What a handler of SIGALRM may raise."""


def test_the_call_does_not_go_on_by_another_way() -> None:
    entered = []

    def strike(frame: FrameType, event: str, value: object) -> None:
        if event == "call" and frame.f_code.co_name == "subtract_scaled":
            entered.append(frame)
            raise TookTooLong

    many = torch.ones(50_000)  # more than compiled loops take, which aren't seen from here
    before = sys.getprofile()
    sys.setprofile(strike)
    try:
        with pytest.raises(TookTooLong):
            torch.sub(many, many, alpha=2)
    finally:
        sys.setprofile(before)
    assert len(entered) == 1
    assert torch.equal(torch.sub(many, many, alpha=2), -many)


def test_what_calculating_refuses_is_still_explained() -> None:
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        torch.sub(x, torch.ones(5), alpha=2)
