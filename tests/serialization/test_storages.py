"""Storages in files: they are written as the memory that tensors share, and come back as such."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

import rushlight as torch


@pytest.fixture(autouse=True)
def _deprecations_are_given() -> Iterator[None]:
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        torch.storage._reset_warn_typed_storage_removal()
        torch.ones(1).storage()
        yield


def again(value: Any, **how: Any) -> Any:
    file = io.BytesIO()
    torch.save(value, file, **how)
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize("archive", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.bfloat16, torch.complex64])
def test_a_storage_of_elements_comes_back_with_its_type(archive: bool, dtype: Any) -> None:
    storage = torch.tensor([0, 1, 1]).to(dtype).storage()
    loaded = again(storage, _use_new_zipfile_serialization=archive)
    assert type(loaded) is torch.storage.TypedStorage
    assert loaded.dtype == dtype and loaded.tolist() == storage.tolist()


@pytest.mark.parametrize("archive", [True, False])
def test_a_storage_of_bytes_comes_back_as_elements_of_a_byte(archive: bool) -> None:
    storage = torch.tensor([1, 256], dtype=torch.int16).untyped_storage()
    loaded = again([storage], _use_new_zipfile_serialization=archive)[0]
    assert type(loaded) is torch.storage.TypedStorage
    assert loaded.dtype == torch.uint8 and loaded.tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("archive", [True, False])
def test_a_storage_and_its_tensors_are_one_memory_afterwards(archive: bool) -> None:
    whole = torch.arange(6.0)
    saved = {"storage": whole.storage(), "part": whole[2:4], "again": whole.storage()}
    loaded = again(saved, _use_new_zipfile_serialization=archive)
    assert loaded["storage"] is loaded["again"]
    loaded["storage"][2] = 7.0
    assert loaded["part"].tolist() == [7.0, 3.0]
    assert loaded["part"].untyped_storage() is loaded["storage"]._untyped_storage


def test_memory_is_written_once() -> None:
    whole = torch.arange(4, dtype=torch.uint8)
    file = io.BytesIO()
    torch.save([whole, whole.storage(), whole.untyped_storage()], file)
    records = zipfile.ZipFile(file).namelist()
    assert [name for name in records if "/data/" in name] == ["archive/data/0"]


def test_memory_seen_as_two_types_is_refused() -> None:
    whole = torch.arange(4.0)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        torch.save([whole, whole.untyped_storage()], io.BytesIO())


def test_a_tensor_over_what_is_no_storage_is_refused() -> None:
    class Hostile:
        def __reduce__(self) -> Any:
            return torch._utils._rebuild_tensor_v2, ([1.0], 0, (1,), (1,), False, {})

    with pytest.raises((TypeError, pickle.UnpicklingError), match="no storage"):
        again(Hostile())


def test_a_storage_without_data_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
        torch.save(torch.empty(2, device="meta").untyped_storage(), io.BytesIO())
