"""Views of views: what they are based on, and which node they have after writes."""

import torch
from observation import outcome


def _chain(node, count: int = 8) -> list[str]:
    names = []
    while node is not None and len(names) < count:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return names


def _leaf(*shape: int) -> torch.Tensor:
    count = 1
    for n in shape:
        count *= n
    return (torch.arange(float(count)).reshape(shape) + 1).requires_grad_()


def every_view_of_a_view_has_the_first_base() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4).clone()
    v = x[0]
    for w in (v, v.t(), v.t()[1:], v.view(-1), v.view(-1)[None], v.expand(2, 3, 4), v.diagonal()):
        print(w._is_view(), w._base is x, w.storage_offset(), w.stride(), w.output_nr)


def a_base_that_is_turned_keeps_its_views_right() -> None:
    x = _leaf(2, 3)
    y = x * 1
    row = y[1]
    y.t_()
    print(y.shape, y.stride(), row, row._version, _chain(row.grad_fn))
    row.mul_(torch.tensor(10.0))
    print(y, _chain(y.grad_fn), _chain(row.grad_fn))
    (y * torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).sum().backward()
    print(x.grad)


def a_base_that_loses_a_dimension_keeps_its_views_right() -> None:
    x = _leaf(1, 4)
    y = x * 1
    part = y[:, 1:3]
    y.squeeze_(0)
    print(_chain(part.grad_fn), part)
    part.mul_(2)
    print(y, _chain(y.grad_fn))
    (y * y).sum().backward()
    print(x.grad)


def a_base_with_a_new_dimension_keeps_its_views_right() -> None:
    x = _leaf(3)
    y = x * 1
    part = y[1:]
    y.unsqueeze_(1)
    (part * part).sum().backward()
    print(y.shape, x.grad, _chain(part.grad_fn))


def a_view_that_is_turned_leaves_its_base() -> None:
    x = _leaf(2, 3)
    y = x * 1
    v = y[:, 1:]
    v.t_()
    print(v.shape, _chain(v.grad_fn), _chain(y.grad_fn), v._version, v._base is y)
    v.mul_(torch.tensor([[2.0], [3.0], ])) if v.shape == (2, 2) else None
    print(y, _chain(y.grad_fn), _chain(v.grad_fn))
    (y * y).sum().backward()
    print(x.grad)


def turning_in_place_gives_each_its_node() -> None:
    for turn in (
        lambda t: t.t_(), lambda t: t.transpose_(0, 1), lambda t: t.swapaxes_(0, 1),
        lambda t: t.swapdims_(0, 1), lambda t: t.unsqueeze_(0), lambda t: t.squeeze_(),
        lambda t: t.squeeze_(0), lambda t: t.squeeze_((0, 1)), lambda t: t.as_strided_((2,), (1,)),
    ):  # fmt: skip
        y = _leaf(2, 2) * 1
        z = turn(y)
        print(z is y, y.shape, y.stride(), y._version, _chain(y.grad_fn), y._is_view())


def turning_a_leaf_in_place() -> None:
    x = _leaf(2, 3)
    outcome(lambda: x.t_())
    outcome(lambda: x.unsqueeze_(0))
    outcome(lambda: x[0].unsqueeze_(0))
    with torch.no_grad():
        x.t_()
    print(x.shape, x._version, x.is_leaf)
    outcome(lambda: torch.zeros(2, 2, 2).t_())
    outcome(lambda: torch.zeros(2).squeeze_(3))
    outcome(lambda: torch.zeros(2).unsqueeze_(3))
    outcome(lambda: torch.zeros(2, 2).transpose_(0, 2))


def a_window_over_a_view_may_leave_it() -> None:
    x = _leaf(6)
    y = x * 1
    v = y[4:]
    w = v.as_strided((2, 2), (1, 2), 0)
    print(w, w._base is y, w.storage_offset(), _chain(w.grad_fn))
    w.mul_(torch.tensor(2.0))
    print(y, v, _chain(y.grad_fn), _chain(v.grad_fn), _chain(w.grad_fn))
    (y * y).sum().backward()
    print(x.grad)


def a_window_with_the_offset_of_its_source() -> None:
    x = torch.arange(10.0)
    v = x[3:]
    print(v.as_strided((3,), (2,)), v.as_strided((3,), (2,), 1), v.as_strided((), (), 9))
    outcome(lambda: v.as_strided((5,), (2,), 3))
    outcome(lambda: v.as_strided((5,), (2, 1), 3))
    outcome(lambda: v.as_strided((1,), (1,), -1))
    outcome(lambda: v.as_strided((1,), (-1,), 0))


def a_window_that_shows_places_twice_adds_their_gradients() -> None:
    x = _leaf(4)
    y = x * 1
    w = y.as_strided((3, 2), (1, 1))
    (w * torch.arange(6.0).reshape(3, 2)).sum().backward()
    print(w, x.grad)


def the_gradient_of_a_window_over_an_expanded_tensor() -> None:
    x = _leaf(2)
    w = x.expand(3, 2).as_strided((2,), (1,))
    outcome(lambda: torch.autograd.grad((w * w).sum(), x))


def the_regenerated_node_tells_its_geometry() -> None:
    y = _leaf(3, 4) * 1
    v = y[1, 1:3]
    y.mul_(2)
    node = v.grad_fn
    print(node.name(), node._saved_size, node._saved_stride, node._saved_storage_offset)
    print(node.next_functions[0][0] is y.grad_fn, v.grad_fn is node)
    y.mul_(2)
    print(v.grad_fn is node)


def a_view_as_real_is_replayed() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 1
    parts = torch.view_as_real(y)
    first = parts[0]
    y.mul_(2)
    print(_chain(parts.grad_fn), _chain(first.grad_fn))
    first.mul_(torch.tensor(3.0))
    print(y, _chain(y.grad_fn), _chain(parts.grad_fn))
    (y.abs() ** 2).sum().backward()
    print(z.grad)


def writing_the_real_part() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 1
    y.real.mul_(2)
    print(y, _chain(y.grad_fn))
    y.imag[0] = 7.0
    print(y, y._version, _chain(y.grad_fn))
    torch.view_as_real(y).sum().backward()
    print(z.grad + 0)


def writing_real_numbers_as_complex_ones() -> None:
    x = _leaf(2, 2)
    y = x * 1
    c = torch.view_as_complex(y)
    c.mul_(torch.tensor(1j))
    print(y, _chain(y.grad_fn), _chain(c.grad_fn))
    (y * y).sum().backward()
    print(x.grad)


def views_of_integers_and_bools_are_views() -> None:
    x = torch.arange(6).reshape(2, 3).clone()
    v = x[0]
    v += 1
    print(v._is_view(), v._base is x, x._version, x)
    m = x > 2
    m[0] = True
    print(m, m._version, m[0]._base is m)


def what_is_a_view_and_what_isnt() -> None:
    x = _leaf(2, 3) * 1
    for name, w in {
        "view_as": x.view_as(x), "reshape": x.reshape(3, 2), "reshape copied": x.t().reshape(6),
        "flatten": x.flatten(), "ravel": x.ravel(), "contiguous": x.contiguous(),
        "t.contiguous": x.t().contiguous(), "expand": x.expand(2, 3), "index": x[[0]],
        "mask": x[x > 1], "narrow": x.narrow(0, 0, 1), "detach": x.detach(), "data": x.data,
        "alias": x[...], "to": x.to(torch.float32), "clone": x.clone(), "chunk": x.chunk(2)[0],
        "movedim": x.movedim(0, 1), "mT": x.mT, "unflatten": x.unflatten(1, (3, 1)),
        "squeeze": x.squeeze(), "swapaxes": x.swapaxes(0, 1), "hsplit": x.hsplit(3)[0],
        "tensor_split": x.tensor_split(2)[0], "diagonal": x.diagonal(), "diag": x.diag(),
        "positive": +x, "real": x.real, "broadcast_to": x.broadcast_to(2, 2, 3),
        "atleast_3d": torch.atleast_3d(x), "view dtype": x.detach().view(torch.int32),
        "expand_as": x.expand_as(x), "unfold": x.unfold(1, 2, 1), "rot90": x.rot90(2),
        "permute": x.permute(1, 0), "select": x.select(0, 0), "unbind": x.unbind()[0],
        "float": x.float(), "split": x.split(1)[1], "type": x.type(torch.float32),
        "requires_grad_": x.requires_grad_(), "cpu": x.cpu(), "view same": x.view(2, 3),
    }.items():  # fmt: skip
        print(name, w is x, w._is_view(), w._base is x, w.output_nr,
              w.grad_fn.name() if w.grad_fn else None)  # fmt: skip


def numbers_of_outputs() -> None:
    x = _leaf(4) * 1
    print([v.output_nr for v in x.unbind()], [v.output_nr for v in x.split(2)], x.output_nr)
    print(x.max(0).values.output_nr, torch.sort(x).values.output_nr)
    parts = x.view(2, 2).unbind(1)
    print([p.grad_fn is parts[0].grad_fn for p in parts], parts[1].grad_fn.name())


def expanded_bases_and_recorded_fills() -> None:
    for write in (lambda t: t.zero_(), lambda t: t.fill_(2.0), lambda t: t[0].mul_(2),
                  lambda t: t.__setitem__(0, 7.0), lambda t: t.add_(1), lambda t: t.copy_(t * 2),
                  lambda t: t.fill_(torch.tensor(3.0)), lambda t: t.unsqueeze_(0)):  # fmt: skip
        x = _leaf(2)
        y = x * 1
        e = y.expand(3, 2)
        outcome(lambda: write(e))
        print(y, y._version, _chain(y.grad_fn), _chain(e.grad_fn))
        outcome(lambda: torch.autograd.grad((y * y).sum(), x))


def a_write_through_an_expanded_view_of_one_element() -> None:
    x = _leaf(1)
    y = x * 1
    y.expand(1).mul_(2)
    y.expand(1, 1).mul_(3)
    print(y, _chain(y.grad_fn))
    y.backward()
    print(x.grad)


def the_history_of_a_view_is_cut_with_its_base() -> None:
    x = _leaf(2)
    y = x * 1
    v = y[:1]
    y.detach_()
    print(y.requires_grad, v.requires_grad, _chain(v.grad_fn), v.is_leaf)
    y.mul_(2)
    print(y.requires_grad, v.requires_grad, _chain(v.grad_fn))


def second_order_through_a_written_view() -> None:
    x = _leaf(3)
    y = x * x
    y[1:].mul_(x[:2])
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    print(g)
    (h,) = torch.autograd.grad(g.sum(), x)
    print(h)


def second_order_through_a_view_of_a_turned_base() -> None:
    x = _leaf(2, 2)
    y = x * x
    v = y[0]
    y.t_()
    v.mul_(v.detach() + 1)
    (g,) = torch.autograd.grad((y * y * y).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad((g * g).sum(), x)
    print(g, h)


def original_views_can_be_tracked() -> None:
    x = _leaf(2, 3)
    y = x * 1
    with torch.autograd._force_original_view_tracking(True):
        v = y[0].view(3)
        w = y.t()
    y.mul_(2)
    print(_chain(v.grad_fn), _chain(w.grad_fn))
    v.mul_(2)
    print(_chain(y.grad_fn), _chain(v.grad_fn), _chain(w.grad_fn))
    (w * w).sum().backward()
    print(x.grad)
