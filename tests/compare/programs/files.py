"""torch.save and torch.load."""

import io
import os
import tempfile

import torch
from observation import near, outcome


def _round(value, **options):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return torch.load(buffer, **options)


def tensors_come_back() -> None:
    for t in (
        torch.arange(3),
        torch.randn(2, 2),
        torch.tensor(True),
        torch.zeros(0, 2),
        torch.tensor([1j]),
        torch.ones(2, dtype=torch.float16),
        torch.ones(2).bfloat16(),
        torch.zeros(2, 3).t(),
        torch.arange(6)[::2],
        torch.tensor(5, dtype=torch.uint8),
    ):
        back = _round(t)
        print(back, back.dtype, back.stride(), back.storage_offset(), back.requires_grad)


def requires_grad_is_kept_for_leaves() -> None:
    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    back = _round(x)
    print(back, back.grad, back.is_leaf)
    y = _round(x * 2)
    print(y, y.is_leaf, y.grad_fn)
    print(_round(torch.nn.Parameter(torch.ones(1))))


def containers_come_back() -> None:
    print(_round({"a": torch.ones(1), "b": [1, 2.5, "text", None, True], "c": (torch.zeros(1),)}))
    print(
        _round([]),
        _round({}),
        _round(5),
        _round("text"),
        _round(None),
        _round(torch.float64),
        _round(torch.Size([1, 2])),
        _round(torch.device("cpu")),
    )


def shared_memory_is_kept() -> None:
    x = torch.zeros(4)
    a, b, c = _round([x, x[1:3], x])
    b[0] = 9
    print(a, c, a is c)


def views_save_their_whole_storage() -> None:
    big = torch.arange(1000.0)
    sizes = []
    for t in (big, big[:2], big[:2].clone()):
        buffer = io.BytesIO()
        torch.save(t, buffer)
        sizes.append(buffer.tell() > 4000)
    print(sizes)


def state_dictionaries_come_back() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    s = _round(net.state_dict())
    print(
        type(s).__name__,
        list(s),
        all(s[k].equal(v) for k, v in net.state_dict().items()),
        hasattr(s, "_metadata"),
    )
    other = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    print(other.load_state_dict(s), other[0].weight.equal(net[0].weight))


def optimiser_states_come_back() -> None:
    w = torch.ones(2, requires_grad=True)
    opt = torch.optim.Adam([w])
    (w**2).sum().backward()
    opt.step()
    s = _round(opt.state_dict())
    print(list(s), near(s["state"][0]["exp_avg"]), s["param_groups"][0]["lr"])


def whole_modules_need_weights_only_off() -> None:
    net = torch.nn.Linear(1, 1)
    back = _round(net, weights_only=False)
    print(back, back.weight.equal(net.weight))
    try:
        _round(net)
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0][:60])


def files_by_name_and_path() -> None:
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "x.pt")
        torch.save(torch.ones(2), name)
        print(torch.load(name), torch.load(Path(name)), os.path.exists(name))
        with open(name, "rb") as f:
            print(torch.load(f), f.read(0))
            f.seek(0)
            print(f.read(2))


def missing_and_broken_files() -> None:
    try:
        torch.load("/nowhere/at/all.pt")
    except Exception as error:
        print(type(error).__name__)
    for content in (b"", b"not a file at all", b"PK\x03\x04 broken"):
        try:
            torch.load(io.BytesIO(content))
        except Exception as error:
            print(type(error).__name__)


def map_location_takes_many_forms() -> None:
    for place in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, location: storage):
        print(_round(torch.ones(1), map_location=place))


def unsafe_objects_are_refused() -> None:
    class Evil:
        def __reduce__(self):
            return (print, ("executed",))

    try:
        _round(Evil())
    except Exception as error:
        print(type(error).__name__)


def what_cannot_be_saved() -> None:
    try:
        torch.save({"f": lambda: 1}, io.BytesIO())
    except Exception as error:
        print(type(error).__name__)
    outcome(torch.save, torch.ones(1), 5)
    outcome(torch.save, torch.ones(1))


def the_old_format_can_be_written_and_read() -> None:
    buffer = io.BytesIO()
    torch.save({"a": torch.arange(3)}, buffer, _use_new_zipfile_serialization=False)
    print(buffer.getvalue()[:2] == b"PK")
    buffer.seek(0)
    print(torch.load(buffer))


def several_objects_in_one_stream() -> None:
    buffer = io.BytesIO()
    torch.save(torch.ones(1), buffer)
    first = buffer.tell() > 0
    print(first, torch.load(io.BytesIO(buffer.getvalue())))


def a_checkpoint_resumes_training() -> None:
    def make():
        torch.manual_seed(1)
        net = torch.nn.Linear(2, 1)
        return net, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def train(net, opt, steps):
        for _ in range(steps):
            opt.zero_grad()
            net(torch.ones(3, 2)).pow(2).sum().backward()
            opt.step()

    net, opt = make()
    train(net, opt, 2)
    kept = _round({"net": net.state_dict(), "opt": opt.state_dict()})
    train(net, opt, 3)
    other, opt2 = make()
    other.load_state_dict(kept["net"])
    opt2.load_state_dict(kept["opt"])
    train(other, opt2, 3)
    print(other.weight.equal(net.weight), near(net.weight))
