"""Ways to read a file: mapped, placed, looked into."""

import io
import os
import pickle
import tempfile

import torch
from observation import outcome
from torch import serialization


def _file(folder):
    path = os.path.join(folder, "x.pt")
    torch.save({"a": torch.ones(2), "b": torch.arange(3)}, path)
    return path


def places() -> None:
    seen = []

    def place(storage, location):
        seen.append((type(storage).__name__, location, storage.nbytes()))
        return storage

    with tempfile.TemporaryDirectory() as folder:
        path = _file(folder)
        for where in (place, None, "cpu", torch.device("cpu"), {"cpu": "cpu"}, lambda s, l: None, {"cpu": "cuda:0"}, "cuda", "foo", 3):
            outcome(lambda where=where: print(torch.load(path, map_location=where)))
    print(seen)


def maps() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = _file(folder)
        mapped = torch.load(path, mmap=True)
        mapped["a"].add_(1)
        print(mapped, torch.load(path))
        outcome(lambda: torch.load(io.BytesIO(), mmap=True))
        os.chdir(folder)
        old = os.path.join(folder, "old.pt")
        torch.save(1, old, _use_new_zipfile_serialization=False)
        outcome(lambda: torch.load("old.pt", mmap=True))
        os.chdir("/")


class Thing:
    pass


def names_outside_the_list() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.pt")
        torch.save([Thing(), 1], path)
        names = serialization.get_unsafe_globals_in_checkpoint(path)
        print(sorted(name.rpartition(".")[2] for name in names))
        with serialization.safe_globals([Thing]):
            print(serialization.get_unsafe_globals_in_checkpoint(path), len(torch.load(path)))
        outcome(lambda: torch.load(path, weights_only=True, pickle_module=pickle))


def settings() -> None:
    print(serialization.get_default_load_endianness(), serialization.get_crc32_options(), serialization.get_default_mmap_options())
    buffer = io.BytesIO()
    with serialization.skip_data():
        torch.save(torch.ones(3), buffer)
    buffer.seek(0)
    print(torch.load(buffer))
    outcome(lambda: serialization.set_default_load_endianness(1))
