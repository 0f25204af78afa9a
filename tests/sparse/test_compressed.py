"""Compressed sparse matrices: rows and columns, of elements and of blocks."""

import copy
import io
import itertools

import pytest

import rushlight as torch

DENSE = [[1.0, 0, 2, 0], [0, 0, 3, 4]]
LAYOUTS = {
    torch.sparse_csr: None,
    torch.sparse_csc: None,
    torch.sparse_bsr: (1, 2),
    torch.sparse_bsc: (2, 2),
}
METHODS = {
    "to_sparse": (),
    "to_sparse_csr": (),
    "to_sparse_csc": (),
    "to_sparse_bsr": (2,),
    "to_sparse_bsc": (2,),
}


def made(layout: object) -> torch.Tensor:
    return torch.tensor(DENSE).to_sparse(layout=layout, blocksize=LAYOUTS[layout])


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_a_matrix_is_the_same_in_every_layout(layout: object) -> None:
    x = made(layout)
    assert x.layout is layout
    assert not x.is_sparse
    assert x.is_sparse_csr is (layout is torch.sparse_csr)
    for same in (x, x.to_sparse(), x.clone(), copy.deepcopy(x), (x * 2) / 2, x.t().t()):
        assert same.to_dense().tolist() == DENSE
    assert (x @ torch.ones(4, 1)).tolist() == [[3], [7]]
    assert x.t().to_dense().tolist() == torch.tensor(DENSE).t().tolist()


def test_parts() -> None:
    x = made(torch.sparse_csc)
    assert x.ccol_indices().tolist() == [0, 1, 1, 3, 4]
    assert x.row_indices().tolist() == [0, 0, 1, 1]
    assert x.values().tolist() == [1, 2, 3, 4]
    blocks = made(torch.sparse_bsr)
    assert blocks.crow_indices().tolist() == [0, 2, 3]
    assert blocks.col_indices().tolist() == [0, 1, 1]
    assert blocks.values().tolist() == [[[1, 0]], [[2, 0]], [[3, 4]]]
    assert blocks._nnz() == 3
    assert repr(x) == (
        "tensor(ccol_indices=tensor([0, 1, 1, 3, 4]),\n"
        "       row_indices=tensor([0, 0, 1, 1]),\n"
        "       values=tensor([1., 2., 3., 4.]), size=(2, 4), nnz=4,\n"
        "       layout=torch.sparse_csc)"
    )
    with pytest.raises(RuntimeError, match="sparse row compressed tensor layout but got SparseCsc"):
        x.crow_indices()
    with pytest.raises(RuntimeError, match="sparse coordinate tensor layout but got SparseBsr"):
        blocks.coalesce()


def test_of_parts() -> None:
    values = torch.arange(1.0, 7).view(3, 1, 2)
    rows = torch.sparse_bsr_tensor([0, 2, 3], [0, 1, 1], values)
    assert rows.to_dense().tolist() == [[1, 2, 3, 4], [0, 0, 5, 6]]
    columns = torch.sparse_bsc_tensor([0, 2, 3], [0, 1, 1], values)
    assert columns.to_dense().tolist() == [[1, 2, 0, 0], [3, 4, 5, 6]]
    csc = torch.sparse_csc_tensor([0, 1, 3], [0, 0, 1], [1.0, 2, 3])
    assert csc.to_dense().tolist() == [[1, 2], [0, 3]]
    with pytest.raises(RuntimeError, match="expected sparse compressed tensor layout but got none"):
        torch.sparse_compressed_tensor([0, 1], [0], [1.0])


def test_what_is_refused() -> None:
    x = torch.tensor(DENSE)
    with pytest.raises(RuntimeError, match=r"must be divisible by given blocksize \(3,2\)"):
        x.to_sparse_bsr((3, 2))
    with pytest.raises(RuntimeError, match="expected SparseCsr or SparseCsc layout but"):
        made(torch.sparse_bsr).to_sparse_csr()
    with pytest.raises(RuntimeError, match="blocksize changed from"):
        made(torch.sparse_bsr).to_sparse_bsr((2, 2))
    with pytest.raises(RuntimeError, match="without blocksize argument given is not supported"):
        x.to_sparse(layout=torch.sparse_bsc)
    with pytest.raises(RuntimeError, match="expected sparse column compressed tensor layout but"):
        x.ccol_indices()


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_files_keep_the_layout(layout: object) -> None:
    file = io.BytesIO()
    torch.save(made(layout), file)
    file.seek(0)
    found = torch.load(file)
    assert repr(found) == repr(made(layout))


def test_gradients_take_the_layout_of_what_they_are_of() -> None:
    full = torch.rand(4, 4) + 1
    given = torch.rand(4, 4) + 1
    count = 0
    for (first, a), (second, b) in itertools.product(METHODS.items(), repeat=2):
        x = getattr(full, first)(*a).requires_grad_()
        try:
            y = getattr(x, second)(*b)
        except RuntimeError:
            continue
        (found,) = torch.autograd.grad(y, x, getattr(given, second)(*b))
        assert found.layout is x.layout
        assert found.to_dense().tolist() == given.tolist()
        count += 1
    assert count == 21
    x = full.to_sparse_bsc((2, 1)).requires_grad_()
    (x.to_dense() * given).sum().backward()
    assert x.grad.layout is torch.sparse_bsc
    assert x.grad.to_dense().tolist() == given.tolist()


def test_gradients_of_layouts_are_checked() -> None:
    for layout, blocksize in LAYOUTS.items():
        x = torch.rand(4, 4, dtype=torch.double).to_sparse(layout=layout, blocksize=blocksize)
        assert torch.autograd.gradcheck(
            lambda x: (x * x).to_dense(), x.requires_grad_(), masked=True, check_batched_grad=False
        )


def test_linear_takes_a_sparse_weight_for_inputs_of_any_size() -> None:
    weight, bias = torch.rand(3, 4), torch.rand(3)
    for layout, blocksize in {torch.sparse_coo: None, torch.sparse_csc: None}.items():
        parameter = torch.nn.Parameter(weight.to_sparse(layout=layout, blocksize=blocksize))
        for size in ((4,), (2, 4), (2, 5, 4)):
            x = torch.rand(*size, requires_grad=True)
            found = torch.nn.functional.linear(x, parameter, bias)
            assert torch.allclose(found, torch.nn.functional.linear(x, weight, bias))
            grads = torch.autograd.grad(found.sum(), [parameter, x])
            assert grads[0].layout is layout
            assert grads[1].shape == x.shape


def test_a_dense_tensor_in_the_dense_layout_is_itself() -> None:
    x = torch.ones(2, 3)
    assert x.to_sparse(layout=torch.strided) is x
    assert torch.equal(x.to_sparse().to_sparse(layout=torch.strided), x)
    with pytest.raises(RuntimeError, match="dense_dim argument must be in"):
        x.to_sparse(layout=torch.strided, dense_dim=1)


def test_what_the_methods_do_not_take_is_told() -> None:
    x = torch.ones(2, 3)
    with pytest.raises(TypeError, match=r'missing 1 required positional arguments: "blocksize"'):
        x.to_sparse_bsr()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"TensorBase.ccol_indices\(\) takes no arguments"):
        x.ccol_indices(1)
    with pytest.raises(TypeError, match=r"'dense_dim' .* must be int, not float"):
        x.to_sparse_csc(1.5)
