"""Tensors on the device "meta": shapes and types without data, and contexts of devices."""

import copy
import io
import threading
import warnings

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn import functional as F


def _meta(*size: int, **kwargs: object) -> torch.Tensor:
    return torch.empty(*size, device="meta", **kwargs)


def test_a_huge_tensor_without_data_takes_no_memory() -> None:
    weight = _meta(10**6, 10**6)
    assert weight.numel() == 10**12
    assert weight.is_meta and weight.device.type == "meta" and not weight.is_cpu


def test_it_prints_its_size_in_place_of_elements() -> None:
    assert repr(_meta(2, 3)) == "tensor(..., device='meta', size=(2, 3))"
    parameter = nn.Parameter(_meta(2, dtype=torch.float64))
    assert "size=(2,), dtype=torch.float64, requires_grad=True)" in repr(parameter)


def test_operations_give_shapes_types_and_strides() -> None:
    x = _meta(4, 3, 8, 8)
    assert (x + 1).shape == x.shape and (x > 0).dtype is torch.bool
    assert (x.long() / 2).dtype is torch.float32
    assert x.permute(0, 2, 3, 1).stride() == (192, 8, 1, 64)
    assert x.permute(0, 2, 3, 1).contiguous().stride() == (192, 24, 3, 1)
    assert (x @ _meta(8, 5)).shape == (4, 3, 8, 5)
    assert F.conv2d(x, _meta(6, 3, 3, 3), padding=1, stride=2).shape == (4, 6, 4, 4)
    assert F.conv_transpose2d(x, _meta(3, 2, 2, 2), stride=2).shape == (4, 2, 16, 16)
    values, indices = x.max(1)
    assert values.is_meta and indices.dtype is torch.int64 and indices.shape == (4, 8, 8)


@pytest.mark.parametrize("size", [3, 300])
def test_large_operands_give_the_shapes_of_small_ones(size: int) -> None:
    a, b = _meta(2 * size, size), _meta(size, 3 * size)
    assert torch.mm(a, b).shape == (2 * size, 3 * size)
    assert torch.addmm(_meta(3 * size), a, b).shape == (2 * size, 3 * size)
    assert torch.bmm(_meta(2, size, size), _meta(2, size, 5)).shape == (2, size, 5)
    assert (a.unsqueeze(1) * _meta(4, 1)).shape == (2 * size, 4, size)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.mm(a, a)
    with pytest.raises(RuntimeError, match="must match the size"):
        a + _meta(size + 1)


def test_a_layer_as_large_as_a_disk_is_called_in_no_time() -> None:
    layer = nn.Linear(10**5, 10**5, device="meta")
    assert layer(torch.randn(7, 10**5, device="meta")).shape == (7, 10**5)
    assert layer.half().weight.dtype is torch.float16
    weight = layer.weight.detach()
    assert weight.sum(1).shape == weight.t().contiguous().softmax(0)[0].shape == (10**5,)
    assert weight.t().clone().stride() == (1, 10**5) and weight.mean().shape == ()
    with pytest.raises(NotImplementedError, match="of meta tensors of 10000000000 elements"):
        F.layer_norm(weight, (10**5,))


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda d: torch.tensor([1, 2], device=d), (2,)),
        (lambda d: torch.as_tensor([1.0], device=d), (1,)),
        (lambda d: torch.arange(0, 10, 3, device=d), (4,)),
        (lambda d: torch.linspace(0, 1, 5, device=d), (5,)),
        (lambda d: torch.logspace(0, 1, 5, device=d), (5,)),
        (lambda d: torch.eye(3, 2, device=d), (3, 2)),
        (lambda d: torch.full((2,), 1.0, device=d), (2,)),
        (lambda d: torch.rand(2, 2, device=d), (2, 2)),
        (lambda d: torch.randint(0, 3, (4,), device=d), (4,)),
        (lambda d: torch.randperm(5, device=d), (5,)),
        (lambda d: torch.normal(0.0, 1.0, (3,), device=d), (3,)),
        (lambda d: torch.ones_like(torch.ones(2), device=d), (2,)),
        (lambda d: torch.ones(1).new_zeros(3, device=d), (3,)),
        (lambda d: torch.tril_indices(3, 3, device=d), (2, 6)),
        (lambda d: torch.scalar_tensor(1.0, device=d), ()),
    ],
)
def test_whatever_makes_tensors_makes_them_without_data(make: object, size: tuple) -> None:
    torch.manual_seed(0)
    state = torch.get_rng_state()
    with torch.device("meta"):
        assert make("cpu").device.type == "cpu" and make("cpu").shape == size
    torch.set_rng_state(state)
    made = make("meta")
    assert made.is_meta and made.shape == size
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.empty_like(made).is_meta and torch.empty_like(made, device="cpu").is_cpu


def test_reading_data_that_is_not_there_is_refused() -> None:
    x = _meta(1)
    for read in (x.item, lambda: bool(x), lambda: float(x), lambda: torch.allclose(x, x)):
        with pytest.raises(RuntimeError, match="cannot be called on meta tensors"):
            read()
    for read in (x.cpu, x.tolist, lambda: x.to("cpu"), lambda: torch.ones(1).copy_(x)):
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
            read()
    with pytest.raises(TypeError, match="can't convert meta device type tensor to numpy"):
        x.numpy()
    for read in (x.nonzero, lambda: x[x > 0], lambda: torch.unique(x)):
        with pytest.raises(NotImplementedError, match="with Meta tensors"):
            read()


def test_tensors_with_and_without_data_do_not_mix_but_for_numbers() -> None:
    x = _meta(2, 3)
    with pytest.raises(RuntimeError, match="device cpu is not on the expected device meta!"):
        x + torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="device meta is not on the expected device cpu!"):
        torch.ones(2, 3) + x
    assert (x + torch.tensor(1.0)).is_meta
    assert x.copy_(torch.ones(2, 3)) is x


def test_writes_in_place_are_counted_and_recorded() -> None:
    x = _meta(2, 3)
    view = x.view(6)
    x.add_(1).normal_().fill_(2).zero_()
    assert view._version == x._version == 4
    leaf = _meta(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        leaf.add_(1)
    made = leaf * 2
    made.mul_(3)
    assert made.grad_fn.name() == "MulBackward0" and made.is_meta


def test_backward_gives_gradients_without_data() -> None:
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5)
    )
    net.to("meta")
    x = torch.randn(2, 3, 8, 8, device="meta")
    for _ in range(2):
        F.cross_entropy(net(x), torch.zeros(2, dtype=torch.long, device="meta")).backward()
    assert all(p.grad.is_meta and p.grad.shape == p.shape for p in net.parameters())
    (found,) = torch.autograd.grad(net(x).sum(), net[0].weight)
    assert found.is_meta
    torch.optim.Adam(net.parameters()).step()


def test_modules_move_to_meta_and_get_memory_again() -> None:
    module = nn.Linear(3, 4)
    weight = module.weight
    assert module.to("meta") is module and module.weight is weight and weight.is_meta
    with pytest.raises(NotImplementedError, match=r"use torch\.nn\.Module\.to_empty"):
        module.to("cpu")
    module.to_empty(device="cpu")
    assert weight.is_cpu and weight.requires_grad
    nn.init.zeros_(weight), nn.init.zeros_(module.bias)
    assert module(torch.ones(1, 3)).tolist() == [[0.0] * 4]


def test_states_are_assigned_to_modules_without_data() -> None:
    source, target = nn.Linear(3, 4), nn.Linear(3, 4, device="meta")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        target.load_state_dict(source.state_dict())
    texts = [str(warning.message) for warning in found]
    assert [text.partition(" (Did")[0] for text in texts] == [
        f"for {name}: copying from a non-meta parameter in the checkpoint to a meta parameter in "
        "the current model, which is a no-op."
        for name in ("weight", "bias")
    ]
    assert target.weight.is_meta
    target.load_state_dict(source.state_dict(), assign=True)
    assert torch.equal(target.weight, source.weight) and isinstance(target.weight, nn.Parameter)
    with pytest.raises(RuntimeError, match="Cannot copy out of meta tensor"):
        source.load_state_dict(nn.Linear(3, 4, device="meta").state_dict())


def test_initialising_without_data_draws_nothing() -> None:
    torch.manual_seed(0)
    wanted = torch.rand(2)
    torch.manual_seed(0)
    with torch.device("meta"):
        nn.LSTM(3, 4)
    made = nn.utils.skip_init(nn.Linear, 3, 4)
    assert torch.equal(torch.rand(2), wanted)
    assert made.weight.is_cpu


def test_a_device_is_a_context_and_a_decorator() -> None:
    with torch.device("meta") as outer:
        assert outer == torch.device("meta") == torch.get_default_device()
        assert torch.ones(2).is_meta and torch.ones(2, device="cpu").is_cpu
        with torch.device("cpu"):
            assert torch.ones(2).is_cpu
        assert torch.zeros(2).is_meta and torch.ones_like(torch.ones(2, device="cpu")).is_cpu
    assert torch.ones(2).is_cpu
    assert torch.device("meta")(lambda: torch.ones(2))().is_meta
    with pytest.raises(AssertionError, match="not compiled with CUDA"), torch.device("cuda"):
        torch.ones(2)


def test_another_thread_keeps_its_device() -> None:
    found: list[torch.device] = []
    with torch.device("meta"):
        thread = threading.Thread(target=lambda: found.append(torch.ones(2).device))
        thread.start()
        thread.join()
    assert found == [torch.device("cpu")]


def test_the_default_device_can_be_set() -> None:
    torch.set_default_device("meta")
    try:
        assert torch.ones(2).is_meta
        with torch.device("cpu"):
            assert torch.ones(2).is_cpu
    finally:
        torch.set_default_device(None)
    assert torch.ones(2).is_cpu and torch.get_default_device() == torch.device("cpu")


def test_copies_pickles_and_files_keep_what_there_is() -> None:
    module = nn.Linear(3, 4, device="meta")
    assert copy.deepcopy(module).weight.is_meta
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    assert torch.load(file)["weight"].is_meta
    file = io.BytesIO()
    torch.save({"a": torch.ones(2, 3).t()}, file)
    file.seek(0)
    assert torch.load(file, map_location="meta")["a"].stride() == (1, 3)


def test_the_memory_of_a_tensor_without_data_has_a_size_and_no_address() -> None:
    x = _meta(2, 3)
    assert x.untyped_storage().nbytes() == 24 and x.untyped_storage().device.type == "meta"
    assert x.data_ptr() == x.untyped_storage().data_ptr() == 0 and x[1].storage_offset() == 3


def test_out_on_another_device_is_refused() -> None:
    x = torch.ones(2, 3)
    m = x.to("meta")
    for call in (
        lambda: torch.exp(m, out=x), lambda: torch.mm(m, m.t(), out=torch.empty(2, 2)),
        lambda: torch.cat([m, m], out=torch.empty(0)),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="copy from device meta to device cpu"):
            call()
    with pytest.raises(RuntimeError, match="copy from device cpu to device meta"):
        torch.exp(x, out=m)


def test_interpolation_into_out_keeps_its_layout_or_the_inputs() -> None:
    up = torch._C._nn.upsample_nearest2d
    x = torch.empty(4, 3, 8, 8, device="meta")
    last = x.to(memory_format=torch.channels_last)
    out = torch.empty(4, 3, 16, 16, device="meta")
    assert up(last, (16, 16), out=out).is_contiguous()
    turned = out.to(memory_format=torch.channels_last)
    assert up(x, (16, 16), out=turned).is_contiguous(memory_format=torch.channels_last)
    grown = up(last, (16, 16), out=torch.empty(0, device="meta"))
    assert grown.is_contiguous(memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match=r"dtype torch\.float32 but got torch\.float64 instead"):
        up(x, (16, 16), out=out.double())


def test_only_what_is_shaped_by_values_is_refused() -> None:
    x, mask = torch.empty(3, device="meta"), torch.tensor([True, False, True])
    assert torch.histc(x, 7).shape == (7,)
    assert x.index_put((mask,), torch.tensor(1.0, device="meta")).shape == (3,)
    for call in (lambda: x[mask], lambda: x.unique_consecutive(), lambda: x.nonzero()):
        with pytest.raises(NotImplementedError, match="depends on their data"):
            call()
