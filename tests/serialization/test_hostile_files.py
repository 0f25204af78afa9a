"""Damaged, cut and hostile files are refused cleanly, nothing in them runs; saving is atomic."""

import contextlib
import io
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

import rushlight as rl
from rushlight import nn

CLEAN = (pickle.UnpicklingError, RuntimeError, EOFError)


def a_file(stream: bool) -> bytes:
    rl.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    buffer = io.BytesIO()
    value = {"net": net.state_dict(), "step": 3, "names": ["a", "b"], "half": rl.ones(2).half()}
    rl.save(value, buffer, _use_new_zipfile_serialization=not stream)
    return buffer.getvalue()


def mutated(data: bytes, draw: random.Random) -> bytes:
    kind = draw.randrange(5)
    start = draw.randrange(len(data))
    stop = min(len(data), start + draw.randrange(1, 40))
    if kind == 0:
        return data[:start]
    if kind == 1:
        return data[:start] + data[stop:]
    if kind == 2:
        return data[:start] + draw.randbytes(stop - start) + data[stop:]
    if kind == 3:
        return data[:stop] + data[start:stop] + data[stop:]
    flipped = bytearray(data)
    for _ in range(draw.randrange(1, 6)):
        flipped[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(flipped)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a file could do harm by, recorded instead of done."""
    done: list[str] = []
    for name in ("system", "popen", "remove", "execv", "unlink"):
        monkeypatch.setattr(os, name, lambda *a, _name=name: done.append(_name))
    return done


@pytest.mark.parametrize("stream", [False, True], ids=["zip", "stream"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_200_mutated_files_load_as_plain_data_or_are_refused(
    stream: bool, watch: list[str]
) -> None:
    whole, draw = a_file(stream), random.Random(11)
    refused = 0
    for _ in range(200):
        data = mutated(whole, draw)
        try:
            rl.load(io.BytesIO(data))
        except CLEAN:
            refused += 1
        with_peek = io.BytesIO(data)
        with contextlib.suppress(CLEAN):
            rl.peek(with_peek)
    assert watch == []
    # The older format has no checksums: changed numbers in it can't be noticed.
    assert refused > (80 if stream else 150)


class Calls:
    def __init__(self, function: Any, *args: Any) -> None:
        self.reduced = function, args

    def __reduce__(self) -> Any:
        return self.reduced


@pytest.mark.parametrize("stream", [False, True], ids=["zip", "stream"])
def test_a_hostile_file_runs_nothing_in_load_and_in_peek(stream: bool, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    buffer = io.BytesIO()
    rl.save({"x": Calls(os.system, f"touch {mark}")}, buffer,
            _use_new_zipfile_serialization=not stream)  # fmt: skip
    buffer.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=r"Unsupported global: GLOBAL posix\.system"):
        rl.load(buffer)
    buffer.seek(0)
    assert rl.peek(buffer).unsafe_globals == ["posix.system"]
    assert not mark.exists()


def test_a_storage_longer_than_the_file_asks_for_no_memory() -> None:
    data = a_file(True)
    number = (12).to_bytes(1, "little")  # the weight's elements
    forged = data.replace(b"K" + number + b"Nt", b"\x8a\x06" + (1 << 44).to_bytes(6, "little")
                          + b"Nt", 1)  # fmt: skip
    assert forged != data
    with pytest.raises(pickle.UnpicklingError, match="longer than the file"):
        rl.load(io.BytesIO(forged))


def test_an_archive_without_a_record_says_which() -> None:
    source = zipfile.ZipFile(io.BytesIO(a_file(False)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as copy:
        for name in source.namelist():
            if not name.endswith("/data/0"):
                copy.writestr(name, source.read(name))
    buffer.seek(0)
    with pytest.raises(RuntimeError, match="data/0: file not found"):
        rl.load(buffer)


def test_50_kills_while_saving_leave_a_whole_file(tmp_path: Path) -> None:
    path, draw = tmp_path / "model.pt", random.Random(5)
    rl.save({"count": 0, "data": rl.zeros(20000)}, path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    last, kills = 0, 0
    # Forks of one process that has imported everything: a kill costs milliseconds.
    with subprocess.Popen(
        [sys.executable, "-c", FORKER, str(path)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as forker:
        assert forker.stdin is not None and forker.stdout is not None
        for _ in range(50):
            forker.stdin.write("\n")
            forker.stdin.flush()
            child = int(forker.stdout.readline())
            time.sleep(draw.uniform(0.002, 0.03))
            os.kill(child, signal.SIGKILL)
            forker.stdin.write("\n")
            forker.stdin.flush()
            forker.stdout.readline()
            found = rl.load(path)
            assert found["data"].eq(found["count"]).all() and found["data"].numel() == 20000
            last = max(last, found["count"])
            kills += 1
        forker.stdin.close()
        forker.wait()
    assert kills == 50 and last > 0


FORKER = """
import os, sys
import rushlight as rl
import rushlight.serialization
path = sys.argv[1]
rl.full((4,), 1.0)
while sys.stdin.readline():
    child = os.fork()
    if child == 0:
        count = 0
        while True:
            count += 1
            rl.save({"count": count, "data": rl.full((20000,), float(count))}, path)
    print(child, flush=True)
    sys.stdin.readline()
    os.waitpid(child, 0)
    print("gone", flush=True)
"""
