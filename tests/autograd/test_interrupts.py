"""Ctrl-C inside a context's `__enter__` or `__exit__`, or inside an operation: modes stay right."""

import sys

import pytest

import rushlight as torch
from tests.attack import interrupts

# Places are found in CPython's own instructions.
pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython" or sys.version_info[:2] not in ((3, 11), (3, 12)),
    reason="places where signals are asked for are told for these versions",
)
SCENES = sorted(set(interrupts.SCENES) - interrupts.AT_ONCE - {"vmap", "jvp", "create_graph"})


@pytest.mark.parametrize("name", SCENES)
def test_an_interrupt_anywhere_leaves_every_switch_as_it_was(name: str) -> None:
    if sys.gettrace() is not None:
        pytest.skip("somebody else traces")
    places, broken = interrupts.at_every_place(interrupts.SCENES[name], most=250)
    assert broken == []
    assert places >= 3  # fewer where the core is compiled


def test_inference_mode_that_is_interrupted_at_its_very_end_ends_with_its_object() -> None:
    mode = torch.inference_mode()
    mode.__enter__()
    assert torch.is_inference_mode_enabled()
    del mode  # what an interrupted `__exit__` leaves of it
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()


def test_one_inference_mode_object_may_be_entered_inside_itself() -> None:
    mode = torch.inference_mode()
    for _ in range(3):
        with mode:
            with mode:
                assert torch.is_inference_mode_enabled()
            assert torch.is_inference_mode_enabled()
        assert not torch.is_inference_mode_enabled()
