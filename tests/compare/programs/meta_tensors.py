"""Tensors on the device "meta", contexts of devices, and modules without data."""

import importlib
import io

import torch

nn = importlib.import_module(f"{torch.__name__}.nn")
F = nn.functional


def _told(f):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, str(error).split("\n")[0])


def _meta(*size, **kwargs):
    return torch.empty(*size, device="meta", **kwargs)


def they_print_and_answer():
    x = _meta(2, 3)
    for f in (
        lambda: x,
        lambda: x.t().stride(),
        lambda: x.device,
        lambda: x.is_meta,
        lambda: x.is_cpu,
        lambda: type(x).__name__,
        lambda: x.data_ptr(),
        lambda: x[1].storage_offset(),
        lambda: len(x),
        lambda: x.untyped_storage().nbytes(),
        lambda: nn.Parameter(x),
        lambda: _meta(0),
        lambda: _meta(()),
        lambda: _meta(3, dtype=torch.int64),
        lambda: _meta(3, requires_grad=True) * 2,
        lambda: x.get_device(),
    ):
        _told(f)


def operations_give_shapes():
    x, w = _meta(4, 3, 8, 8), _meta(2, 3, requires_grad=True)
    zeros = torch.zeros(2, 1, dtype=torch.long, device="meta")
    for f in (
        lambda: x + 1,
        lambda: (x > 0).any(),
        lambda: x.mean((2, 3)).shape,
        lambda: x.max(1),
        lambda: x.permute(0, 2, 3, 1).contiguous().stride(),
        lambda: torch.gather(w, 1, zeros).shape,
        lambda: x.to(memory_format=torch.channels_last).stride(),
        lambda: x.unfold(2, 2, 2).shape,
        lambda: F.interpolate(x, scale_factor=2).shape,
        lambda: torch.cat([w, w]).shape,
        lambda: w[[0, 1]].shape,
        lambda: torch.einsum("ij,kj->ik", w, w).shape,
        lambda: torch.where(w > 0, w, 0.0),
        lambda: w.topk(2)[1],
        lambda: torch.linalg.svd(w)[0].shape,
        lambda: x.expand(2, 4, 3, 8, 8).stride(),
        lambda: w.long().dtype,
        lambda: w.t().view(6),
        lambda: F.scaled_dot_product_attention(x, x, x).shape,
    ):
        _told(f)


def data_cannot_be_read():
    x, one = _meta(2, 3), _meta(1)
    for f in (
        x.item,
        one.item,
        x.tolist,
        x.numpy,
        x.cpu,
        lambda: x.to("cpu"),
        lambda: bool(one),
        lambda: float(one),
        lambda: torch.ones(2, 3).copy_(x),
        lambda: x.copy_(torch.ones(2, 3)),
        lambda: x + torch.ones(2, 3),
        lambda: torch.ones(2, 3) + x,
        lambda: x + torch.tensor(1.0),
        lambda: torch.cat([x, torch.ones(2, 3)]),
        lambda: torch.allclose(x, x),
        lambda: 1 in x,
    ):
        _told(f)


def factories_follow_the_context():
    with torch.device("meta"):
        for f in (
            lambda: torch.ones(2),
            lambda: torch.tensor([1.0]),
            lambda: torch.arange(3),
            lambda: torch.eye(2),
            lambda: torch.randn(2).device,
            lambda: torch.Tensor(2).device,
            lambda: torch.get_default_device(),
            lambda: torch.ones(1, device="cpu"),
            lambda: torch.ones_like(torch.ones(1, device="cpu")).device,
            lambda: nn.Linear(2, 3).weight.device,
            lambda: torch.Generator().device,
        ):
            _told(f)
        with torch.device("cpu"):
            _told(lambda: torch.ones(2).device)
    torch.set_default_device("meta")
    _told(lambda: torch.zeros(2).device)
    torch.set_default_device(None)
    _told(lambda: torch.zeros(2).device)
    _told(lambda: torch.set_default_device("nope"))


def backward_gives_gradients_without_data():
    net = nn.Sequential(
        nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten(), nn.Linear(216, 4)
    )
    net.to("meta")
    loss = F.cross_entropy(net(_meta(2, 3, 8, 8)), torch.zeros(2, dtype=torch.long, device="meta"))
    print(loss)
    loss.backward()
    for name, p in net.named_parameters():
        print(name, p.grad)
    torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9).step()
    w = _meta(2, 3, requires_grad=True)
    print(torch.autograd.grad((w * w).sum(), w))
    _told(lambda: w.add_(1))


def modules_without_data_get_some():
    module = nn.Linear(3, 4, device="meta")
    _told(lambda: module.to("cpu"))
    _told(lambda: module.to_empty(device="cpu").weight.shape)
    source, target = nn.Linear(3, 4), nn.Linear(3, 4, device="meta")
    _told(lambda: target.load_state_dict(source.state_dict()))
    _told(lambda: (target.load_state_dict(source.state_dict(), assign=True), target.weight.device))
    _told(lambda: source.load_state_dict(nn.Linear(3, 4, device="meta").state_dict()))
    _told(lambda: nn.utils.skip_init(nn.Linear, 3, 4).weight.device)
    torch.manual_seed(0)
    nn.LSTM(3, 4, device="meta")
    print(torch.rand(2))
    file = io.BytesIO()
    torch.save({"w": torch.ones(2, 3).t(), "m": _meta(2)}, file)
    file.seek(0)
    print(torch.load(file, map_location="meta"))
