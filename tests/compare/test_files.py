"""Files of each side read by the other."""

import io
import pickle
import subprocess
import sys
import zipfile
from typing import Any

import pytest

import rushlight

torch = pytest.importorskip("torch")

STREAM = {"_use_new_zipfile_serialization": False}


def values(T: Any) -> dict[str, Any]:
    T.manual_seed(0)
    base = T.arange(12.0)
    noted, parameter = T.ones(2), T.nn.Parameter(T.ones(2))
    noted.note, parameter.note = 3, "x"
    net = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.ReLU(), T.nn.Linear(3, 1))
    adam = T.optim.Adam(net.parameters())
    net(T.ones(1, 2)).sum().backward()
    adam.step()
    return {
        "transposed": T.ones(2, 3).t(),
        "strided": base[2:8:2],
        "scalar": T.tensor(True),
        "complex": T.tensor([1j]),
        "bfloat16": T.ones(2).bfloat16(),
        "half": T.ones(2).half(),
        "empty": T.zeros(0, 3),
        "leaf": T.ones(2, requires_grad=True),
        "noted": noted,
        "parameter": T.nn.Parameter(T.ones(2)),
        "noted_parameter": parameter,
        "shared": [base, base[3:5]],
        "names": [T.float64, T.Size([1, 2]), T.device("cpu"), T.strided],
        "plain": {"a": [1, 2.5, None, True, b"x"], "b": {1, 2}, "c": 1j},
        "state": net.state_dict(),
        "optimizer": adam.state_dict(),
    }


def described(value: Any) -> str:
    if hasattr(value, "stride"):
        kind, place = type(value).__name__, (value.stride(), value.storage_offset())
        return f"{kind} {value} {value.dtype} {place} {value.requires_grad} {value.__dict__}"
    if isinstance(value, list):
        return str([described(item) for item in value])
    return f"{type(value).__name__} {value}"


def carried(writer: Any, reader: Any, value: Any, weights_only: bool, **options: Any) -> Any:
    buffer = io.BytesIO()
    writer.save(value, buffer, **options)
    buffer.seek(0)
    return reader.load(buffer, weights_only=weights_only)


@pytest.mark.parametrize("options", [{}, STREAM], ids=["zip", "stream"])
@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("name", list(values(rushlight)))
def test_a_value_means_the_same_whoever_wrote_and_reads_it(
    name: str, weights_only: bool, options: dict[str, Any]
) -> None:
    wanted = described(carried(torch, torch, values(torch)[name], weights_only, **options))
    for writer, reader in ((torch, rushlight), (rushlight, torch), (rushlight, rushlight)):
        got = carried(writer, reader, values(writer)[name], weights_only, **options)
        assert described(got) == wanted


@pytest.mark.parametrize("options", [{}, STREAM], ids=["zip", "stream"])
def test_whole_modules_and_optimizers_cross_over(options: dict[str, Any]) -> None:
    def trained(T: Any) -> tuple[Any, Any]:
        T.manual_seed(0)
        net = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.BatchNorm1d(3)).eval()
        return net, T.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    results = []
    for writer in (torch, rushlight):
        for reader in (torch, rushlight):
            net, sgd = carried(writer, reader, list(trained(writer)), False, **options)
            net(reader.ones(4, 2)).sum().backward()
            sgd.step()
            results.append(f"{net} {sgd} {net.state_dict()}")
    assert len(set(results)) == 1


def repacked(changes: dict[str, bytes]) -> bytes:
    source = io.BytesIO()
    torch.save(torch.ones(3), source)
    made = io.BytesIO()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, changes.get(name, old.read(name)))
    return made.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        {"archive/version": b"99\n"},
        {"archive/version": b"0\n"},
        {"archive/version": b"zz"},
        {"archive/byteorder": b"middle"},
        {"archive/data/0": b"abc"},
        {"archive/data/0": b"a" * 20},
    ],
    ids=str,
)
def test_records_that_are_wrong_are_refused_in_the_same_words(change: dict[str, bytes]) -> None:
    data = repacked(change)
    with pytest.raises((RuntimeError, ValueError)) as theirs:
        torch.load(io.BytesIO(data))
    with pytest.raises(theirs.type) as ours:
        rushlight.load(io.BytesIO(data))
    # PyTorch says before some where in its source that is.
    assert str(ours.value) in str(theirs.value)


def test_files_whose_checksums_were_not_computed_are_read() -> None:
    before = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(False)
    try:
        buffer = io.BytesIO()
        torch.save(torch.ones(5), buffer)
    finally:
        torch.serialization.set_crc32_options(before)
    buffer.seek(0)
    assert rushlight.load(buffer).tolist() == [1, 1, 1, 1, 1]


def test_an_archive_that_is_compressed_is_read_by_both() -> None:
    source, made = io.BytesIO(), io.BytesIO()
    torch.save({"x": torch.arange(1000.0)}, source)
    with (
        zipfile.ZipFile(source) as old,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    for reader in (torch, rushlight):
        made.seek(0)
        assert reader.load(made)["x"].tolist() == list(range(1000))


@pytest.mark.parametrize("options", [{}, STREAM], ids=["zip", "stream"])
def test_places_are_asked_once_for_each_storage(options: dict[str, Any]) -> None:
    asked = []
    for reader in (torch, rushlight):
        buffer, calls = io.BytesIO(), []
        x = torch.ones(4)
        torch.save([x, x[1:], torch.ones(2)], buffer, **options)
        buffer.seek(0)
        reader.load(buffer, map_location=lambda s, place: calls.append(place))  # noqa: B023
        asked.append(calls)
    assert asked[0] == asked[1]


def test_a_plain_pickle_of_pytorch_is_read_where_torch_is_rushlight() -> None:
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.LSTM(2, 3))
    base = torch.arange(6.0)
    values = [net, base, base[2:], torch.eye(2).to_sparse(), torch.nn.Parameter(torch.ones(1))]
    code = """
import sys, rushlight
rushlight.install_as_torch()
import pickle, torch
net, base, part, sparse, parameter = pickle.load(sys.stdin.buffer)
assert part.tolist() == [2.0, 3.0, 4.0, 5.0]
print(type(net[1]) is torch.nn.LSTM, base.tolist(), sparse.to_dense().tolist(), parameter)
print(sum(p.sum().item() for p in net.parameters()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(values), capture_output=True, check=True
    )
    shown, total = done.stdout.decode().splitlines()[0], done.stdout.splitlines()[-1]
    assert shown.startswith("True [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] [[1.0, 0.0], [0.0, 1.0]] Param")
    assert float(total) == pytest.approx(sum(p.sum().item() for p in net.parameters()))


def test_a_plain_pickle_made_where_torch_is_rushlight_is_read_by_pytorch() -> None:
    code = """
import sys, rushlight
rushlight.install_as_torch()
import pickle, torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.LSTM(2, 3), torch.nn.MultiheadAttention(4, 2),
                          torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2)))
optimizer = torch.optim.Adam(net[0].parameters())
base = torch.arange(6.0).reshape(2, 3)
other = [base.T, base.max(0), torch.eye(2).to_sparse(), torch.float16, torch.Size([1]),
         torch.device("cpu"), torch.Generator().manual_seed(4), torch.nn.functional.gelu]
sys.stdout.buffer.write(pickle.dumps([net, optimizer, *other]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    net, optimizer, view, most, sparse, *rest = pickle.loads(done.stdout)
    torch.manual_seed(0)
    assert torch.equal(net[0].weight_ih_l0, torch.nn.LSTM(2, 3).weight_ih_l0)
    assert net[0](torch.ones(1, 2))[0].shape == (1, 3) and type(optimizer) is torch.optim.Adam
    assert view.tolist() == [[0, 3], [1, 4], [2, 5]] and view.stride() == (1, 3)
    assert most.indices.tolist() == [1, 1, 1] and sparse.to_dense().tolist() == [[1, 0], [0, 1]]
    assert rest[:3] == [torch.float16, torch.Size([1]), torch.device("cpu")]
    assert torch.rand(1, generator=rest[3]) == torch.rand(1, generator=_seeded(4))
    assert rest[4] is torch.nn.functional.gelu


def _seeded(number: int) -> Any:
    return torch.Generator().manual_seed(number)
