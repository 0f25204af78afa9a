"""Files made to harm who reads them: small ones that ask for much memory, much time, or a crash."""

from __future__ import annotations

import io
import json
import pickle
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable

START = b"\x80\x02"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"
ORDERED = b"ccollections\nOrderedDict\n"


def text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(value: int) -> bytes:
    data = value.to_bytes((value.bit_length() + 8) // 8, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def storage(count: int = 4, kind: str = "FloatStorage") -> bytes:
    head = text("storage") + f"ctorch\n{kind}\n".encode()
    return b"(" + head + text("0") + text("cpu") + number(count) + b"tQ"


def tensor(shape: tuple[int, ...], stride: tuple[int, ...], flags: bytes = b"") -> bytes:
    rows = [b"(" + b"".join(map(number, row)) + b"t" for row in (shape, stride)]
    kind = "ComplexFloatStorage" if flags else "FloatStorage"
    held = storage(2 if flags else 4, kind)
    return (REBUILD + b"(" + held + number(0) + rows[0] + rows[1] + b"\x89" + ORDERED + b")R"
            + flags + b"tR")  # fmt: skip


def doubled(times: int) -> bytes:
    """A tuple of the same two tuples, of the same two tuples, …"""
    return b")" + b"q\x00h\x00\x86" * times


def conjugate() -> bytes:
    return b"}" + text("conj") + b"\x88s"


def archive(body: bytes, packed: int = zipfile.ZIP_STORED, more: int = 0,
            size: int = 16) -> bytes:  # fmt: skip
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packed, compresslevel=9) as made:
        made.writestr("archive/data.pkl", body)
        made.writestr("archive/byteorder", sys.byteorder)
        made.writestr("archive/data/0", bytes(size))
        for number in range(more):
            made.writestr(f"archive/data/{number + 1}", bytes(size))
        made.writestr("archive/version", "3\n")
    return buffer.getvalue()


def many_references(count: int, size: int) -> bytes:
    """Storages, one for each of many records."""
    each = b"".join(storage(size // 4).replace(text("0"), text(str(k + 1))) for k in range(count))
    return START + b"(" + each + b"l."


def overlapping() -> bytes:
    """Many entries of the directory for one record that unpacks to megabytes."""
    size = 8 << 20
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(bytes(size)) + packer.flush()
    body = many_references(200, size)
    made, directory = io.BytesIO(), []

    def entry(name: str, method: int, packed: bytes, whole: bytes | None, start: int) -> None:
        raw = name.encode()
        length = size if whole is None else len(whole)
        check = zlib.crc32(bytes(size) if whole is None else whole)
        directory.append(
            struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, method, 0, 33, check, len(packed),
                        length, len(raw), 0, 0, 0, 0, 0, start) + raw
        )  # fmt: skip

    def local(name: str, method: int, packed: bytes, whole: int, check: int) -> int:
        start, raw = made.tell(), name.encode()
        made.write(struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, method, 0, 33, check, len(packed),
                               whole, len(raw), 0) + raw + packed)  # fmt: skip
        return start

    start = local("archive/data.pkl", 0, body, len(body), zlib.crc32(body))
    entry("archive/data.pkl", 0, body, body, start)
    start = local("archive/data/1", 8, data, size, zlib.crc32(bytes(size)))
    for number in range(200):
        entry(f"archive/data/{number + 1}", 8, data, None, start)
    place = made.tell()
    rows = b"".join(directory)
    made.write(rows)
    made.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, len(directory), len(directory),
                           len(rows), place, 0))  # fmt: skip
    return made.getvalue()


def directory_only(count: int) -> bytes:
    """A directory of many entries, none of which has a record."""
    rows = b"".join(
        struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 4, 0, 0, 0, 0, 0, 4)
        + struct.pack("<L", 0x61616161 + number)
        for number in range(count)
    )
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count & 0xFFFF, count & 0xFFFF, len(rows),
                      4, 0)  # fmt: skip
    return b"PK\x03\x04" + rows + end


def stream(body: bytes, keys: bytes | None = None) -> bytes:
    head = b"".join(pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001, {}))
    tail = pickle.dumps(["0"], 2) if keys is None else keys
    return head + body + tail + struct.pack("<Q", 4) + bytes(16)


def safetensors(header: bytes, body: bytes = b"") -> bytes:
    return len(header).to_bytes(8, "little") + header + body


def _entry(**changes: object) -> bytes:
    told = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4], **changes}
    return json.dumps({"a": told}).encode()


COLLIDING = b"".join(number(k * (2**61 - 1)) + b"N" for k in range(1, 30_000))
DEEP = 1_000_000

#: Pickles, put into archives and into streams.
PICKLES: dict[str, Callable[[], bytes]] = {
    "empty dictionaries": lambda: START + b"}" * 3_000_000 + b".",
    "empty lists": lambda: START + b"]" * 3_000_000 + b".",
    "marks": lambda: START + b"(" * 3_000_000 + b".",
    "empty sets": lambda: START + b"\x8f" * 1_000_000 + b".",
    "remembered dictionaries": lambda: START + b"}\x94" * 1_000_000 + b".",
    "a memo far away": lambda: START + b"N" + b"".join(
        b"r" + struct.pack("<I", k * 4099) for k in range(200_000)) + b".",
    "a key of doubled tuples": lambda: START + b"}" + doubled(60) + b"Ns.",
    "a member of doubled tuples":
        lambda: START + b"cbuiltins\nset\n(" + doubled(60) + b"ltR.",
    "a set by opcode": lambda: START + b"\x8f(" + doubled(60) + b"\x90.",
    "a frozen set": lambda: START + b"(" + doubled(60) + b"\x91.",
    "a reference of doubled tuples": lambda: START + doubled(60) + b"Q.",
    "a storage's key of doubled tuples": lambda: START + b"(" + text("storage")
        + b"ctorch\nFloatStorage\n" + doubled(60) + text("cpu") + number(4) + b"tQ.",
    "a call of doubled tuples": lambda: START + doubled(60) + b")R.",
    "a layout of doubled tuples":
        lambda: START + b"ctorch.serialization\n_get_layout\n" + doubled(60) + b"\x85R.",
    "another way to rebuild": lambda: START + b"ctorch._tensor\n_rebuild_from_type_v2\n("
        + doubled(60) + b"ctorch\nTensor\n)}tR.",
    "a class of doubled tuples": lambda: START + b"ctorch._tensor\n_rebuild_from_type_v2\n("
        + REBUILD + doubled(60) + b"(" + storage() + b"K\x00))\x89" + ORDERED + b")Rt}tR.",
    "a parameter of doubled tuples":
        lambda: START + b"ctorch._utils\n_rebuild_parameter\n(" + doubled(60) + b"\x88NtR.",
    "a shape of doubled tuples": lambda: START + REBUILD + b"(" + storage() + b"K\x00"
        + doubled(60) + b")\x89NtR.",
    "a device of doubled tuples":
        lambda: START + b"}ctorch\ndevice\n" + text("cpu") + doubled(60) + b"\x86RNs.",
    "a deep tuple as a key": lambda: START + b"})" + b"\x85" * DEEP + b"Ns.",
    "a deep tuple": lambda: START + b")" + b"\x85" * DEEP + b".",
    "a deep list": lambda: START + b"]" * DEEP + b"a" * (DEEP - 1) + b".",
    "a deep dictionary": lambda: START + b"}N" * 300_000 + b"}" + b"s" * 300_000 + b".",
    "keys of one hash": lambda: START + b"}(" + COLLIDING + b"u.",
    "keys of one hash one by one": lambda: START + b"}" + COLLIDING.replace(b"N\x8a", b"Ns\x8a")
        + b"s.",
    "a large number as a key": lambda: START + b"}\x8b" + struct.pack("<i", 500_000)
        + b"\x01" * 500_000 + b"q\x00" + b"Nsh\x00" * 100_000 + b"Ns.",
    "sets of one list": lambda: START + b"](" + b"".join(
        b"J" + struct.pack("<i", k) for k in range(20_000)) + b"eq\x00cbuiltins\nset\nq\x01"
        + b"h\x01h\x00\x85R" * 5_000 + b".",
    "tables of one table": lambda: START + b"}(" + b"".join(
        b"J" + struct.pack("<i", k) + b"N" for k in range(20_000)) + b"uq\x00" + ORDERED + b"q\x01"
        + b"h\x01h\x00\x85R" * 5_000 + b".",
    "states of one table": lambda: START + b"}(" + b"".join(
        text(f"a{k}") + b"N" for k in range(20_000)) + b"uq\x00" + ORDERED + b"q\x01"
        + b"h\x01)Rh\x00b" * 5_000 + b".",
    "bytes of one text": lambda: START + text("x" * 500_000) + b"q\x00c_codecs\nencode\nq\x01"
        + text("latin1") + b"q\x02" + b"h\x01h\x00h\x02\x86R" * 5_000 + b".",
    "a bytearray in punycode": lambda: START + b"cbuiltins\nbytearray\n"
        + text("é" * 100_000) + text("punycode") + b"\x86R.",
    "a size of many flags": lambda: START + b"ctorch\nSize\n(" + b"\x88" * 300_000 + b"t\x85R.",
    "large numbers multiplied": lambda: START + b"\x8b" + struct.pack("<i", 500_000)
        + b"\x01" * 500_000 + b"q\x00" + (REBUILD + b"(" + storage() + b"K\x00h\x00h\x00\x86h\x00"
        b"h\x00\x86\x89NtR") * 300 + b".",
    "an expanded tensor": lambda: START + tensor((1000, 1_000_000), (0, 0)) + b".",
    "an expanded tensor to be conjugated":
        lambda: START + tensor((500, 1_000_000), (0, 0), conjugate()) + b".",
    "an item set in an expanded tensor": lambda: START + tensor((1000, 1_000_000), (0, 0))
        + b"\x89" + tensor((), ()) + b"s.",
    "a tensor without data, without end": lambda: START
        + b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nfloat32\n("
        + number(2**40) + number(2**20) + b"t(" + number(2**20) + number(1) + b"t\x89tR.",
    "many tensors over one storage": lambda: START + storage() + b"q\x00" + REBUILD + b"q\x01"
        + b"(h\x00K\x00K\x04\x85K\x01\x85\x89Ntq\x020" + b"h\x01h\x02R" * 60_000 + b".",
    "a chain of tensors": lambda: START + storage() + b"q\x00" + REBUILD + b"q\x01"
        + b"(h\x00K\x00K\x04\x85K\x01\x85\x89Ntq\x020" + b"N" + (b"q\x03" + b"h\x01h\x02R}"
        + text("a") + b"h\x03sb") * 20_000 + b".",
    "a name without end": lambda: START + b"c" + b"a" * 2_000_000 + b"\nb\n.",
    "text of wide characters": lambda: START + text("a" * 3_000_000 + "\U0001f600") + b".",
    "a long number in digits": lambda: START + b"I" + b"9" * 3_000_000 + b"\n.",
    "bytes without end": lambda: b"\x80\x04\x8e" + struct.pack("<Q", 2**40) + b"x.",
    "text without end": lambda: b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b"x.",
    "a bytearray without end": lambda: b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b"x.",
    "a frame without end": lambda: b"\x80\x04\x95" + struct.pack("<Q", 2**40) + b"N.",
    "frames in frames": lambda: b"\x80\x04" + b"".join(
        b"\x95" + struct.pack("<Q", 9 * k) for k in range(20_000, 0, -1)),
    "a long key before many places": lambda: START + b"}" + text("k" * 500_000) + b"("
        + b"N" * 100_000 + b"ls.",
}  # fmt: skip

#: Whole files for `load`.
FILES: dict[str, Callable[[], bytes]] = {
    "a packed pickle of dictionaries":
        lambda: archive(START + b"}" * 20_000_000 + b".", zipfile.ZIP_DEFLATED),
    "a packed pickle of nothing":
        lambda: archive(START + b"N0" * 30_000_000 + b"N.", zipfile.ZIP_DEFLATED),
    "a pickle in LZMA": lambda: archive(START + b"}" * 20_000_000 + b".", zipfile.ZIP_LZMA),
    "a pickle in BZ2": lambda: archive(START + b"}" * 20_000_000 + b".", zipfile.ZIP_BZIP2),
    "a packed storage": lambda: archive(
        START + tensor((50_000_000,), (1,)).replace(storage(), storage(50_000_000)) + b".",
        zipfile.ZIP_DEFLATED, 0, 200_000_000),
    "many packed storages": lambda: archive(
        many_references(60, 10 << 20), zipfile.ZIP_DEFLATED, 60, 10 << 20),
    "many storages in LZMA": lambda: archive(
        many_references(30, 10 << 20), zipfile.ZIP_LZMA, 30, 10 << 20),
    "records over each other": overlapping,
    "a directory of nothing": lambda: directory_only(60_000),
    "an end without a beginning": lambda: b"PK\x03\x04" + bytes(30) + struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 0xFFFFFFF0, 0, 0),
    "keys of doubled tuples": lambda: stream(
        START + tensor((4,), (1,)) + b".", START + b"](" + doubled(60) + b"e."),
    "a version of doubled tuples": lambda: pickle.dumps(0x1950A86A20F9469CFC6C, 2)
        + START + doubled(60) + b".",
    "a machine without end": lambda: b"".join(
        pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001))
        + START + b"}" * 3_000_000 + b".",
    "a tar of zeros": lambda: bytes(257) + b"ustar" + bytes(1 << 20),
}  # fmt: skip

#: Files for `load_safetensors`.
TABLES: dict[str, Callable[[], bytes]] = {
    "a header without end": lambda: (2**63).to_bytes(8, "little") + b"{}",
    "a header as long as is allowed": lambda: (10**8).to_bytes(8, "little") + b"{}",
    "deep lists": lambda: safetensors(b"[" * 3_000_000),
    "deep tables": lambda: safetensors(b'{"a":' * 500_000),
    "a table of empty tables": lambda: safetensors(b'{"a":[' + b"{}," * 1_000_000 + b"{}]}"),
    "a table of empty lists": lambda: safetensors(b'{"a":[' + b"[]," * 1_000_000 + b"[]]}"),
    "numbers": lambda: safetensors(b'{"a":[' + b"9999," * 1_000_000 + b"1]}"),
    "a number in digits": lambda: safetensors(b'{"a":' + b"9" * 2_000_000 + b"}"),
    "a negative place": lambda: safetensors(_entry(data_offsets=[-4, 0]), bytes(4)),
    "places the wrong way round": lambda: safetensors(_entry(data_offsets=[4, 0]), bytes(4)),
    "a place past the end": lambda: safetensors(_entry(data_offsets=[4, 8]), bytes(4)),
    "a huge shape": lambda: safetensors(_entry(shape=[2**62, 4]), bytes(4)),
    "a shape that wraps": lambda: safetensors(_entry(shape=[2**62 + 1, 4]), bytes(4)),
    "a huge shape of nothing":
        lambda: safetensors(_entry(shape=[0, 2**62, 2**62], data_offsets=[0, 0])),
    "a long shape": lambda: safetensors(_entry(shape=[1] * 100_000), bytes(4)),
    "one name twice": lambda: safetensors(_entry()[:-1] + b"," + _entry()[1:], bytes(4)),
    "two tensors in one place":
        lambda: safetensors(_entry()[:-1] + b"," + _entry().replace(b'"a"', b'"b"')[1:], bytes(4)),
    "bytes of nobody": lambda: safetensors(_entry(), bytes(400)),
    "text that is none": lambda: safetensors(b'{"\xff":3}'),
    "many tensors of nothing": lambda: safetensors(json.dumps(
        {str(k): {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for k in range(30_000)}
    ).encode()),
}  # fmt: skip
