"""Writes by an index that need no closer look: into views of one memory, at masks and places."""

import numpy as np
import pytest

import rushlight as torch


def test_a_part_that_is_changed_and_put_back_is_counted_twice() -> None:
    x = torch.arange(12.0).view(3, 4)
    x[1] += 1
    x[:, 0] /= torch.tensor([1.0, 5.0, 4.0])
    x[:, ::2] *= x[:, ::2].clone()
    assert x._version == 6
    assert x.tolist() == [[0, 1, 4, 3], [1, 6, 49, 8], [4, 9, 100, 11]]


def test_parts_of_one_memory_are_told_from_each_other() -> None:
    x = torch.arange(8.0)
    x[0:4] = x[4:8]  # beside each other
    assert x.tolist() == [4, 5, 6, 7, 4, 5, 6, 7]
    x[::2] = x[1::2]  # between each other
    assert x.tolist() == [5, 5, 7, 7, 5, 5, 7, 7]
    for write in (lambda: x.__setitem__(slice(0, 4), x[2:6]), lambda: x[0:4].add_(x[2:6])):
        with pytest.raises(RuntimeError, match="memory"):
            write()
    assert x.tolist() == [5, 5, 7, 7, 5, 5, 7, 7]
    x[0:4] += x[0:4]
    y = x.flip(0)
    x[:] = y[:]
    assert x.tolist() == [7, 7, 5, 5, 14, 14, 10, 10]


def test_masks_and_places_take_numbers_and_tensors() -> None:
    x = torch.arange(6.0).view(2, 3)
    x[x > 3] = -1
    x[torch.tensor([True, False])] = torch.tensor([7.0, 8.0, 9.0])
    assert x.tolist() == [[7, 8, 9], [3, -1, -1]]
    x[torch.tensor([-1, 0, -1])] = torch.tensor([[1.0], [2.0], [3.0]])
    assert x.tolist() == [[2, 2, 2], [3, 3, 3]] and x._version == 3
    x.t()[torch.tensor([[0, 2]])] = 5
    assert x.tolist() == [[5, 2, 5], [5, 3, 5]]
    for wrong, error in (
        (torch.tensor([2]), IndexError),
        (torch.tensor([True]), IndexError),
        (torch.tensor([[True, True, False]] * 2), RuntimeError),
    ):
        with pytest.raises(error):
            x[wrong] = torch.ones(3)
    assert x.tolist() == [[5, 2, 5], [5, 3, 5]]
    half, whole = torch.zeros(3, dtype=torch.float16), torch.zeros(3, dtype=torch.int64)
    half[half == 0] = 1e9
    whole[whole == 0] = 2.7
    assert half.tolist() == [float("inf")] * 3 and whole.tolist() == [2] * 3


def test_writes_that_are_recorded_or_refused_take_the_whole_way() -> None:
    leaf = torch.zeros(4, requires_grad=True)
    for key in (torch.tensor([0]), leaf.detach() == 0, slice(0, 2)):
        with pytest.raises(RuntimeError, match="leaf"):
            leaf[key] = 1.0
    x = leaf * 2
    x[torch.tensor([1, 1])] = 5.0
    x[x.detach() == 5] += 1
    x[::3] = leaf[::3] * 3
    x.sum().backward()
    assert leaf.grad is not None and leaf.grad.tolist() == [3, 1 - 1, 2, 3]
    wide = torch.zeros(1).expand(3)
    with pytest.raises(RuntimeError, match="single memory location"):
        wide[0:2] += torch.ones(2)
    locked = np.zeros(3)
    y = torch.from_numpy(locked)
    locked.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        y[torch.tensor([0])] = 1.0


def test_slices_with_steps_and_dots_are_recorded_as_before() -> None:
    x = torch.arange(24.0).view(2, 3, 4).requires_grad_()
    y = x[:, ::2, 1::3]
    assert y.tolist() == [[[1], [9]], [[13], [21]]] and "Slice" in repr(y.grad_fn)
    z = x[..., torch.tensor([3, -4])]
    assert z.tolist() == x[:, :, torch.tensor([3, 0])].tolist()
    (y.sum() + z.sum()).backward()
    assert x.grad is not None and x.grad.sum().item() == 4 + 12
    assert x[..., torch.tensor([0]), ...].shape == (2, 3, 1)
    with pytest.raises(IndexError, match="too many"):
        x[0, 0, 0, ..., torch.tensor([0])]
    for step in (0, -1):
        with pytest.raises(ValueError, match="step"):
            x[:, ::step]


def test_a_mask_may_fill_itself() -> None:
    for value in (False, torch.tensor(False)):
        m = torch.tensor([[True, False], [False, True]])
        m[m] = value
        assert not m.any()
    m = torch.tensor([[True, False], [False, True]])
    m[0][m[0]] = False
    assert m.tolist() == [[False, False], [False, True]]
    with pytest.raises(RuntimeError, match="single memory location"):
        m[m] = torch.tensor([False, False])
    line = torch.tensor([True, True, False, True])
    with pytest.raises(RuntimeError, match="single memory location"):
        line[:3][line[1:]] = False
    with pytest.raises(RuntimeError, match="single memory location"):
        places = torch.tensor([1, 0])
        places[places] = 5
