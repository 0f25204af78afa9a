"""Pickles written by hand to do harm, and archives that aren't what they say: all refused."""

import contextlib
import io
import os
import pickle
import resource
import struct
import time
import tracemalloc
import zipfile
from typing import Any

import pytest

import rushlight as rl

CLEAN = (pickle.UnpicklingError, RuntimeError, EOFError)
START = b"\x80\x02"


def name(module: str, last: str) -> bytes:
    return f"c{module}\n{last}\n".encode()


def text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(value: int) -> bytes:
    data = value.to_bytes((value.bit_length() + 8) // 8, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def calling(module: str, last: str, *arguments: bytes) -> bytes:
    return START + name(module, last) + b"(" + b"".join(arguments) + b"tR."


def storage(count: int = 4, key: str = "0", kind: bytes = name("torch", "FloatStorage"),
            place: str = "cpu") -> bytes:  # fmt: skip
    return b"(" + text("storage") + kind + text(key) + text(place) + number(count) + b"tQ"


def tensor(held: bytes = storage(), offset: int = 0, shape: tuple[int, ...] = (4,),
           stride: tuple[int, ...] = (1,)) -> bytes:  # fmt: skip
    rows = [b"(" + b"".join(map(number, row)) + b"t" for row in (shape, stride)]
    rebuild = name("torch._utils", "_rebuild_tensor_v2")
    hooks = name("collections", "OrderedDict") + b")R"
    return rebuild + b"(" + held + number(offset) + rows[0] + rows[1] + b"\x89" + hooks + b"tR"


def framed(opcode: bytes, length: int, data: bytes = b"xx") -> bytes:
    return opcode + struct.pack("<Q", length) + data + b"."


MADE = START + name("torch", "Tensor")
REBUILD = name("torch._utils", "_rebuild_tensor_v2")

REFUSED = {
    "a command": calling("os", "system", text("touch harmed")),
    "a command of posix": calling("posix", "system", text("touch harmed")),
    "eval": calling("builtins", "eval", text("open('harmed', 'w')")),
    "eval of Python 2": calling("__builtin__", "eval", text("open('harmed', 'w')")),
    "getattr": calling("builtins", "getattr", name("torch", "Tensor"), text("mro")),
    "a name from the stack": START + b"\x8c\x08builtins\x8c\x04eval\x93(" + text("1") + b"tR.",
    "a method of a class": b"\x80\x04\x8c\x05torch\x8c\x0fTensor.__init__\x93.",
    "a function of a module": b"\x80\x04\x8c\x02os\x8c\x0bpath.exists\x93.",
    "INST": b"(S'touch harmed'\nios\nsystem\n.",
    "OBJ": START + b"(" + name("os", "system") + text("touch harmed") + b"o.",
    "an extension": b"\x80\x02\x82\x01.",
    "an extension of 4 bytes": b"\x80\x02\x84\xff\xff\xff\x7f.",
    "a reference as text": b"Pabc\n.",
    "a buffer from outside": b"\x80\x05\x97.",
    "a class made with options": MADE + b")}\x92.",
    "a large tensor by its class": MADE + b"(" + number(10**12) + b"t\x81.",
    "a large tensor by a call": calling("torch", "Tensor", number(10**12)),
    "a large bytearray": calling("builtins", "bytearray", number(10**12)),
    "a codec that unpacks": calling("_codecs", "encode", text("x"), text("bz2")),
    "a layout that is none": calling("torch.serialization", "_get_layout", text("os.system")),
    "attributes of a dtype":
        START + name("torch", "float32") + b"}" + text("name") + text("x") + b"sb.",
    "attributes of a function": START + REBUILD + b"}" + text("__code__") + text("x") + b"sb.",
    "slots of a tensor": START + tensor() + b"N}" + text("_raw") + text("x") + b"s\x86b.",
    "a huge shape": START + tensor(shape=(2**40, 2**40), stride=(0, 0)) + b".",
    "a shape past 64 bits": START + tensor(shape=(2**70,), stride=(0,)) + b".",
    "a negative size": START + tensor(shape=(-4,)) + b".",
    "a negative stride": START + tensor(stride=(-1,)) + b".",
    "a start past the end": START + tensor(offset=2) + b".",
    "a start before the beginning": START + tensor(offset=-1) + b".",
    "a long step": START + tensor(shape=(3,), stride=(2**62,)) + b".",
    "a hundred dimensions": START + tensor(shape=(1,) * 100, stride=(1,) * 100) + b".",
    "a storage of a petabyte": START + tensor(storage(2**50)) + b".",
    "a storage of less than nothing": START + tensor(storage(-4)) + b".",
    "a storage that isn't there": START + tensor(storage(key="77")) + b".",
    "a storage of another folder": START + tensor(storage(key="../../../../etc/passwd")) + b".",
    "a storage of a function": START + tensor(storage(kind=name("os", "system"))) + b".",
    "a storage on Mars": START + tensor(storage(place="mars:0")) + b".",
    "a reference that is a number": START + number(5) + b"Q.",
    "a memo that is empty": START + b"h\x05.",
    "a memo far away": START + b"j\xff\xff\xff\xff.",
    "a frame without an end": framed(b"\x80\x04\x95", 2**63 - 1),
    "bytes without an end": framed(b"\x80\x04\x8e", 2**63 - 1),
    "100 GB of bytes": framed(b"\x80\x05\x96", 10**11),
    "a number without an end": START + b"\x8b\xff\xff\xff\x7fxx.",
    "text without an end": framed(b"\x80\x04\x8d", 2**63 - 1),
    "a protocol of the future": b"\x80\x63N.",
    "nothing but an end": b".",
    "nothing": b"",
    "digits without an end": b"I" + b"9" * 200_000 + b"\n.",
    "text that is no UTF-8": b"X\x02\x00\x00\x00\xff\xfe.",
    "a key that can't be one": START + b"}(]" + text("x") + b"u.",
    "an item for a tensor": START + tensor() + b"Na.",
    "another rebuilder": START + name("torch._tensor", "_rebuild_from_type_v2") + b"("
        + name("torch", "Size") + name("torch", "Tensor") + b")}tR.",
    "a parameter of a number":
        calling("torch._utils", "_rebuild_parameter", number(3), b"\x88", b"N"),
}  # fmt: skip


def archive(body: bytes, packed: int = zipfile.ZIP_STORED, data: bytes = bytes(16),
            more: tuple[tuple[str, bytes], ...] = ()) -> bytes:  # fmt: skip
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packed) as made:
        made.writestr("archive/data.pkl", body)
        made.writestr("archive/data/0", data)
        made.writestr("archive/version", "3\n")
        for key, value in more:
            made.writestr(key, value)
    return buffer.getvalue()


def stream(body: bytes) -> bytes:
    head = b"".join(pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001, {}))
    return head + body + pickle.dumps(["0"], 2) + struct.pack("<Q", 4) + bytes(16)


@pytest.fixture
def modest(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder to be harmed in, and a bound on time and memory."""
    monkeypatch.chdir(tmp_path)
    tracemalloc.start()
    start = time.process_time()
    yield
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200 << 20
    assert time.process_time() - start < 30
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("form", [archive, stream], ids=["zip", "stream"])
@pytest.mark.parametrize("what", list(REFUSED))
def test_a_hostile_pickle_is_refused_and_does_nothing(what: str, form: Any, modest: None) -> None:
    data = form(REFUSED[what])
    with pytest.raises(CLEAN):
        rl.load(io.BytesIO(data))
    with contextlib.suppress(CLEAN):
        rl.peek(io.BytesIO(data))


def test_lists_of_the_same_list_are_not_walked_forever() -> None:
    doubled = b"".join(b"h%c2\x86q%c" % (k, k + 1) for k in range(60))
    data = archive(START + b"K\x01\x85q\x00" + doubled + b".")
    with pytest.raises(pickle.UnpicklingError, match="more than 300000 values"):
        rl.peek(io.BytesIO(data))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("key", ["archive/data.pkl", "archive/data/0"])
def test_an_archive_with_two_records_of_one_name_is_refused(key: str, modest: None) -> None:
    data = archive(START + tensor() + b".", more=((key, START + b"N."),))
    for read in (rl.load, rl.peek):
        with pytest.raises(RuntimeError, match=f"two records are called {key}"):
            read(io.BytesIO(data))


def test_a_record_that_unpacks_to_a_gigabyte_is_refused() -> None:
    body = START + tensor(storage(50_000_000), shape=(50_000_000,)) + b"."
    data = archive(body, zipfile.ZIP_DEFLATED, bytes(200_000_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read in (rl.load, rl.peek):
        with pytest.raises(RuntimeError, match="would unpack from 194"):
            read(io.BytesIO(data))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_records_that_are_compressed_like_data_are_read() -> None:
    data = archive(START + tensor() + b".", zipfile.ZIP_DEFLATED)
    assert rl.load(io.BytesIO(data)).tolist() == [0, 0, 0, 0]


def test_records_with_paths_out_of_the_archive_are_never_written_or_opened(modest: None) -> None:
    data = archive(START + tensor() + b".", more=(("../../harmed", b"x"), ("/harmed", b"x")))
    assert rl.load(io.BytesIO(data)).tolist() == [0, 0, 0, 0]


def test_storages_that_are_together_longer_than_the_file_are_refused() -> None:
    many = b"".join(tensor(storage(5000, str(k))) for k in range(1000))
    with pytest.raises(pickle.UnpicklingError, match="longer than the file"):
        rl.load(io.BytesIO(stream(START + b"(" + many + b"l.")))
