"""Errors for devices and functions that aren't here say where they were asked for."""

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as rl


@pytest.mark.parametrize(
    "ask",
    [
        lambda: rl.ones(2).cuda(),
        lambda: rl.nn.Linear(2, 2).cuda(),
        lambda: rl.nn.Linear(2, 2).to("cuda"),
        lambda: rl.zeros(2, device="cuda:0"),
        lambda: rl.cuda.get_device_name(0),
        lambda: rl.cuda.CUDAGraph(),
        lambda: rl.ao.quantization.prepare_qat(rl.nn.Linear(2, 2)),
    ],
)
def test_the_note_names_the_line_of_the_program(ask: Callable[[], Any]) -> None:
    with pytest.raises((AssertionError, RuntimeError, NotImplementedError)) as refused:
        ask()
    line = ask.__code__.co_firstlineno
    assert f"{__file__}:{line}" in "".join(refused.value.__notes__)


def test_the_error_for_cuda_says_what_to_do() -> None:
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled") as refused:
        rl.ones(2).cuda()
    assert "torch.cuda.is_available()" in refused.value.__notes__[0]


def test_what_only_pytorchs_compiler_gives_is_refused_with_what_to_do() -> None:
    with pytest.raises(RuntimeError, match=r"torch._inductor.compile") as refused:
        rl._inductor.compile(None)
    assert "torch.compile" in refused.value.__notes__[0]
    assert rl._inductor.list_mode_options("max-autotune")["max_autotune"] is True
    with pytest.raises(RuntimeError, match="Unrecognized mode=fast"):
        rl._inductor.list_mode_options("fast")
