"""Modes: per context, restored whatever happens, untouched by suspended generators and tasks."""

import asyncio
import contextvars
import pickle
import threading
import types

import pytest

import rushlight as torch

graph = torch.autograd.graph


def test_contexts_nest_and_an_exception_restores() -> None:
    seen = []
    try:
        with torch.no_grad():
            seen.append(torch.is_grad_enabled())
            with torch.enable_grad():
                seen.append(torch.is_grad_enabled())
                raise KeyError
    except KeyError:
        seen.append(torch.is_grad_enabled())
    assert seen == [False, True, True]


def test_one_context_object_remembers_one_former_mode() -> None:
    mode = torch.no_grad()
    for _ in range(2):
        with mode:
            assert not torch.is_grad_enabled()
        assert torch.is_grad_enabled()
    try:
        with mode, mode:
            assert not torch.is_grad_enabled()
        assert not torch.is_grad_enabled()  # as in PyTorch: the second entry found it off
    finally:
        torch.set_grad_enabled(True)


def test_a_generator_suspended_inside_a_mode_restores_only_its_own_switch() -> None:
    def suspended():
        with torch.no_grad():
            yield

    generator = suspended()
    next(generator)
    packed = []
    with graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
        generator.close()  # leaves no_grad while the hooks are on
        assert torch.is_grad_enabled()
        x = torch.ones(2, requires_grad=True)
        x * x
    assert len(packed) == 2
    x * x
    assert len(packed) == 2


def test_a_mode_may_be_left_in_another_context_than_it_was_entered_in() -> None:
    mode = torch.no_grad()
    contextvars.copy_context().run(mode.__enter__)
    mode.__exit__(None, None, None)
    assert torch.is_grad_enabled()


def test_a_decorated_generator_switches_at_each_step() -> None:
    @torch.no_grad()
    def steps():
        got = yield torch.is_grad_enabled()
        while True:
            got = yield (got, torch.is_grad_enabled())

    generator = steps()
    seen = [next(generator), torch.is_grad_enabled(), generator.send("a"), torch.is_grad_enabled()]
    generator.close()
    assert seen == [False, True, ("a", False), True]


def test_tasks_that_interleave_keep_their_own_modes() -> None:
    seen: list[tuple[str, bool]] = []

    async def off(name: str) -> None:
        with torch.no_grad():
            await asyncio.sleep(0)
            seen.append((name, torch.is_grad_enabled()))
            await asyncio.sleep(0)
        seen.append((name, torch.is_grad_enabled()))

    async def on(name: str) -> None:
        for _ in range(3):
            seen.append((name, torch.is_grad_enabled()))
            await asyncio.sleep(0)

    async def main() -> None:
        await asyncio.gather(off("off"), on("on"))

    asyncio.run(main())
    assert {s for s in seen if s[0] == "on"} == {("on", True)}
    assert [s[1] for s in seen if s[0] == "off"] == [False, True]


def test_a_new_thread_starts_with_gradients_enabled() -> None:
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_anomaly_mode_reaches_threads_that_start_inside() -> None:
    seen = []
    with torch.autograd.set_detect_anomaly(True):
        thread = threading.Thread(target=lambda: seen.append(torch.is_anomaly_enabled()))
        thread.start()
        thread.join()
    assert seen == [True] and not torch.is_anomaly_enabled()


def test_set_grad_enabled_acts_at_once_and_restores_as_a_context() -> None:
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)


def test_a_tensor_made_in_inference_mode_stays_out_of_graphs() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        y = x * 2
        with torch.enable_grad():
            z = x * 2
    assert y.is_inference() and z.is_inference()
    assert not y.requires_grad and not z.requires_grad


def test_backward_runs_under_no_grad_and_leaves_the_mode_alone() -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    with torch.no_grad():
        y.backward()
        assert not torch.is_grad_enabled()
    assert x.grad.tolist() == [2.0, 2.0]


def test_inference_mode_switched_off_records_even_under_no_grad() -> None:
    with torch.no_grad(), torch.inference_mode(False):
        assert torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_views_of_inference_tensors_are_no_views() -> None:
    with torch.inference_mode():
        x = torch.ones(2, requires_grad=True)
    y = x[:1]
    assert y.is_inference() and not y._is_view() and not y.requires_grad
    assert (x * 2).requires_grad and not (x + x).requires_grad


def test_a_refused_write_to_an_inference_tensor_has_been_made() -> None:
    with torch.inference_mode():
        x = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        x.add_(1)
    assert x.tolist() == [2.0, 2.0]


def test_what_is_detached_from_an_inference_tensor_has_a_version() -> None:
    with torch.inference_mode():
        x = torch.ones(2)
    y = x.detach()
    assert y.is_inference() and y._version == 0
    y.add_(1)
    assert y._version == 1 and x.tolist() == [2.0, 2.0]


def test_only_a_bool_switches_recording() -> None:
    with pytest.raises(TypeError, match="must be bool, not int"):
        torch.set_grad_enabled(1)
    assert repr(torch.set_grad_enabled(True)).endswith("set_grad_enabled(mode=True)")


def test_views_can_remember_the_operations_that_made_them() -> None:
    base = torch.ones(2, 3, requires_grad=True) * 1
    with torch.autograd._force_original_view_tracking(True):
        row = base[0]
    other = base[0]
    base.mul_(2)
    assert row.grad_fn.name() == "SelectBackward0"
    assert other.grad_fn.name() == "AsStridedBackward0"


def test_a_preserved_version_lets_backward_use_what_was_written() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    z = y * y
    with torch.autograd._unsafe_preserve_version_counter(y):
        y.mul_(3)
    z.sum().backward()
    assert y._version == 0 and x.grad.tolist() == [6.0, 6.0]


def test_a_decorated_function_stands_in_a_file_whose_globals_can_be_pickled() -> None:
    # Whoever pickles it by value (dill, cloudpickle) takes them along.
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    for mode in (torch.no_grad(), torch.enable_grad(), torch.inference_mode()):
        space = mode(double).__globals__
        for name, value in space.items():
            if not name.startswith("__") and not isinstance(value, types.ModuleType):
                pickle.dumps(value)
