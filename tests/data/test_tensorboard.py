"""`SummaryWriter` writes what it is given: the event files are read back, record by record."""

import struct
import warnings
from pathlib import Path
from typing import Any

import pytest

import rushlight as rl

pytest.importorskip("tensorboardX")


def events(folder: Path) -> list[Any]:
    """Every event of a folder's files, in order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tensorboardX.proto.event_pb2 import Event

    found = []
    for path in sorted(folder.glob("events*")):
        data, place = path.read_bytes(), 0
        while place < len(data):
            # A record: its length, a checksum, the event, a checksum.
            (length,) = struct.unpack_from("<Q", data, place)
            found.append(Event.FromString(data[place + 12 : place + 12 + length]))
            place += 16 + length
    return found


def values(folder: Path) -> dict[str, list[tuple[int, Any]]]:
    """The values by their tags, each with its step."""
    found: dict[str, list[tuple[int, Any]]] = {}
    for event in events(folder):
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value))
    return found


@pytest.fixture
def writer(tmp_path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from rushlight.utils.tensorboard import SummaryWriter

        with SummaryWriter(str(tmp_path)) as made:
            yield made


def test_scalars_come_back_with_their_steps(writer: Any, tmp_path: Path) -> None:
    weight = rl.tensor(3.0, requires_grad=True)
    for step in range(3):
        writer.add_scalar("loss", weight * step, step)
    writer.add_scalar("plain", 0.25, 7)
    writer.close()
    found = values(tmp_path)
    assert [(step, value.simple_value) for step, value in found["loss"]] == [(0, 0), (1, 3), (2, 6)]
    assert [(step, value.simple_value) for step, value in found["plain"]] == [(7, 0.25)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16", "int64"])
def test_histograms_count_every_element(writer: Any, tmp_path: Path, dtype: str) -> None:
    x = rl.arange(100).to(getattr(rl, dtype))
    writer.add_histogram("h", x, 4)
    writer.close()
    ((step, value),) = values(tmp_path)["h"]
    assert step == 4 and value.histo.num == 100 and sum(value.histo.bucket) == 100
    assert (value.histo.min, value.histo.max, value.histo.sum) == (0, 99, float(x.float().sum()))


def test_images_have_their_size(writer: Any, tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    writer.add_image("one", rl.rand(3, 8, 5), 0)
    writer.add_image("bytes", (rl.rand(8, 5, 3) * 255).to(rl.uint8), 0, dataformats="HWC")
    writer.add_images("many", rl.rand(4, 3, 8, 5), 0)
    writer.close()
    found = {tag: rows[0][1].image for tag, rows in values(tmp_path).items()}
    assert (found["one"].height, found["one"].width) == (8, 5)
    assert (found["bytes"].height, found["bytes"].width) == (8, 5)
    assert found["many"].height * found["many"].width >= 4 * 8 * 5
    assert found["one"].encoded_image_string.startswith(b"\x89PNG")


def test_texts_curves_and_points_are_written(writer: Any, tmp_path: Path) -> None:
    writer.add_text("note", "hello", 1)
    writer.add_pr_curve("curve", rl.tensor([1, 0, 1]), rl.tensor([0.9, 0.1, 0.4]), 2)
    writer.close()
    found = values(tmp_path)
    assert b"hello" in found["note/text_summary"][0][1].tensor.SerializeToString()
    assert found["curve"][0][0] == 2


def test_graphs_are_refused_with_what_shows_them_instead(writer: Any) -> None:
    net = rl.nn.Linear(2, 1)
    with pytest.raises(NotImplementedError, match=r"rushlight\.viz"):
        writer.add_graph(net, rl.ones(1, 2))
