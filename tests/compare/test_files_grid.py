"""Files over all dtypes, strides, containers and objects: written by either side, read by both."""

import collections
import io
import mmap
import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import rushlight  # noqa: E402

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
# PyTorch writes these into its older format but can't read them back.
NEW = ("uint16", "uint32", "uint64")


def of_dtype(T: Any, name: str) -> dict[str, Any]:
    """Tensors of a dtype in every arrangement of memory."""
    dtype = getattr(T, name)
    base = (T.arange(24) % 7).reshape(2, 3, 4).to(dtype)
    return {
        "whole": base,
        "transposed": base.transpose(0, 2),
        "a number": base[0, 0, 1],
        "an own number": T.ones((), dtype=dtype),
        "empty": base[:0],
        "expanded": base[0, 0, :1].expand(5),
        "sliced": base[:, ::2, 1:3],
        "strided": base.reshape(-1).as_strided((3, 3), (2, 5), 4),
        "dtype": dtype,
    }


def objects(T: Any) -> dict[str, Any]:
    """Containers, shared memory, states and objects of the package."""
    T.manual_seed(0)
    b = T.arange(10.0)
    z = T.tensor([1 + 2j, 3 - 1j])
    p = T.nn.Parameter(T.ones(2, 2))
    net = T.nn.Sequential(T.nn.Linear(3, 2), T.nn.BatchNorm1d(2))
    adam = T.optim.Adam(net.parameters(), amsgrad=True)
    net(T.ones(4, 3)).sum().backward()
    adam.step()
    counted = collections.OrderedDict([("a", T.ones(1)), ("b", [T.zeros(1)])])
    return {
        "views of one memory": {"a": b, "b": b[2:5], "c": b[::3], "d": b.view(2, 5).t(), "e": b},
        "parameters that share": [p, p, p.data, p.detach()[0]],
        "another type's view": b.view(T.int32),
        "two types of one memory": [b, b.view(T.int32)],
        "a complex one's parts": [z.real, z.imag],
        "conjugate": z.conj(),
        "complex as real": T.view_as_real(z),
        "odd numbers": T.tensor([-0.0, float("nan"), float("inf"), 5e-324]),
        "a leaf": T.ones(3, 2).t().requires_grad_(),
        "ordered": counted,
        "size": T.Size([1, 2]),
        "device": T.device("cpu"),
        "layout": T.strided,
        "counter": collections.Counter("aab"),
        "default": collections.defaultdict(list, {"a": [T.ones(1)]}),
        "nested": {"a": [(1, 2, (3, [4, {"x": T.ones(1), 5: None}]))], ("t", 1): b"xx", None: "n"},
        "numbers": [2**70, -(2**70), 2**31, -1, 255, 65536, 1e300, float("inf"), complex(1, 2)],
        "text": ["é", "\u20ac\U0001f600", "x" * 300, b"\x00\xff", bytearray(b"ab")],
        "sets": [{1, 2, 3}, {"x"}],
        "range": range(3),
        "state": net.state_dict(),
        "metadata": net.state_dict()._metadata,
        "optimizer": adam.state_dict(),
        "gradients": [q.grad for q in net.parameters()],
        "generator": T.Generator().manual_seed(3).get_state(),
        "channels last": T.ones(2, 3, 4, 5).contiguous(memory_format=T.channels_last),
        "large": T.arange(100_000),
        "buffer": T.nn.Buffer(T.ones(2)),
    }


def described(value: Any) -> Any:
    """All that can be seen of a value, in a form that both packages share."""
    if hasattr(value, "storage_offset"):
        plain = value.detach().resolve_conj()
        numbers = plain if plain.is_complex() else plain.double()
        return (
            type(value).__name__, str(value.dtype).rpartition(".")[2], tuple(value.shape),
            value.stride(), value.storage_offset(), value.requires_grad, value.is_leaf,
            str(numbers.tolist()), sorted(value.__dict__),
        )  # fmt: skip
    if isinstance(value, dict):
        items = [(described(key), described(item)) for key, item in value.items()]
        return type(value).__name__, items, described(getattr(value, "_metadata", None))
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [described(item) for item in value]
    return type(value).__name__, str(value).replace("rushlight", "torch")


def carried(writer: Any, reader: Any, value: Any, weights_only: bool, stream: bool) -> Any:
    """What comes back, or the error."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            writer.save(value, buffer, _use_new_zipfile_serialization=not stream)
            buffer.seek(0)
            return described(reader.load(buffer, weights_only=weights_only))
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"


PAIRS = ((torch, rushlight), (rushlight, torch), (rushlight, rushlight))


@pytest.mark.parametrize("stream", [False, True], ids=["zip", "stream"])
@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_arrangement_crosses_over(
    name: str, weights_only: bool, stream: bool
) -> None:
    theirs, ours = of_dtype(torch, name), of_dtype(rushlight, name)
    for key in theirs:
        wanted = carried(torch, torch, theirs[key], weights_only, stream)
        if stream and name in NEW and key != "dtype":
            assert wanted.startswith("AttributeError")
            wanted = described(theirs[key])
            assert carried(rushlight, rushlight, ours[key], weights_only, stream) == wanted
            assert carried(torch, rushlight, theirs[key], weights_only, stream) == wanted
            continue
        for writer, reader in PAIRS:
            value = (theirs if writer is torch else ours)[key]
            got = carried(writer, reader, value, weights_only, stream)
            assert got == wanted, (key, writer.__name__, reader.__name__)


@pytest.mark.parametrize("stream", [False, True], ids=["zip", "stream"])
@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("name", list(objects(rushlight)))
def test_every_object_crosses_over(name: str, weights_only: bool, stream: bool) -> None:
    theirs, ours = objects(torch)[name], objects(rushlight)[name]
    wanted = carried(torch, torch, theirs, weights_only, stream)
    for writer, reader in PAIRS:
        value = theirs if writer is torch else ours
        got = carried(writer, reader, value, weights_only, stream)
        if isinstance(wanted, str):
            assert isinstance(got, str) and got[:20] == wanted[:20]
        else:
            assert got == wanted


@pytest.mark.parametrize(("writer", "reader"), PAIRS)
def test_what_shared_memory_shares_it_after_loading(writer: Any, reader: Any) -> None:
    base = writer.zeros(10)
    buffer = io.BytesIO()
    weight = writer.nn.Parameter(writer.zeros(2))
    held = {"a": base, "b": base[2:5], "c": base.view(2, 5).t(), "w": weight, "v": weight.detach()}
    writer.save(held, buffer)
    buffer.seek(0)
    back = reader.load(buffer)
    back["b"][0] = 7
    assert back["a"][2] == 7 and back["c"][2, 0] == 7
    back["v"][1] = 5
    assert back["w"].tolist() == [0, 5]


@pytest.mark.parametrize(("writer", "reader"), PAIRS)
def test_mapped_files_and_places(writer: Any, reader: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    held = {"w": writer.arange(1000.0), "n": {"h": writer.ones(3).half(), "s": 3}}
    writer.save(held, path)
    wanted = described(held)
    for place in (
        None,
        "cpu",
        reader.device("cpu"),
        {"cpu": "cpu"},
        lambda storage, where: storage,
    ):
        assert described(reader.load(path, map_location=place)) == wanted
        mapped = reader.load(path, map_location=place, mmap=True)
        assert described(mapped) == wanted
    mapped["w"][0] = 9
    assert described(reader.load(str(path))) == wanted
    with reader.serialization.set_default_mmap_options(mmap.MAP_SHARED):
        assert described(reader.load(path, mmap=True)) == wanted


@pytest.mark.parametrize("stream", [False, True], ids=["zip", "stream"])
@pytest.mark.parametrize(("writer", "reader"), PAIRS)
def test_whole_modules_come_back_and_train_on(writer: Any, reader: Any, stream: bool) -> None:
    def trained(T: Any, kept: Any) -> Any:
        net, sgd = kept
        for _ in range(3):
            sgd.zero_grad()
            net(T.linspace(0, 1, 20).reshape(5, 4)).pow(2).sum().backward()
            sgd.step()
        weights = T.cat([p.reshape(-1) for p in net.parameters()])
        return str(net), pytest.approx(weights.tolist(), abs=5e-5)

    def made(T: Any) -> Any:
        T.manual_seed(0)
        nn = T.nn
        inner = nn.Sequential(nn.Linear(6, 3, bias=False), nn.BatchNorm1d(3), nn.Softmax(1))
        net = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.GELU(), nn.Dropout(0.0), inner)
        return net, T.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    text, weights = trained(torch, made(torch))
    buffer = io.BytesIO()
    writer.save(made(writer), buffer, _use_new_zipfile_serialization=not stream)
    buffer.seek(0)
    back = trained(reader, reader.load(buffer, weights_only=False))
    assert back[0] == text and back[1].expected == weights


@pytest.mark.parametrize("kind", ["conj", "imag"])
def test_what_is_pending_in_an_older_file_is_done_once_its_data_are_read(kind: str) -> None:
    z = torch.tensor([1 + 2j, 3 - 1j]).conj()
    buffer = io.BytesIO()
    torch.save(z if kind == "conj" else z.imag, buffer, _use_new_zipfile_serialization=False)
    buffer.seek(0)
    assert rushlight.load(buffer).tolist() == (z if kind == "conj" else z.imag).tolist()
