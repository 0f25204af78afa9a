"""In-place methods, whose calls go by plans: keywords, defaults, what is refused."""

import pytest

import rushlight as torch


def test_calls_of_all_forms_write_into_the_first_argument() -> None:
    x, y = torch.ones(2, 3), torch.full((2, 3), 2.0)
    for _ in range(3):  # the first call makes the plan
        version = x._version
        assert x.add_(y, alpha=0.5) is x
        assert x.sub_(y, alpha=0.5) is x
        assert x.lerp_(end=y, weight=0.25) is x
        assert x.lerp_(y, -1 / 3) is x
        assert x.addcmul_(y, y, value=0.25) is x
        assert x.addcdiv_(y, y, value=-1) is x
        assert x.clamp_(min=-5, max=5) is x and x.clamp_(0.5, None) is x and x.clamp_(max=9) is x
        assert x._version == version + 9
        assert torch.allclose(x, torch.ones(2, 3))
    for _ in range(2):
        z = torch.arange(3)
        z.add_(torch.arange(3), alpha=2).mul_(True).clamp_(1, 5)
        assert z.tolist() == [1, 3, 5]


def test_what_is_recorded_or_refused_is_as_without_a_plan() -> None:
    leaf, y = torch.ones(3, requires_grad=True), torch.ones(3)
    for _ in range(3):
        for wrong in (
            lambda: leaf.add_(y, alpha=2), lambda: leaf.clamp_(0, 1), lambda: leaf.relu_(),
        ):  # fmt: skip
            with pytest.raises(RuntimeError, match="leaf"):
                wrong()
        x = leaf * 2
        x.add_(y, alpha=3).clamp_(min=0).lerp_(y, 0.5)
        leaf.grad = None
        x.sum().backward()
        assert leaf.grad is not None and leaf.grad.tolist() == [1, 1, 1]
        wide = torch.ones(1).expand(3)
        with pytest.raises(RuntimeError, match="single memory location"):
            wide.clamp_(0, 0.5)
        with pytest.raises(RuntimeError, match="can't be cast"):
            torch.arange(3).add_(y, alpha=1)
        with pytest.raises(RuntimeError, match="output with shape"):
            torch.ones(1).lerp_(y, 0.5)
        with pytest.raises(TypeError):
            y.add_(y, beta=3)
    with torch.inference_mode():
        assert torch.ones(2).relu_().is_inference()
    found = torch.func.vmap(lambda a: a.clone().clamp_(0, 1))(torch.arange(4.0).view(2, 2))
    assert found.tolist() == [[0, 1], [1, 1]]
