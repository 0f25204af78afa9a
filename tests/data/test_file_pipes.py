"""Pipes over files: opened, read, decoded; streams that close themselves."""

import io
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.utils.data.datapipes.iter import (
    FileLister,
    FileOpener,
    IterableWrapper,
    RoutedDecoder,
    StreamReader,
)
from rushlight.utils.data.datapipes.utils import common, decoder


def test_files_are_listed_opened_and_read(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("two")
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "c.py").write_text("no")
    listed = FileLister(str(tmp_path), "*.txt")
    paths = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    assert list(listed.open_files().read_from_stream()) == list(
        zip(paths, ["one", "two"], strict=True)
    )
    assert [d for _, d in FileOpener(paths, "b").read_from_stream(2)] == [b"on", b"e", b"tw", b"o"]
    assert len(FileOpener(paths, length=2)) == 2
    with pytest.raises(TypeError, match="FileOpenerIterDataPipe instance doesn't have valid len"):
        len(FileOpener(paths))
    with pytest.raises(ValueError, match=r"^Invalid mode w$"):
        FileOpener(paths, "w")
    with pytest.raises(ValueError, match=r"^binary mode doesn't take an encoding argument$"):
        FileOpener(paths, "rb", "utf-8")
    with pytest.raises(TypeError, match=r"^Expected string type for pathname, but got <class 'int"):
        list(FileOpener([1]))


def test_a_stream_that_has_been_read_is_closed() -> None:
    stream = io.StringIO("abc")
    assert list(StreamReader(IterableWrapper([("k", stream)], deepcopy=False))) == [("k", "abc")]
    assert stream.closed


def test_a_wrapped_stream_closes_when_dropped_and_after_its_last_child() -> None:
    inner = io.BytesIO(b"ab\nc")
    wrapped = common.StreamWrapper(inner, name="n")
    assert repr(wrapped) == f"StreamWrapper<n,{inner!r}>" and list(wrapped) == [b"ab\n", b"c"]
    assert "getvalue" in dir(wrapped) and wrapped.getvalue() == b"ab\nc"
    children = [common.StreamWrapper(io.BytesIO(), wrapped) for _ in range(2)]
    wrapped.autoclose()
    common.StreamWrapper.close_streams({"a": [children[0]]})
    assert not inner.closed
    children[1].close()
    children[1].close()
    assert inner.closed and wrapped.closed
    dropped = io.BytesIO()
    common.StreamWrapper(dropped)
    assert dropped.closed
    with pytest.raises(RuntimeError, match="Parent stream should be StreamWrapper, <class 'int'>"):
        common.StreamWrapper(io.BytesIO(), 3)  # type: ignore[arg-type]
    # What has no state yet asks nothing of a stream and is dropped in silence.
    with pytest.raises(AttributeError, match="read"):
        _ = common.StreamWrapper.__new__(common.StreamWrapper).read
    assert pickle.loads(pickle.dumps(common.StreamWrapper(io.BytesIO(b"x")))).read() == b"x"


def test_unclosed_streams_are_counted_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common.StreamWrapper, "debug_unclosed_streams", True)
    stream = common.StreamWrapper(io.BytesIO())
    assert stream in common.StreamWrapper.session_streams
    stream.close()
    assert stream not in common.StreamWrapper.session_streams


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([], "pathname binary data should be tuple type"),
        (("a",), "tuple length should be 2, but got 1"),
        ((1, io.BytesIO()), "should have string type pathname, but it is type <class 'int'>"),
        (("a", 1), "should have IOBase orits subclasses as type, but it is type <class 'int'>"),
    ],
)
def test_what_is_no_pair_of_path_and_stream_is_refused(data: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        common.validate_pathname_binary_tuple(data)
    common.validate_pathname_binary_tuple(("a", common.StreamWrapper(io.BytesIO())))


def save(value: Any) -> bytes:
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


def test_bytes_are_decoded_by_what_names_end_in() -> None:
    given = [
        ("a.txt", b"hi"), ("b.json", json.dumps([1]).encode()), ("c.cls", io.BytesIO(b"4")),
        ("d.id", b"x"), ("e.pickle", pickle.dumps({1})), ("_f.bin", b"t"), ("g.bin", b"t"),
        ("h", b"bare"), ("i.pt", save(torch.ones(2))), ("j.cls", b""),
    ]  # fmt: skip
    with pytest.warns(FutureWarning, match=r"`RoutedDecoderIterDataPipe\(\)` and its functional"):
        pipe = RoutedDecoder(IterableWrapper(given, deepcopy=False))
    made = dict(pipe)
    assert len(pipe) == 10 and made.pop("i.pt").tolist() == [1.0, 1.0]
    assert made == {
        "a.txt": "hi", "b.json": [1], "c.cls": 4, "d.id": b"x", "e.pickle": {1}, "_f.bin": "t",
        "g.bin": b"t", "h": "bare", "j.cls": b"",
    }  # fmt: skip


def test_a_handler_that_is_added_comes_first() -> None:
    own = decoder.Decoder(decoder.basichandlers)
    own.add_handler(lambda key, data: len(data) if key == "txt" else None)
    assert own(("a.txt", b"hi")) == {"a.txt": 2} and own(None) == {}
    handle = decoder.handle_extension("seg.jpg jpg", len)
    assert [handle(k, b"ab") for k in ("a.SEG.jpg", "a.jpg", "jpg", "png")] == [2, None, 2, None]


@pytest.mark.parametrize("spec", ["l8", "rgb", "rgba8", "torchrgb8", "torch", "torchrgba"])
def test_pictures_are_decoded_as_asked(spec: str) -> None:
    pictures = pytest.importorskip("PIL.Image")
    values = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3) * 10
    stream = io.BytesIO()
    pictures.fromarray(values).save(stream, "png")
    made = decoder.imagehandler(spec)("PNG", stream.getvalue())
    mode = spec.removeprefix("torch").removesuffix("8") or "rgb"
    wanted = np.asarray(pictures.fromarray(values).convert(mode.upper()))
    if not spec.endswith("8"):
        wanted = wanted.astype("f") / 255.0
    if spec.startswith("torch"):
        assert isinstance(made, torch.Tensor)
        made, wanted = made.numpy(), wanted.transpose(2, 0, 1)
    assert made.dtype == wanted.dtype and np.array_equal(made, wanted)
    assert decoder.imagehandler(spec)("txt", b"") is None


@pytest.mark.parametrize("spec", ["", "8", "torch8", "pil8", "pilrgb8", "RGB", "torchpil"])
def test_an_unknown_kind_of_picture_is_refused(spec: str) -> None:
    with pytest.raises(AssertionError, match=rf"^unknown image specification: {spec}$"):
        decoder.ImageHandler(spec)
