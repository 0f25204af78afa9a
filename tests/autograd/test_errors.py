# ruff: noqa: E501
"""Wrong uses raise PyTorch's exceptions in PyTorch's words."""

from collections.abc import Callable

import pytest

import rushlight as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def in_place_on_a_leaf() -> None:
    leaf(1.0).add_(1)


def in_place_on_a_view_of_a_leaf() -> None:
    leaf(1.0, 2.0)[:1].add_(1)


def second_backward() -> None:
    x = leaf(1.0)
    y = x * x
    y.backward()
    y.backward()


def modified_saved_tensor() -> None:
    y = leaf(1.0, 2.0, 3.0) * 1
    z = y * y
    y.mul_(2)
    z.sum().backward()


CASES: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: (leaf(1.0, 2.0) * 2).backward(), RuntimeError, "grad can be implicitly created only for scalar outputs"),
    (second_backward, RuntimeError, "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward."),
    (in_place_on_a_leaf, RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation."),
    (in_place_on_a_view_of_a_leaf, RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation."),
    (modified_saved_tensor, RuntimeError, "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [3]], which is output 0 of Mul, is at version 1; expected version 0 instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."),
    (lambda: (leaf(1.0, 2.0) * 2).backward(torch.ones(3)), RuntimeError, "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of torch.Size([2])."),
    (lambda: (leaf(1.0, 2.0) * 2).backward(torch.ones(2, dtype=torch.complex64)), RuntimeError, "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: grad_output[0] has a dtype of torch.complex64 and output[0] has a dtype of torch.float32."),
    (lambda: (leaf(1.0) * 2).backward([1.0]), TypeError, "gradients can be either Tensors or None, but got float"),
    (lambda: (leaf(1.0) * 2).backward(1.0), TypeError, "'float' object is not iterable"),
    (lambda: (leaf(1.0) * 2).backward(grad=None), TypeError, "Tensor.backward() got an unexpected keyword argument 'grad'"),
    (lambda: torch.ones(1).backward(), RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn"),
    (lambda: torch.autograd.backward([leaf(1.0), torch.ones(1)]), RuntimeError, "element 1 of tensors does not require grad and does not have a grad_fn"),
    (lambda: torch.autograd.backward([leaf(1.0), leaf(1.0)], [torch.ones(1)]), RuntimeError, "got 2 tensors and 1 gradients"),
    (lambda: (leaf(1.0) * 2).backward(inputs=[]), RuntimeError, "`inputs` argument to `backward()` cannot be empty."),
    (lambda: (leaf(1.0) * 2).backward(inputs=[torch.ones(1)]), RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"),
    (lambda: torch.autograd.grad(leaf(1.0) * 2, []), RuntimeError, "`inputs` argument to `grad()` cannot be empty."),
    (lambda: torch.autograd.grad(leaf(1.0) * 2, torch.ones(1)), RuntimeError, "One of the differentiated Tensors does not require grad"),
    (lambda: torch.ones(2, 2, requires_grad=True).sum(5), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 5)"),
    (lambda: torch.ones(2, 2)[5], IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    (lambda: leaf(1.0, 2.0) * leaf(1.0, 2.0, 3.0), RuntimeError, "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"),
    (lambda: torch.ones(2, 3) @ torch.ones(2, 3), RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    (lambda: torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.float64), RuntimeError, "expected m1 and m2 to have the same dtype, but got: float != double"),
    (lambda: torch.ones(2, dtype=torch.int64).add_(1.5), RuntimeError, "result type Float can't be cast to the desired output type Long"),
    (lambda: torch.ones(2, dtype=torch.int64).requires_grad_(), RuntimeError, "only Tensors of floating point dtype can require gradients"),
    (lambda: (leaf(1.0) * 2).requires_grad_(False), RuntimeError, "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."),
]  # fmt: skip


@pytest.mark.parametrize(("action", "kind", "text"), CASES, ids=[c[2][:48] for c in CASES])
def test_the_type_and_the_text_are_those_of_pytorch(
    action: Callable[[], object], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind) as caught:
        action()
    assert type(caught.value) is kind and str(caught.value) == text


def test_a_wrong_gradient_is_refused_where_it_is_assigned() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(
        RuntimeError,
        match=r"attempting to assign a gradient of size '\[3\]' to a tensor of size '\[2\]'",
    ):
        x.grad = torch.ones(3)
    with pytest.raises(
        RuntimeError, match="with dtype 'double' to a tensor with grad_dtype 'Float'"
    ):
        x.grad = torch.ones(2, dtype=torch.float64)
    with pytest.raises(
        TypeError, match="assigned grad expected to be a Tensor or None but got grad of type"
    ):
        x.grad = 1.0
    assert x.grad is None


def test_what_is_no_tensor_is_no_root_whatever_its_gradient() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(AssertionError, match="Expected output to be"):
        torch.autograd.backward([(x,)], [(x,)])


def test_a_cross_entropy_of_a_number_is_refused() -> None:
    for target in (torch.tensor([0, 1]), torch.tensor(1.0)):
        with pytest.raises(IndexError, match="Dimension"):
            torch.nn.functional.cross_entropy(torch.tensor(1.0), target)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((5,), "The size of tensor a (3) must match the size of tensor b (5) at non-singleton dimension 0"),
        ((2, 3), "output with shape [3] doesn't match the broadcast shape [2, 3]"),
        ((0, 1), "output with shape [3] doesn't match the broadcast shape [0, 3]"),
    ],
)  # fmt: skip
def test_a_gradient_of_another_shape_than_the_old_one_is_refused(
    shape: tuple[int, ...], text: str
) -> None:
    x = leaf(1.0, 2.0, 3.0)
    x.sum().backward()
    old = x.grad
    x.data = torch.ones(shape)
    with pytest.raises(RuntimeError) as caught:
        x.sum().backward()
    assert str(caught.value) == text
    assert x.grad is old and old is not None and old.tolist() == [1.0, 1.0, 1.0]
