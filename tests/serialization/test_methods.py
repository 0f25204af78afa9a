"""Methods of tensors in pickles and files."""

import copy
import io
import pickle

import pytest

import rushlight

NAMES = ("add", "add_", "__add__", "__rsub__", "sum", "split", "detach", "det", "size")


@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_holds_a_method_by_its_place_in_the_class(name: str) -> None:
    method = getattr(rushlight.Tensor, name)
    for protocol in (2, 4, 5):
        assert pickle.loads(pickle.dumps(method, protocol)) is method
    assert copy.copy(method) is copy.deepcopy(method) is method


@pytest.mark.parametrize("name", NAMES)
def test_files_carry_methods_both_ways(name: str) -> None:
    torch = pytest.importorskip("torch")
    for writer, reader in ((torch, rushlight), (rushlight, torch), (rushlight, rushlight)):
        file = io.BytesIO()
        writer.save({"method": getattr(writer.Tensor, name)}, file)
        file.seek(0)
        found = reader.load(file, weights_only=False)["method"]
        assert found is getattr(reader.Tensor, name)
