"""What files say of modules and sparse tensors, so that PyTorch opens them."""

import io
import pickle
import zipfile

import pytest

import rushlight as torch
from rushlight import nn


def written(value: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def pickled(value: object) -> bytes:
    return zipfile.ZipFile(io.BytesIO(written(value))).read("archive/data.pkl")


def loaded(data: bytes, **options: bool) -> object:
    return torch.load(io.BytesIO(data), **options)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (nn.MultiheadAttention(2, 1), b"torch.nn.modules.activation\nMultiheadAttention\n"),
        (nn.ParameterList([torch.ones(1)]), b"torch.nn.modules.container\nParameterList\n"),
        (nn.LazyConv2d(1, 1), b"torch.nn.modules.conv\nLazyConv2d\n"),
        (torch.eye(2).to_sparse(), b"torch._utils\n_rebuild_sparse_tensor\n"),
        (torch.distributions.transforms.ComposeTransform([]), b"torch.distributions.transforms\n"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_file_has_the_names_of_pytorch(value: object, name: bytes) -> None:
    assert name in pickled(value)


def test_a_recurrent_layer_keeps_the_list_of_its_weights() -> None:
    layer = nn.LSTM(2, 3)
    kept = layer.__getstate__()["_flat_weights"]
    assert [id(w) for w in kept] == [id(w) for w in layer.parameters()]
    again = loaded(written(layer), weights_only=False)
    x = torch.ones(1, 2)
    assert again(x)[0].tolist() == layer(x)[0].tolist()
    assert "_flat_weights" not in vars(again)


@pytest.mark.parametrize("make", ["to_sparse", "to_sparse_csr"])
def test_sparse_tensors_are_loaded_by_default(make: str) -> None:
    x = getattr(torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]), make)()
    for again in (loaded(written(x)), pickle.loads(pickle.dumps(x))):
        assert again.layout is x.layout and again.shape == x.shape
        assert again.to_dense().tolist() == x.to_dense().tolist()
    if make == "to_sparse":
        assert again.is_coalesced()


def test_parts_that_make_no_sparse_tensor_are_refused() -> None:
    rebuild = torch._utils._rebuild_sparse_tensor
    places, held = torch.tensor([[0, 5]]), torch.ones(2)
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        rebuild(torch.sparse_coo, (places, held, (3,), True))
    assert not rebuild(torch.sparse_coo, (places.flip(1), held, (9,), True)).is_coalesced()
    with pytest.raises(TypeError, match="as a part of a sparse tensor"):
        rebuild(torch.sparse_coo, ([[0]], held, (3,)))
    starts = torch.tensor([0, 1, 2])
    for bad, columns in (([0, 2, 1], [0, 1]), ([1, 1, 2], [0, 1]), ([0, 1, 2], [0, 7])):
        with pytest.raises(RuntimeError):
            parts = (torch.tensor(bad), torch.tensor(columns), held, (2, 2))
            rebuild(torch.sparse_csr, parts)
    made = rebuild(torch.sparse_csr, (starts, torch.tensor([0, 1]), held, (2, 2)))
    assert made.to_dense().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(ValueError, match="the size of a sparse tensor"):
        rebuild(torch.sparse_coo, (places, held, "x"))
