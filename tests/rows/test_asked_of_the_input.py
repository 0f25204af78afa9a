"""Misuse that is found late: arrays for tensors, texts for numbers, lists of other things."""

import numpy
import pytest

import rushlight as torch

F = torch.nn.functional
X = torch.ones(3, 2)


@pytest.mark.parametrize(
    "name", ["silu", "mish", "elu", "celu", "hardswish", "hardtanh", "relu6", "selu", "leaky_relu"]
)
def test_an_array_is_no_tensor(name):
    text = rf"^{name}\(\): argument 'input' \(position 1\) must be Tensor, not numpy.ndarray$"
    with pytest.raises(TypeError, match=text):
        getattr(F, name)(numpy.array([1.5]))


@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_functions_that_call_a_method_miss_it(name):
    with pytest.raises(AttributeError, match=f"'list' object has no attribute '{name}'"):
        getattr(F, name)([1])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: X.norm([1, "a"]), "linalg_vector_norm(): argument 'ord' (position 2) must be Num"),
        (lambda: X.norm(dtype={}), "linalg_vector_norm(): argument 'dtype' must be torch.dtype"),
        (lambda: X.norm(dim=X[0]), "argument 'dim' (position 3) must be tuple of ints, not Tensor"),
        (lambda: torch.meshgrid(indexing=X), "meshgrid(): argument 'indexing' must be str, not T"),
        (lambda: F.unfold(X, 1, [1.5, 2]), "but found element of type float at pos 0"),
        (lambda: F.unfold(X, 1, [1, "a"]), "failed to unpack the object at pos 2 with error"),
        (lambda: X.size(1.5), "size(): argument 'dim' (position 1) must be int, not float"),
        (lambda: X.to_sparse(True), "to_sparse() received an invalid combination of arguments"),
        (lambda: X.to_dense(masked_grad=X), "to_dense(): argument 'masked_grad' must be bool"),
        (lambda: X.is_pinned({}), "is_pinned(): argument 'device' (position 1) must be torch.dev"),
        (lambda: torch.range(0, 1, pin_memory=False), "unexpected keyword argument 'pin_memory'"),
    ],
)
def test_the_wrong_type_is_named(call, text):
    with pytest.raises(TypeError) as error:
        call()
    assert text in str(error.value)


def test_a_mask_of_sparse_places_has_to_be_sparse():
    with pytest.raises(NotImplementedError, match="Could not run 'aten::sparse_mask'"):
        X.sparse_mask(X)


@pytest.mark.filterwarnings("ignore:at..nuclear_norm is deprecated")
def test_dimensions_of_a_nuclear_norm_may_be_left_out():
    assert torch.nuclear_norm(X, True).shape == (1, 1)
    assert torch.nuclear_norm(X, (0, 1)).shape == ()


def test_what_else_is_wrong_comes_before_pinned_memory():
    with pytest.raises(RuntimeError, match="Dimension size must be non-negative"):
        torch.zeros([-5, 0], pin_memory=True)
    with pytest.raises(RuntimeError, match="pin_memory=True requires"):
        torch.zeros([5, 0], pin_memory=True)


def test_places_of_a_triangle_have_no_gradients():
    with pytest.raises(RuntimeError, match="can require gradients"):
        torch.tril_indices(3, 3, requires_grad=True)
    assert not torch.triu_indices(3, 3, requires_grad=False).requires_grad


def test_a_deprecated_call_of_a_method_is_shown_without_its_tensor():
    with pytest.warns(UserWarning, match=r"sub\(Number alpha, Tensor other\)"):
        torch.set_warn_always(True)
        try:
            X.sub(0.5, X)
        finally:
            torch.set_warn_always(False)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: F.layer_norm(2, (2,)), "layer_norm(): argument 'input' (position 1) must be Tens"),
        (lambda: F.layer_norm(X, 2), "argument 'normalized_shape' (position 2) must be tuple of i"),
        (lambda: F.rms_norm(X, [[1]]), "but found element of type list at pos 0"),
        (lambda: torch.matrix_exp(()), "matrix_exp(): argument 'input' (position 1) must be Tenso"),
    ],
)
def test_a_layer_says_what_its_operator_says(call, text):
    with pytest.raises(TypeError) as error:
        call()
    assert text in str(error.value)


def test_stacks_that_do_not_fit_are_refused_in_pytorchs_words():
    with pytest.raises(RuntimeError, match=r"a \(2\) must match the size of tensor b \(3\)"):
        torch.matmul(torch.ones(2, 3, 4), torch.ones(2, 3, 4, 3))
