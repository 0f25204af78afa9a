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


def test_empty_parts_show_their_sizes_and_complex_numbers_no_type_if_it_is_the_usual_one() -> None:
    empty = torch.zeros(2, 3, dtype=torch.complex64).to_sparse_csr()
    assert repr(empty) == (
        "tensor(crow_indices=tensor([0, 0, 0]),\n"
        "       col_indices=tensor([], size=(0,)),\n"
        "       values=tensor([], size=(0,)), size=(2, 3), nnz=0,\n"
        "       layout=torch.sparse_csr)"
    )


def test_long_parts_are_wrapped_at_the_width_of_the_line() -> None:
    wide = torch.ones(1, 30)
    for x in (wide.to_sparse_csr(), wide.to_sparse()):
        for width in (60, 80):
            with torch._tensor_str.printoptions(linewidth=width):
                assert max(map(len, repr(x).splitlines())) <= width


ROWS, LEFT, RIGHT = ([[1.0, 0, 2], [0, 0, 3]], (2, 4), (4, 3))


def sampled() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    places = torch.tensor(ROWS, dtype=torch.float64).to_sparse_csr()
    left = torch.arange(8.0, dtype=torch.float64).view(LEFT).requires_grad_()
    return places, left, (torch.arange(12.0, dtype=torch.float64).view(RIGHT) - 5).requires_grad_()


@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_a_sampled_product_is_the_product_at_the_places(monkeypatch, block) -> None:
    monkeypatch.setattr("rushlight.sparse.sampled._BLOCK", block)
    places, left, right = sampled()
    found = torch.sparse.sampled_addmm(places, left, right, beta=0.5, alpha=2)
    mask = places.to_dense() != 0
    whole = (0.5 * places.to_dense() + 2 * left @ right) * mask
    assert found.layout is torch.sparse_csr and torch.equal(found.to_dense(), whole)
    weights = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64)
    expected = torch.autograd.grad((whole[mask] * weights).sum(), (left, right))
    given = torch.autograd.grad((found.values() * weights).sum(), (left, right))
    assert all(torch.equal(a, b) for a, b in zip(expected, given, strict=True))


def test_a_sampled_product_goes_into_a_matrix_that_is_given_or_refuses_it() -> None:
    places, left, right = (x.detach() for x in sampled())
    out = torch.eye(3, dtype=torch.float64)[:2].to_sparse_csr()
    assert torch.sparse.sampled_addmm(places, left, right, out=out) is out
    wanted = torch.sparse.sampled_addmm(places, left, right)
    assert repr(out) == repr(wanted)
    square = torch.eye(3, dtype=torch.float64).to_sparse_csr()
    with pytest.raises(RuntimeError, match="another size"):
        torch.sparse.sampled_addmm(places, left, right, out=square)
    with pytest.raises(RuntimeError, match="sparse csr layout, but got Strided"):
        torch.sparse.sampled_addmm(places, left, right, out=torch.ones(2, 3))


def test_a_sampled_product_of_nothing() -> None:
    places, left, right = (x.detach() for x in sampled())
    empty = torch.zeros(2, 3, dtype=torch.float64).to_sparse_csr()
    assert torch.sparse.sampled_addmm(empty, left, right)._nnz() == 0
    found = torch.sparse.sampled_addmm(places, left[:, :0], right[:0], beta=0.5)
    assert found.values().tolist() == [0.5, 1.0, 1.5]


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        (lambda p, a, b: (p.to_dense(), a, b), NotImplementedError, "aten::sparse_sampled_addmm"),
        (lambda p, a, b: (p.to_sparse_csc(), a, b), RuntimeError, "csr layout, but got SparseCsc"),
        (lambda p, a, b: (p, a.to_sparse(), b), RuntimeError, "mat1 to have strided layout, but"),
        (lambda p, a, b: (p, a.float(), b), RuntimeError, "same dtype, but got Float and Double"),
        (lambda p, a, b: (p, a[0], b), RuntimeError, "mat1 to be a matrix, got 1-D tensor"),
        (lambda p, a, b: (p, a, b[:3]), RuntimeError, r"be multiplied \(2x4 and 3x3\)"),
        (lambda p, a, b: (p, a[:1], b), RuntimeError, r"self.shape\[-2\] must match mat1.shape"),
        (lambda p, a, b: (p, a, b[:, :2]), RuntimeError, r"self.shape\[-1\] must match mat2"),
        (lambda p, a, b: (p, a, 3.0), TypeError, "must be Tensor, not float"),
    ],
)
def test_what_a_sampled_product_refuses(change, kind, text) -> None:
    with pytest.raises(kind, match=text):
        torch.sparse.sampled_addmm(*change(*(x.detach() for x in sampled())))
