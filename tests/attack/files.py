"""Hostile and damaged files: each is loaded or refused in time, in memory, and without a crash.

    python -m tests.attack.files --count 2000 --seed 1

Makes every bomb of `bombs.py` in both formats, and `count` mutations of honest files of every
format; each is read in a process of its own, whose time and memory are measured. Then saves are
killed at random moments (`--kills`): the file must be whole, old or new, and nothing be left beside
it after the next save.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import itertools
import os
import pickle
import random
import resource
import select
import signal
import struct
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import rushlight as rl
from rushlight.serialization import load_safetensors, save_safetensors

from .bombs import FILES, PICKLES, START, TABLES, archive, stream

#: What `load` may raise for a file that isn't whole or honest.
CLEAN = (pickle.UnpicklingError, RuntimeError, EOFError, ValueError)
#: The promise: so many times the file, and so much beyond (the library's own bound, and what Python
#: takes and gives back only later); seconds of one processor, for the first megabyte and the next.
TIMES, FLOOR = 10, 128 << 20
NOISE = 48 << 20
SECONDS, SECONDS_A_MEGABYTE = 1.0, 2.0


class Outcome(NamedTuple):
    """What reading one file came to."""

    name: str
    size: int
    result: str
    seconds: float
    memory: int
    timed: bool = True

    @property
    def broken(self) -> str:
        """The promise that was broken; empty where none was."""
        if not self.result.startswith(("loaded", "refused")):
            return self.result
        if self.timed and self.seconds > SECONDS + SECONDS_A_MEGABYTE * self.size / 1e6:
            return f"took {self.seconds:.1f} s"
        if self.memory > TIMES * self.size + FLOOR + NOISE:
            return f"took {self.memory >> 20} MiB"
        return ""

    def __str__(self) -> str:
        line = f"{self.size:>9} bytes {self.seconds:6.2f} s {self.memory >> 20:>5} MiB  "
        return f"{line}{self.name}: {self.broken or self.result}"


def _peak() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) << 10
    raise OSError("no VmHWM in /proc/self/status")


def _read_here(read: Callable[[str], Any], path: str) -> bytes:
    """In the child: reads a file and measures it."""
    Path("/proc/self/clear_refs").write_text("5")
    before, start = _peak(), time.process_time()
    value = None
    try:
        value = read(path)
        result = "loaded"
    except CLEAN as error:
        result = f"refused: {type(error).__name__} {error}"[:300]
        if len(str(error)) > 4000:
            result = f"an error of {len(str(error))} characters"
    except BaseException as error:
        result = f"{type(error).__name__} {error}"[:300]
    seconds, memory = time.process_time() - start, _peak() - before
    del value
    return pickle.dumps((result, seconds, memory))


def measure(name: str, data: bytes, read: Callable[[str], Any], limit: float = 20.0) -> Outcome:
    """Reads a file in a process of its own."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.write(theirs, _read_here(read, file.name))
            os._exit(0)
        os.close(theirs)
        try:
            ready = select.select([ours], [], [], limit)[0]
            told = os.read(ours, 1 << 16) if ready else b""
        finally:
            os.close(ours)
        if not ready:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if not told:
        how = signal.Signals(status & 127).name if status & 127 else f"exit {status >> 8}"
        result = f"not back after {limit} s" if not ready else f"died: {how}"
        return Outcome(name, len(data), result, limit if not ready else 0.0, 0)
    result, seconds, memory = pickle.loads(told)
    return Outcome(name, len(data), result, seconds, memory)


def load(path: str) -> Any:
    return rl.load(path)


def load_mapped(path: str) -> Any:
    return rl.load(path, mmap=True)


def load_on_trust(path: str) -> Any:
    return rl.load(path, weights_only=False)


def peek(path: str) -> Any:
    return rl.peek(path)


def bombs() -> Iterator[tuple[str, Callable[[], bytes], Callable[[str], Any]]]:
    """Every constructed file, to be made when it is wanted, with each way to read it."""
    for name, make in PICKLES.items():
        for form in (archive, stream):
            for read in (load, peek):
                made = functools.partial(_formed, form, make)
                yield f"{name} ({form.__name__}, {read.__name__})", made, read
    for name in ("a deep tuple as a key", "a deep tuple", "a deep list", "a deep dictionary"):
        for form in (archive, stream):
            made = functools.partial(_formed, form, PICKLES[name])
            yield f"{name} ({form.__name__}, on trust)", made, load_on_trust
    for name, make in FILES.items():
        for read in (load, load_mapped, peek):
            yield f"{name} ({read.__name__})", make, read
    for name, make in TABLES.items():
        yield f"{name} (safetensors)", make, load_safetensors


def _formed(form: Callable[[bytes], bytes], make: Callable[[], bytes]) -> bytes:
    return form(make())


def honest() -> dict[str, tuple[bytes, tuple[Callable[[str], Any], ...]]]:
    """A whole file of each format."""
    rl.manual_seed(0)
    net = rl.nn.Sequential(rl.nn.Linear(4, 3), rl.nn.BatchNorm1d(3))
    adam = rl.optim.Adam(net.parameters())
    net(rl.ones(2, 4)).sum().backward()
    adam.step()
    value = {
        "net": net.state_dict(), "adam": adam.state_dict(), "names": ["a", ("b", 2.5)],
        "half": rl.ones(2).bfloat16(), "wide": rl.ones(1).expand(100, 100), "none": None,
        "conj": rl.ones(3, dtype=rl.complex64).conj(), "set": {1, 2},
    }  # fmt: skip
    found = {}
    for name, form in (("zip", True), ("stream", False)):
        buffer = io.BytesIO()
        rl.save(value, buffer, _use_new_zipfile_serialization=form)
        readers = (load, load_mapped, peek) if form else (load, peek)
        found[name] = buffer.getvalue(), readers
    buffer = io.BytesIO()
    save_safetensors({"a": rl.ones(2, 3), "b": rl.ones(4).half(), "c": rl.ones(1)}, buffer)
    found["safetensors"] = buffer.getvalue(), (load_safetensors,)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as made:
        for name in ("sys_info", "pickle", "tensors", "storages"):
            info = tarfile.TarInfo(name)
            data = pickle.dumps(0, 2)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    found["tar"] = buffer.getvalue(), (load,)
    return found


def mutated(data: bytes, draw: random.Random) -> bytes:
    """A file with something cut, copied, changed, or an extreme number written into it."""
    kind = draw.randrange(7)
    start = draw.randrange(len(data))
    stop = min(len(data), start + draw.randrange(1, 40))
    if kind == 0:
        return data[:start]
    if kind == 1:
        return data[:start] + data[stop:]
    if kind == 2:
        return data[:start] + draw.randbytes(stop - start) + data[stop:]
    if kind == 3:
        return data[:stop] + data[start:stop] * draw.choice([1, 3, 1000]) + data[stop:]
    changed = bytearray(data)
    if kind == 4:
        for _ in range(draw.randrange(1, 6)):
            changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif kind == 5:
        extreme = draw.choice([b"\xff" * 4, b"\xff" * 8, bytes(8), b"\xff\xff\xff\x7f",
                               struct.pack("<Q", 2**62), struct.pack("<L", len(data))])  # fmt: skip
        changed[start : start + len(extreme)] = extreme
    else:
        # An opcode in the pickle, where one may be.
        place = data.find(START)
        place = start if place < 0 else draw.randrange(place, min(len(data), place + 2500))
        changed[place] = draw.choice(
            b"(.0123FIJKLMNPQRSTUVX]abcdeghijlopqrstu}\x81\x85\x86\x87\x8f\x90"
        )
    return bytes(changed)


def mutations(
    count: int, seed: int
) -> Iterator[tuple[str, Callable[[], bytes], Callable[[str], Any]]]:
    """Changed files, from all formats and for all readers."""
    draw, whole = random.Random(seed), honest()
    for number in range(count):
        name = draw.choice(["zip", "zip", "stream", "stream", "safetensors", "tar"])
        data, readers = whole[name]
        for _ in range(draw.choice([1, 1, 1, 2, 4])):
            data = mutated(data, draw) or b"x"
        read = draw.choice(readers)
        yield f"mutation {number} of {name} ({read.__name__})", functools.partial(bytes, data), read


def kill_saves(count: int, seed: int, folder: Path, size: int = 200_000) -> list[str]:
    """Kills processes that save, and tells what was broken by it."""
    draw, path, broken = random.Random(seed), folder / "model.pt", []
    rl.save({"count": 0, "data": rl.zeros(size)}, path)
    newest = 0
    for number in range(count):
        child = os.fork()
        if child == 0:
            turn = newest
            while True:
                turn += 1
                rl.save({"count": turn, "data": rl.full((size,), float(turn))}, path)
        time.sleep(draw.uniform(0.001, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found = rl.load(path)
        whole = found["data"].numel() == size and bool(found["data"].eq(found["count"]).all())
        if not whole or found["count"] < newest:
            broken.append(f"kill {number}: a file that is neither old nor new")
        newest = max(newest, found["count"])
        if draw.random() < 0.3:
            rl.save(rl.ones(1), folder / "other.pt")
            left = {p.name for p in folder.iterdir()} - {"model.pt", "other.pt"}
            if left:
                broken.append(f"kill {number}: left {sorted(left)}")
    if not newest:
        broken.append("nothing was saved between kills")
    return broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="mutations of honest files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--every", type=int, default=1, help="takes each so-manieth bomb only")
    parser.add_argument("--untimed", action="store_true", help="for machines with other work")
    parser.add_argument("--only", default="", help="bombs whose name has this in it")
    parser.add_argument("-v", action="store_true", help="tells of every file")
    given = parser.parse_args()
    broken: list[str] = []
    done = loaded = 0
    slowest = largest = None
    some = itertools.islice(bombs(), given.seed % given.every, None, given.every)
    cases = [some] if given.only else [some, mutations(given.count, given.seed)]
    for source in cases:
        for name, make, read in source:
            if given.only not in name:
                continue
            data = make()
            outcome = measure(name, data, read, 60.0 if given.untimed else 20.0)
            outcome = outcome._replace(timed=not given.untimed)
            done, loaded = done + 1, loaded + outcome.result.startswith("loaded")
            if given.v or outcome.broken:
                print(outcome, flush=True)
            if outcome.broken:
                broken.append(name)
                with contextlib.suppress(OSError):
                    Path(tempfile.gettempdir(), f"attack-{len(broken)}.bin").write_bytes(data)
            slowest = max(slowest or outcome, outcome, key=lambda o: o.seconds)
            largest = max(largest or outcome, outcome, key=lambda o: o.memory)
    print(f"{done} files: {loaded} loaded, {len(broken)} broke a promise")
    print(f"slowest {slowest}\nlargest {largest}")
    if given.kills and not given.only:
        with tempfile.TemporaryDirectory() as folder:
            found = kill_saves(given.kills, given.seed, Path(folder))
        print(f"{given.kills} kills: {len(found)} broke a promise")
        print("\n".join(found), end="\n" if found else "")
        broken += found
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
