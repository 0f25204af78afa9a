"""Sparse tensors: parts, printed form, arithmetic, products with gradients, errors."""

import copy
import pickle

import pytest

import rushlight as torch

PLACES = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])
VALUES = torch.tensor([3.0, 4.0, 5.0, 1.0])
DENSE = torch.tensor([[0.0, 0.0, 4.0], [4.0, 0.0, 5.0]])
X = torch.arange(6.0).view(3, 2)


def matrix(**options):
    return torch.sparse_coo_tensor(PLACES, VALUES, (2, 3), **options)


def random_matrix(height, width, count, **options):
    places = torch.stack([torch.randint(height, (count,)), torch.randint(width, (count,))])
    return torch.sparse_coo_tensor(places, torch.randn(count), (height, width), **options)


def test_it_has_the_shape_type_and_layout_of_a_tensor():
    s = matrix()
    assert isinstance(s, torch.Tensor)
    assert (tuple(s.shape), s.dtype, s.dim(), s.numel()) == ((2, 3), torch.float32, 2, 6)
    assert s.is_sparse and s.layout is torch.sparse_coo
    assert (s.sparse_dim(), s.dense_dim(), s._nnz(), s.is_coalesced()) == (2, 0, 4, False)


def test_coalesce_orders_places_and_adds_values_of_equal_ones():
    c = matrix().coalesce()
    assert c.indices().tolist() == [[0, 1, 1], [2, 0, 2]]
    assert c.values().tolist() == [4.0, 4.0, 5.0]
    assert torch.equal(matrix().to_dense(), DENSE)


def test_parts_of_an_uncoalesced_tensor_are_refused():
    with pytest.raises(RuntimeError, match="Cannot get indices on an uncoalesced tensor"):
        matrix().indices()


def test_the_printed_form_is_pytorchs():
    assert repr(matrix().coalesce()) == (
        "tensor(indices=tensor([[0, 1, 1],\n"
        "                       [2, 0, 2]]),\n"
        "       values=tensor([4., 4., 5.]),\n"
        "       size=(2, 3), nnz=3, layout=torch.sparse_coo)"
    )


def test_the_smallest_size_is_taken_where_none_is_given():
    assert tuple(torch.sparse_coo_tensor(PLACES, VALUES).shape) == (2, 3)
    assert torch.sparse_coo_tensor((2, 3)).to_dense().sum() == 0


def test_a_size_alone_makes_a_tensor_without_elements():
    for made in (torch.sparse_coo_tensor((2, 3)), torch.sparse_coo_tensor(size=(2, 3))):
        assert (made.shape, made._nnz()) == ((2, 3), 0)
    for wrong in ({}, {"indices": [2, 3], "size": (2, 3)}, {"values": VALUES, "size": (2, 3)}):
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            torch.sparse_coo_tensor(**wrong)
    with pytest.raises(TypeError, match=r"'size' .* must be tuple of ints, not Tensor"):
        torch.sparse_coo_tensor(PLACES)


@pytest.mark.parametrize(
    "product",
    [torch.mm, torch.matmul, torch.sparse.mm, torch.spmm, lambda a, b: a @ b],
)
def test_products_with_dense_matrices_are_those_of_the_dense_ones(product):
    assert torch.equal(product(matrix(), X), DENSE @ X)


def test_vectors_transposes_sums_and_linear_layers():
    s = matrix()
    assert torch.equal(s @ X[:, 0], DENSE @ X[:, 0])
    assert torch.equal(X.t() @ s.t(), X.t() @ DENSE.t())
    assert torch.equal(torch.sparse.addmm(torch.ones(2, 2), s, X), 1 + DENSE @ X)
    assert torch.equal(torch.nn.functional.linear(X.t(), s), X.t() @ DENSE.t())


def test_a_product_of_two_sparse_matrices_is_sparse():
    product = torch.sparse.mm(matrix(), matrix().t())
    assert product.is_sparse and torch.equal(product.to_dense(), DENSE @ DENSE.t())


def test_gradients_reach_values_and_dense_operands():
    torch.manual_seed(0)
    values, x = torch.randn(40, requires_grad=True), torch.randn(7, 3, requires_grad=True)
    places = torch.stack([torch.randint(5, (40,)), torch.randint(7, (40,))])
    weight = torch.randn(5, 3)
    (torch.sparse_coo_tensor(places, values, (5, 7)) @ x * weight).sum().backward()
    got = values.grad.clone(), x.grad.clone()
    values.grad = x.grad = None
    full = torch.zeros(5, 7).index_put(tuple(places), values, accumulate=True)
    (full @ x * weight).sum().backward()
    torch.testing.assert_close(got[0], values.grad)
    torch.testing.assert_close(got[1], x.grad)


def test_a_large_product_agrees_with_a_small_ones_way():
    torch.manual_seed(1)
    big = random_matrix(30, 20, 500)
    x = torch.randn(20, 4)
    torch.testing.assert_close(big @ x, big.to_dense() @ x)


def test_a_leaf_gets_a_sparse_gradient_at_its_places():
    s = matrix(requires_grad=True)
    (s @ X).sum().backward()
    assert s.grad.is_sparse
    assert s.grad.coalesce().values().tolist() == [9.0, 1.0, 9.0]


def test_elementwise_arithmetic_agrees_with_the_dense_one():
    s = matrix()
    other = torch.eye(3)[:2].to_sparse()
    for sparse, dense in (
        (s * 2, DENSE * 2),
        (2 * s, DENSE * 2),
        (s / 4, DENSE / 4),
        (-s, -DENSE),
        (s**2, DENSE**2),
        (s.sqrt(), DENSE.sqrt()),
        (torch.relu(-s), torch.relu(-DENSE)),
        (s + other, DENSE + torch.eye(3)[:2]),
        (s - other, DENSE - torch.eye(3)[:2]),
        (s * s, DENSE * DENSE),
        (s * torch.full((3,), 2.0), DENSE * 2),
        (torch.cat([s, s]), torch.cat([DENSE, DENSE])),
        (torch.stack([s, s], 1), torch.stack([DENSE, DENSE], 1)),
        (s.unsqueeze(0), DENSE.unsqueeze(0)),
        (s.index_select(0, torch.tensor([1, 1, 0])), DENSE[[1, 1, 0]]),
        (s[0], DENSE[0]),
        (torch.sparse.sum(s, 0), DENSE.sum(0)),
    ):
        assert torch.equal(sparse.to_dense(), dense)
    assert torch.equal(torch.ones(2, 3) + s, 1 + DENSE)
    assert s[0, 2] == 4 and s.sum() == 13


def test_softmax_counts_only_what_is_there():
    soft = torch.sparse.softmax(matrix(), 1).to_dense()
    there = torch.where(DENSE == 0, torch.tensor(float("-inf")), DENSE).softmax(1)
    torch.testing.assert_close(soft, there)


def test_a_sum_of_sparse_and_dense_is_refused_in_pytorchs_words():
    with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported"):
        matrix() + torch.ones(2, 3)


def test_what_sparse_tensors_lack_says_what_to_do():
    with pytest.raises(NotImplementedError, match=r"aten::exp.*x\.to_dense\(\)\.exp"):
        matrix().exp()
    with pytest.raises(TypeError, match="can't convert Sparse layout tensor to numpy"):
        matrix().numpy()


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(RuntimeError, match="must have same nnz"):
        torch.sparse_coo_tensor(PLACES, VALUES[:2], (2, 3))
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        torch.sparse_coo_tensor(PLACES, VALUES, (1, 3), check_invariants=True)


def test_copies_and_pickles_keep_everything():
    for twin in (copy.deepcopy(matrix()), pickle.loads(pickle.dumps(matrix())), matrix().clone()):
        assert repr(twin) == repr(matrix())


def test_writes_in_place_change_the_tensor():
    s = matrix()
    s.mul_(2).add_(s)
    assert torch.equal(s.to_dense(), 4 * DENSE)
    assert s.zero_()._nnz() == 0


def test_hybrid_tensors_have_dense_dimensions():
    s = torch.sparse_coo_tensor(PLACES, torch.ones(4, 2), (2, 3, 2))
    assert (s.sparse_dim(), s.dense_dim()) == (2, 1)
    assert s.to_dense().sum() == 8 and torch.sparse.sum(s, 2).to_dense()[0, 2] == 4


def test_dense_tensors_become_sparse_and_come_back():
    for dims in (1, 2):
        assert torch.equal(DENSE.to_sparse(dims).to_dense(), DENSE)
    assert DENSE.sparse_mask(torch.eye(3)[:2].to_sparse()).to_dense().tolist() == [
        [0, 0, 0],
        [0, 0, 0],
    ]


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
def test_compressed_rows_print_multiply_and_convert():
    rows = matrix().to_sparse_csr()
    assert rows.crow_indices().tolist() == [0, 1, 3] and rows.layout is torch.sparse_csr
    assert torch.equal(rows @ X, DENSE @ X)
    assert repr(rows) == (
        "tensor(crow_indices=tensor([0, 1, 3]),\n"
        "       col_indices=tensor([2, 0, 2]),\n"
        "       values=tensor([4., 4., 5.]), size=(2, 3), nnz=3,\n"
        "       layout=torch.sparse_csr)"
    )
    made = torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [4.0, 4.0, 5.0], (2, 3))
    assert torch.equal(made.to_dense(), DENSE)


def test_diagonals_make_a_matrix():
    made = torch.sparse.spdiags(torch.ones(2, 3), torch.tensor([0, 1]), (3, 3))
    assert torch.equal(made.to_dense(), torch.eye(3) + torch.diag(torch.ones(2), 1))


def test_data_of_a_sparse_tensor_has_its_elements() -> None:
    x = torch.eye(3).to_sparse()
    assert x.data.to_dense().tolist() == torch.eye(3).tolist()
    x.data = torch.zeros(2, 2).to_sparse()
    assert x.shape == (2, 2) and x._nnz() == 0
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        x.data = torch.eye(2)
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        torch.eye(2).data = x


def test_data_of_another_layout_is_refused() -> None:
    x, s = torch.randn(1, 2), torch.zeros(1, 2).to_sparse()
    for mine, other in ((x, s), (s, x)):
        with pytest.raises(RuntimeError, match="have incompatible tensor type"):
            mine.data = other


def test_stored_values_have_no_history() -> None:
    s = torch.ones(3).to_sparse().requires_grad_()
    assert s.values().requires_grad and not s._values().requires_grad


def test_elements_may_have_dimensions_of_their_own():
    s = X.to_sparse(dense_dim=1)
    assert (s.sparse_dim(), s.dense_dim(), s._nnz()) == (1, 1, 3)
    assert s.to_dense().tolist() == X.tolist()
    with pytest.raises(RuntimeError, match=r"dense_dim argument must be in \[0,2\] range, but -2"):
        X.to_sparse(dense_dim=-2)
