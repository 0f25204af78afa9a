"""Function modes, and classes that are no tensors but answer for functions of tensors."""

from typing import Any

import pytest
from rushlight.overrides import (
    TorchFunctionMode,
    handle_torch_function,
    has_torch_function,
    resolve_name,
)

import rushlight as torch


class Duck:
    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return func.__name__


class Log(TorchFunctionMode):
    def __init__(self) -> None:
        self.functions: list[Any] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        self.functions.append(func)
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_the_public_functions() -> None:
    x = torch.ones(2)
    with Log() as log:
        torch.exp(x)
        torch.cat([x, x])
        torch.zeros(2)
    assert log.functions == [torch.exp, torch.cat, torch.zeros]


def test_a_mode_ends_with_its_block() -> None:
    with pytest.raises(ValueError), Log():
        raise ValueError
    assert not torch._core.mode.current().slow


@pytest.mark.parametrize("name", ["exp", "add", "cat", "matmul", "sum"])
def test_another_class_answers(name: str) -> None:
    function = getattr(torch, name)
    arguments = {"add": (torch.ones(1), Duck()), "cat": ([torch.ones(1), Duck()],),
                 "matmul": (Duck(), torch.ones(1))}  # fmt: skip
    assert function(*arguments.get(name, (Duck(),))) == name


def test_a_class_that_has_no_answer_is_an_error() -> None:
    class Refuse:
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            return NotImplemented

    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch.exp'"):
        torch.exp(Refuse())
    with pytest.raises(TypeError, match="no implementation found for"):
        handle_torch_function(torch.exp, (Refuse(),), Refuse())


def test_arguments_that_nobody_takes_stay_type_errors() -> None:
    with pytest.raises(TypeError, match="exp"):
        torch.exp("text")


def test_plain_tensors_have_nothing_to_say() -> None:
    assert not has_torch_function((torch.ones(1), 3))
    assert has_torch_function((torch.ones(1), Duck()))
    assert resolve_name(torch.add) == "torch.add"
