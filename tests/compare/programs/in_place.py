"""In-place writes and views: versions, rebased history, shared memory, what is refused."""

import torch
from observation import outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def versions_count_in_place_writes() -> None:
    x = torch.zeros(3)
    print(x._version)
    x.add_(1)
    x[0] = 5
    x.mul_(2)
    x.fill_(1)
    x.zero_()
    print(x._version)
    x += 1
    print(x._version, x)
    x.data.add_(1)
    print(x._version)
    x.detach().add_(1)
    print(x._version)


def views_share_the_version_of_their_base() -> None:
    x = torch.zeros(2, 2)
    v = x[0]
    w = x.view(4)
    v.add_(1)
    print(x._version, v._version, w._version)
    w.add_(1)
    print(x._version, v._version, x)
    print(x.clone()._version, x.detach()._version, x.data._version)


def an_in_place_operation_returns_its_tensor() -> None:
    x = torch.ones(2)
    print(x.add_(1) is x, x.mul_(2).sub_(1) is x, x)
    y = _leaf(1.0) * 1
    node = y.grad_fn
    y.mul_(3)
    print(y.grad_fn is node, y.grad_fn, y.grad_fn.next_functions[0][0] is node)


def a_leaf_that_needs_a_gradient_refuses_in_place() -> None:
    x = _leaf(1.0, 2.0)
    for action in (
        lambda: x.add_(1),
        lambda: x.zero_(),
        lambda: x.__setitem__(0, 1.0),
        lambda: x.copy_(torch.ones(2)),
        lambda: x.view(2).mul_(2),
        lambda: x[:1].add_(1),
        lambda: x.fill_(0),
        lambda: x.uniform_(),
        lambda: torch.nn.init.zeros_(x),
        lambda: torch.add(x, 1, out=x),
    ):
        outcome(action)


def a_leaf_may_be_written_under_no_grad() -> None:
    x = _leaf(1.0, 2.0)
    with torch.no_grad():
        x.add_(1)
        x[0] = 7
        x -= 0.5
    print(x, x._version, x.is_leaf)


def an_in_place_write_with_a_gradient_makes_a_plain_tensor_need_one() -> None:
    x = torch.zeros(3)
    w = _leaf(2.0)
    x[1] = w[0] * 3
    print(x.requires_grad, x.grad_fn)
    x.sum().backward()
    print(w.grad)
    y = torch.ones(1)
    y.mul_(w)
    print(y.requires_grad, y.is_leaf, y)


def writing_into_a_view_changes_the_history_of_the_base() -> None:
    x = _leaf(1.0, 2.0, 3.0)
    y = x * 1
    v = y[1:]
    v.mul_(10)
    print(y, y.grad_fn, v.grad_fn)
    y.sum().backward()
    print(x.grad)


def writing_into_the_base_changes_the_history_of_its_views() -> None:
    x = _leaf(1.0, 2.0, 3.0)
    y = x * 1
    v = y[1:]
    before = v.grad_fn
    y.mul_(10)
    print(v, v.grad_fn, v.grad_fn is before)
    v.sum().backward()
    print(x.grad)


def writing_into_a_view_of_a_view() -> None:
    x = torch.arange(6.0).requires_grad_()
    y = x * 1
    v = y.view(2, 3)
    w = v[1]
    w[0] = 100.0
    w.mul_(2)
    print(y, y.grad_fn, v.grad_fn, w.grad_fn)
    (y * torch.arange(6.0)).sum().backward()
    print(x.grad)


def a_view_of_a_view_has_the_first_base() -> None:
    x = torch.zeros(2, 3)
    v = x.view(6)[1:]
    print(v._base is x, v._is_view(), x._is_view(), x._base)
    print(x.t()._base is x, x.clone()._base, (x + 1)._base, x.reshape(6)._base is x)
    print(x.t().reshape(6)._base, x.detach()._base, x.detach()._is_view())


def two_views_that_overlap_see_each_others_writes() -> None:
    x = torch.zeros(4, requires_grad=True)
    y = x * 1
    a, b = y[:3], y[1:]
    a.add_(1)
    b.mul_(5)
    print(y, a, b)
    a.sum().backward()
    print(x.grad)


def slices_assign_with_gradients() -> None:
    x = torch.zeros(2, 3)
    r = _leaf(1.0, 2.0, 3.0)
    c = _leaf(7.0, 8.0)
    x[0] = r
    x[:, 1] = c
    print(x)
    (x * torch.arange(6.0).view(2, 3)).sum().backward()
    print(r.grad, c.grad)


def assignment_broadcasts_and_reduces_the_gradient() -> None:
    x = torch.zeros(2, 3)
    s = torch.tensor(4.0, requires_grad=True)
    r = _leaf(1.0, 2.0, 3.0)
    x[:] = r
    x[1] = s
    x.sum().backward()
    print(s.grad, r.grad)


def a_view_made_under_no_grad_refuses_recorded_writes() -> None:
    x = _leaf(1.0, 2.0)
    with torch.no_grad():
        v = x[:1]
    print(v.requires_grad, v._is_view())
    outcome(v.add_, 1)
    y = _leaf(1.0, 2.0) * 1
    with torch.no_grad():
        w = y[:1]
    outcome(w.mul_, 2)
    outcome(w.mul_, _leaf(2.0))


def a_view_made_under_no_grad_of_a_plain_tensor() -> None:
    x = torch.zeros(2)
    with torch.no_grad():
        v = x[:1]
    w = _leaf(3.0)
    outcome(v.add_, w)
    print(x)


def multi_output_views_refuse_in_place() -> None:
    x = torch.zeros(4, requires_grad=True)
    y = x * 1
    for name, parts in (
        ("unbind", lambda: y.unbind()),
        ("split", lambda: y.split(2)),
        ("chunk", lambda: y.chunk(2)),
    ):
        print(name)
        outcome(parts()[0].add_, 1)
    outcome((x * 1).unbind()[0].detach().add_, 1)


def multi_output_views_of_a_plain_tensor_may_be_written() -> None:
    x = torch.zeros(4)
    a, b = x.chunk(2)
    a.add_(1)
    print(x)
    outcome(b.add_, _leaf(1.0, 2.0))


def writing_into_the_base_of_a_multi_output_view() -> None:
    x = torch.zeros(4, requires_grad=True)
    y = x * 1
    a, _ = y.chunk(2)
    y.add_(1)
    outcome(lambda: a.grad_fn)
    print(y.grad_fn)


def detach_shares_memory_and_cuts_history() -> None:
    x = _leaf(1.0, 2.0)
    d = x.detach()
    print(d.requires_grad, d.is_leaf, d.data_ptr() == x.data_ptr(), d.grad_fn)
    d[0] = 9
    print(x, x._version)


def detach_in_place_makes_a_leaf() -> None:
    x = _leaf(1.0)
    y = x * 2
    y.detach_()
    print(y.requires_grad, y.is_leaf, y.grad_fn)
    v = (x * 2)[:]
    outcome(v.detach_)


def data_shares_memory_without_versions() -> None:
    x = _leaf(1.0, 2.0)
    d = x.data
    d[0] = 9
    print(x, x._version, d._version, d.requires_grad, d is x.data)
    x.data = torch.zeros(3)
    print(x, x.shape, x.is_leaf)
    outcome(setattr, x, "data", 5)
    x.data = torch.zeros(2)


def copy_moves_values_and_gradients() -> None:
    x = torch.zeros(2, 3)
    s = _leaf(1.0, 2.0, 3.0)
    x.copy_(s)
    print(x)
    x.sum().backward()
    print(s.grad)
    outcome(torch.zeros(2).copy_, torch.ones(3))
    print(torch.zeros(2, dtype=torch.int64).copy_(torch.tensor([1.9, -1.9])))


def copy_into_part_of_a_tensor_stops_the_old_gradient() -> None:
    x, s = _leaf(1.0, 2.0), _leaf(5.0)
    y = x * 1
    y[:1].copy_(s)
    (y * 3).sum().backward()
    print(x.grad, s.grad)


def zero_and_fill_stop_the_gradient() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 2
    y.zero_()
    print(y.requires_grad, y.grad_fn)
    y.sum().backward()
    print(x.grad)
    z = x * 2
    z[0].fill_(5)
    z.sum().backward()
    print(z, x.grad)


def as_strided_makes_any_window() -> None:
    x = torch.arange(6.0)
    w = x.as_strided((2, 3), (1, 2))
    outcome(x.as_strided, (2, 3), (1, 2), 1)
    print(x.as_strided((3, 2), (1, 3)), x.as_strided((4, 3), (1, 1)))
    print(w.stride(), w.storage_offset(), w._base is x)
    y = torch.arange(4.0).requires_grad_()
    y.as_strided((3, 2), (1, 1)).sum().backward()
    print(y.grad)
    outcome(x.as_strided, (4, 4), (2, 2))
    outcome(x.as_strided, (2,), (1, 1))
    outcome(x.as_strided, (2,), (-1,))


def expanded_tensors_refuse_in_place() -> None:
    x = torch.zeros(1).expand(3)
    outcome(x.add_, 1)
    outcome(x.mul_, torch.ones(3))
    outcome(x.copy_, torch.ones(3))
    outcome(x.fill_, 1)
    outcome(x.__setitem__, 0, 5.0)


def partial_overlap_is_refused() -> None:
    x = torch.arange(4.0)
    outcome(x[1:].add_, x[:-1])
    outcome(x[1:].copy_, x[:-1])
    outcome(torch.add, x[:-1], 1, out=x[1:])


def in_place_may_not_change_the_shape() -> None:
    outcome(torch.zeros(1).add_, torch.ones(3))
    outcome(torch.zeros(3, 1).mul_, torch.ones(3, 3))
    outcome(torch.tensor(0.0).add_, torch.ones(1))
    print(torch.zeros(1, 3).add_(torch.ones(3)))


def in_place_casts_are_checked() -> None:
    outcome(torch.zeros(2, dtype=torch.int64).add_, 0.5)
    outcome(torch.zeros(2, dtype=torch.int64).add_, torch.ones(2))
    outcome(torch.zeros(2, dtype=torch.int64).div_, 2)
    outcome(torch.zeros(2, dtype=torch.bool).add_, 1)
    outcome(torch.zeros(2).add_, 1j)
    outcome(torch.zeros(2, dtype=torch.float16).add_, torch.ones(2, dtype=torch.float64))
    outcome(torch.zeros(2, dtype=torch.uint8).add_, torch.ones(2, dtype=torch.int64))
    outcome(torch.zeros(2, dtype=torch.int64).exp_)


def in_place_comparison_and_logic() -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    print(x.gt_(1.5), x.eq_(1), x.logical_not_())
    y = torch.tensor([1, 2, 3])
    y &= 1
    print(y)
    y |= 4
    y ^= 1
    y <<= 1
    print(y)


def augmented_assignment_writes_in_place() -> None:
    x = torch.ones(2)
    y = x
    x += 1
    x -= 0.5
    x *= 4
    x /= 2
    x **= 2
    x //= 2
    x %= 3
    print(x is y, y)
    w = _leaf(1.0)

    def change():
        z = w
        z += 1

    outcome(change)


def requires_grad_can_be_set_on_leaves_only() -> None:
    x = torch.zeros(2)
    x.requires_grad = True
    y = x * 2
    outcome(setattr, y, "requires_grad", False)
    outcome(setattr, y, "requires_grad", True)
    outcome(y.requires_grad_, False)
    print(y.requires_grad_() is y)
    x.requires_grad = False
    print(x.requires_grad, y.requires_grad)
    outcome(setattr, torch.ones(1, dtype=torch.int64), "requires_grad", True)
    outcome(setattr, x, "requires_grad", "yes")


def requires_grad_of_a_view_of_a_leaf() -> None:
    x = torch.zeros(4)
    v = x[:2]
    v.requires_grad_()
    print(v.is_leaf, x.requires_grad, v._is_view())
    (v * 3).sum().backward()
    print(v.grad, x.grad)
    outcome(v.add_, 1)
    outcome(x.add_, 1)


def swapping_memory_with_set_and_resize() -> None:
    x = torch.zeros(2)
    y = torch.arange(6.0)
    x.set_(y)
    print(x, x.data_ptr() == y.data_ptr())
    z = torch.arange(4.0)
    z.resize_(2, 2)
    print(z)
    outcome(_leaf(1.0).resize_, 2)


def views_report_their_layout() -> None:
    x = torch.arange(24.0).view(2, 3, 4)
    for v in (
        x[1],
        x[:, 1],
        x[..., ::2],
        x.transpose(0, 2),
        x.permute(2, 0, 1),
        x[:, :, 1:3],
        x[None],
        x.expand(5, 2, 3, 4),
    ):
        print(tuple(v.shape), v.stride(), v.storage_offset(), v.is_contiguous())


def view_needs_a_compatible_layout() -> None:
    x = torch.arange(6.0).view(2, 3)
    outcome(x.t().view, 6)
    outcome(x.view, 4)
    outcome(x.view, -1, -1)
    outcome(x.view, -2, 3)
    outcome(x.reshape, 5)
    print(x.t().reshape(6), x.view(-1, 2), x[:, ::2].reshape(-1), x.view(torch.int32))


def view_as_another_dtype_reads_the_bits() -> None:
    x = torch.tensor([1.0, -2.0])
    v = x.view(torch.int32)
    v[0] = 0
    print(x, v, x.view(torch.uint8).shape, x.view(torch.float64).shape)
    outcome(torch.zeros(3).view, torch.float64)


def writes_through_numpy_are_seen_without_a_version() -> None:
    x = torch.zeros(3)
    x.numpy()[1] = 5
    print(x, x._version)


def diagonal_and_select_views_write_through() -> None:
    x = torch.zeros(3, 3, requires_grad=True)
    y = x * 1
    y.diagonal().fill_(2)
    y.select(0, 0).add_(1)
    y.t()[2].mul_(4)
    y.unsqueeze(0)[0, 1, 0] = 9
    y.view(9)[4] = 6
    print(y)
    y.sum().backward()
    print(x.grad)


def masked_writes_carry_gradients() -> None:
    x = _leaf(-1.0, 2.0, -3.0)
    y = x * 2
    y[y < 0] = 0.0
    y.sum().backward()
    print(y, x.grad)
    z = x * 2
    z.masked_fill_(z > 0, 5.0)
    z.index_add_(0, torch.tensor([0, 0]), torch.ones(2))
    z.scatter_(0, torch.tensor([2]), torch.tensor([7.0]))
    z.sum().backward()
    print(z, x.grad)


def relu_in_place_then_backward() -> None:
    x = _leaf(-1.0, 2.0)
    y = (x * 3).relu_()
    y.sum().backward()
    print(x.grad)
    h = x.exp()
    h.relu_()
    outcome(h.sum().backward)
