"""Saved values: version checks, hooks that pack and unpack, files, release."""

import errno
import gc
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

import pytest

import rushlight as torch

graph = torch.autograd.graph


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_a_write_to_a_saved_input_is_found_and_the_message_names_it() -> None:
    y = torch.ones(3, requires_grad=True) * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError) as caught:
        z.sum().backward()
    text = str(caught.value)
    assert (
        "[torch.FloatTensor [3]], which is output 0 of Add, is at version 1; expected version 0"
        in text
    )


def test_a_write_to_a_saved_output_is_found() -> None:
    y = torch.ones(2, requires_grad=True).exp()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="which is output 0 of Exp, is at version 1"):
        y.sum().backward()


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("copysign", False, True), ("pow", True, False), ("ldexp", True, False)],
)
def test_a_result_is_saved_whichever_operand_requires_grad(
    name: str, first: bool, second: bool
) -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=first)
    b = torch.tensor([-1.0, 3.0], requires_grad=second)
    y = getattr(torch, name)(a, b)
    y.exp_()
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.sum().backward()


def test_nextafter_saves_no_operand_for_a_gradient_that_is_zero() -> None:
    x = torch.ones(2)
    b = leaf(1.0, 2.0)
    doubled = b * 2
    y = torch.nextafter(x, doubled)
    doubled.mul_(3)
    y.sum().backward()
    assert b.grad.tolist() == [0.0, 0.0]


def test_a_write_to_what_was_not_saved_is_harmless() -> None:
    x = leaf(1.0)
    y = x * 2
    z = y + 1
    y.mul_(7)
    z.backward()
    assert x.grad.item() == 2.0


def test_a_write_through_detach_is_found_and_one_through_data_is_not() -> None:
    x = leaf(3.0)
    z = x * x
    x.data.mul_(5)
    z.backward()
    assert x.grad.item() == 30.0
    z = x * x
    x.detach().mul_(5)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_hooks_see_values_in_the_order_of_saving_and_of_use() -> None:
    x, y = leaf(2.0), leaf(3.0)
    log: list[tuple[str, float]] = []
    hooks = graph.saved_tensors_hooks(
        lambda t: (log.append(("pack", t.item())), t)[1],
        lambda t: (log.append(("unpack", t.item())), t)[1],
    )
    with hooks:
        z = x * y
    z.backward()
    assert log == [("pack", 3.0), ("pack", 2.0), ("unpack", 3.0), ("unpack", 2.0)]


def test_what_unpack_returns_is_what_the_formula_uses() -> None:
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t * 4, lambda t: t):
        z = x * x
    z.backward()
    assert x.grad.item() == 16.0


def test_the_innermost_hooks_count() -> None:
    x = leaf(2.0)
    seen: list[str] = []

    def pair(name: str) -> graph.saved_tensors_hooks:
        return graph.saved_tensors_hooks(lambda t: seen.append(name) or t, lambda t: t)

    with pair("outer"):
        x.exp()
        with pair("inner"):
            x.exp()
        x.exp()
    x.exp()
    assert seen == ["outer", "inner", "outer"]


def test_an_operation_inside_a_pack_hook_is_not_packed_itself() -> None:
    x = leaf(2.0)
    depth = []

    def pack(t: torch.Tensor) -> torch.Tensor:
        depth.append(torch.is_grad_enabled())
        return t * 1.0

    with graph.saved_tensors_hooks(pack, lambda t: t):
        x * x
    assert depth == [False, False]


def test_a_pack_hook_must_not_write() -> None:
    x = leaf(2.0)
    refused = pytest.raises(RuntimeError, match="pack hook is modifying its input in place")
    with graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t), refused:
        x * x


def test_an_unpack_hook_must_return_a_tensor() -> None:
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 5):
        y = x * x
    with pytest.raises(TypeError, match="expected to be a Tensor but got result of type int"):
        y.backward()


def test_a_pack_hook_that_raises_stops_the_operation_and_nothing_else() -> None:
    x = leaf(2.0)

    def pack(t: torch.Tensor) -> torch.Tensor:
        raise OSError("disk full")

    with graph.saved_tensors_hooks(pack, lambda t: t), pytest.raises(OSError, match="disk full"):
        x * x
    y = x * x
    y.backward()
    assert x.grad.item() == 4.0


def test_disabled_hooks_raise_the_given_message() -> None:
    hooks = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    here, there = (
        pytest.raises(RuntimeError, match="not here"),
        pytest.raises(RuntimeError, match="nor"),
    )
    with graph.disable_saved_tensors_hooks("not here"), here:
        hooks.__enter__()
    with hooks, there:
        graph.disable_saved_tensors_hooks("nor here").__enter__()


def test_hooks_of_one_node_are_registered_once_and_pack_at_once() -> None:
    x = leaf(2.0)
    y = x.exp()
    raw = y.grad_fn._raw_saved_result
    log: list[str] = []
    raw.register_hooks(lambda t: log.append("pack") or t, lambda t: log.append("unpack") or t)
    assert log == ["pack"]
    with pytest.raises(RuntimeError, match="only one pair of hooks is allowed"):
        raw.register_hooks(lambda t: t, lambda t: t)
    y.backward()
    assert log == ["pack", "unpack"]


def test_a_packed_output_keeps_its_history_for_a_second_derivative() -> None:
    x = leaf(0.5)
    with graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        y = x.exp()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert h.item() == pytest.approx(y.item())


def test_tensors_saved_on_disk_come_back_and_their_files_go(tmp_path: pathlib.Path) -> None:
    x = torch.rand(64, 64, requires_grad=True)
    with graph.save_on_disk(tmp_path, min_bytes=1024):
        y = (x.exp() * x).sum()
    assert len(list(tmp_path.iterdir())) == 3
    y.backward()
    assert list(tmp_path.iterdir()) == []
    expected = x.detach().exp() * (x.detach() + 1)
    assert (x.grad - expected).abs().max().item() < 1e-5


def test_files_go_with_a_graph_that_never_ran(tmp_path: pathlib.Path) -> None:
    x = torch.rand(64, 64, requires_grad=True)
    with graph.save_on_disk(tmp_path, min_bytes=1024):
        y = x.exp()
    assert len(list(tmp_path.iterdir())) == 1
    del y
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_small_tensors_and_odd_layouts_survive_the_disk(tmp_path: pathlib.Path) -> None:
    x = torch.rand(6, 4, requires_grad=True)
    with graph.save_on_disk(tmp_path, min_bytes=90):
        y = (x.t() * x.t()).sum() + (x * 2.0).sum()
    y.backward()
    assert (x.grad - (2 * x.detach() + 2)).abs().max().item() < 1e-6


def test_a_full_disk_is_an_error_that_loses_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.rand(64, 64, requires_grad=True)
    from rushlight._array.memory import disk

    with graph.save_on_disk(tmp_path, min_bytes=1024):
        y = x.exp()

        def full(file: object, array: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(disk, "write", full)
            with pytest.raises(OSError, match="No space left on device") as caught:
                y * y
        assert caught.value.errno == errno.ENOSPC and str(tmp_path) in str(caught.value)
        assert len(list(tmp_path.iterdir())) == 1
        z = (y * y).sum()
    z.backward()
    assert (x.grad - 2 * (2 * x.detach()).exp()).abs().max().item() < 1e-3


LIMITED = """
import os, resource, signal, sys
import rushlight as torch

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
x = torch.rand(100, 100, requires_grad=True)
with torch.autograd.graph.save_on_disk(sys.argv[1], min_bytes=1024):
    y = x.exp()
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
    try:
        y * y
    except OSError as error:
        print(error.strerror.split(".")[0])
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    z = (y * y).sum()
    unused = y.exp()
print(len(os.listdir(sys.argv[1])))
z.backward()
print((x.grad - 2 * (2 * x.detach()).exp()).abs().max().item() < 1e-3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits on file sizes are POSIX's")
def test_a_limit_on_file_sizes_is_told_and_files_go_when_the_process_ends(
    tmp_path: pathlib.Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=True
    )
    told, count, right = done.stdout.splitlines()
    assert told.startswith("can't keep a saved tensor of 40000 bytes") and "too large" in told
    assert int(count) == 4 and right == "True"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_isnt_there_is_refused_on_entering(tmp_path: pathlib.Path) -> None:
    with pytest.raises(OSError, match="not a folder that can be written"):
        graph.save_on_disk(tmp_path / "missing").__enter__()


def test_saved_tensors_may_be_written_where_that_is_allowed() -> None:
    x = leaf(2.0)
    with graph.allow_mutation_on_saved_tensors() as context:
        y = x * 1
        z = y * y
        w = y.exp()
        y.mul_(100.0)
        w.zero_()
        assert len(context.cloned) == 2 and not context.original
        z.backward()
    assert x.grad.item() == 4.0


def test_a_saved_tensor_is_copied_only_when_it_is_written() -> None:
    x = leaf(2.0)
    with graph.allow_mutation_on_saved_tensors() as context:
        y = x * 1
        z = y.exp()
        assert len(context.original) == 1 and not context.cloned
        del z
        assert not context.original


def test_allowed_writes_end_with_their_context() -> None:
    x = leaf(2.0)
    with graph.allow_mutation_on_saved_tensors():
        z = (x * 1) ** 2
        with pytest.raises(RuntimeError, match="cannot be nested"):
            graph.allow_mutation_on_saved_tensors().__enter__()
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors'"):
        z.backward()


def test_saved_values_are_unpacked_once_for_a_run() -> None:
    x, y = leaf(3.0), leaf(2.0)
    seen: list[float] = []
    with graph.saved_tensors_hooks(lambda t: t, lambda t: (seen.append(t.item()), t)[1]):
        z = x / y
    z.backward()
    assert seen == [2.0, 3.0]


def test_a_pack_hook_gets_results_with_their_history() -> None:
    x = leaf(1.0)
    seen = []
    with graph.saved_tensors_hooks(lambda t: (seen.append(t), t.detach())[1], lambda t: t):
        y = x.exp()
    assert seen[0] is y and seen[0].grad_fn is y.grad_fn


def test_hooks_on_a_saved_list_reach_the_item_they_are_put_on() -> None:
    x = leaf(1.0, 2.0, 3.0)
    y = x[torch.tensor([0, 2])]
    y.grad_fn._raw_saved_indices[0].register_hooks(lambda t: t, lambda t: t * 0)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 0.0]


@pytest.mark.parametrize("exchange", ["another file", "shorter", "longer"])
def test_a_saved_file_that_somebody_exchanged_is_not_read(
    tmp_path: pathlib.Path, exchange: str
) -> None:
    x = torch.ones(1000, requires_grad=True)
    with torch.autograd.graph.save_on_disk(tmp_path, min_bytes=1):
        y = (x * x).sum()
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        if exchange == "another file":
            other = tmp_path / "other"
            other.write_bytes(content)
            other.replace(file)
        else:
            file.write_bytes(content[:-4] if exchange == "shorter" else content + bytes(4))
    with pytest.raises(OSError, match="somebody has"):
        y.backward()


def test_gradients_from_what_hooks_unpack_are_brought_to_their_inputs() -> None:
    for shape in [(2, 3), (2, 1), (3,), ()]:
        x = torch.ones(shape, requires_grad=True)
        with graph.saved_tensors_hooks(
            lambda t: None, lambda _: torch.ones(5, 2, 3, dtype=torch.float64)
        ):
            y = (x * x).sum()
        for recorded in (False, True):
            (g,) = torch.autograd.grad(y, x, retain_graph=True, create_graph=recorded)
            assert g.shape == x.shape and g.dtype is torch.float32
            assert g.sum() == 60
    x = torch.ones(4, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: None, lambda _: torch.ones(5, 1)):
        y = (x * x).sum()
    y.backward()
    x = torch.ones(4, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: None, lambda _: torch.ones(2, 1, 3)):
        y = torch.tensor(1.0, requires_grad=True) * x[0]
        z = x.prod()
    y.backward()
    with pytest.raises(RuntimeError, match="returned an invalid gradient at index 0 - got"):
        z.backward()


def test_a_node_unpacks_what_it_saved_though_no_gradient_reaches_it() -> None:
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    for make in (lambda x: x * 2, lambda x: torch.linalg.solve(x, x), lambda x: x.prod(0)):
        y = Nothing.apply(make(torch.eye(2, requires_grad=True))).sum()
        z = y * 1
        y.backward(retain_graph=True)
        y.backward()
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            z.backward()


def test_products_of_vectors_with_stacks_are_computed_where_hooks_save_them() -> None:
    a, b = torch.ones(3, requires_grad=True), torch.ones(2, 3, 4)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = a @ b
        with pytest.raises(RuntimeError, match="need to be at least 1D, but they are 0D and 2D"):
            torch.matmul(a.sum(), b[0])
    assert y.tolist() == [[3.0] * 4] * 2
    y.sum().backward()
    assert a.grad.tolist() == [8.0] * 3


def test_a_layer_refuses_a_number_where_hooks_save_it() -> None:
    weight, bias = torch.ones(2, 2, requires_grad=True), torch.ones(2)
    with (
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        pytest.raises(RuntimeError, match="linear need to be at least 1D, but they are 0D and 2D"),
    ):
        torch.nn.functional.linear(torch.tensor(1.0), weight, bias)


@pytest.mark.parametrize("name", ["logsumexp", "amax", "std"])
def test_a_formula_that_can_not_use_what_was_unpacked_says_so(name: str) -> None:
    x = torch.rand(2, 3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 7, lambda t: torch.ones(2, 3)):
        y = getattr(x, name)(0)
    with pytest.raises(RuntimeError, match="a hook has unpacked one to another shape or type"):
        y.sum().backward()
    assert x.grad is None


def test_take_keeps_what_it_takes_from() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    z = y.take(torch.tensor([0, 0]))
    y.exp_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


@pytest.mark.parametrize(
    "layer",
    [
        lambda x: torch.nn.functional.conv1d(x[None], x[None]),
        lambda x: torch.nn.functional.batch_norm(x, None, None, training=True),
    ],
)
def test_a_freed_node_is_refused_though_none_of_its_gradients_is_wanted(
    layer: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    x = torch.rand(2, 2, requires_grad=True)
    y = layer(x)
    torch.autograd.grad(y.sum(), x)
    with pytest.raises(RuntimeError, match="through the graph a second time"):
        y.sum().backward(inputs=[y])
