"""What may be written in place, what that does to gradients, and what is refused."""

import copy

import torch
from observation import each, outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def _names(t: torch.Tensor, count: int = 6) -> list[str]:
    node, names = t.grad_fn, []
    while node is not None and len(names) < count:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return names


def results_of_views_made_under_no_grad() -> None:
    x = _leaf(1.0, 2.0, 3.0)
    for base in (x, x * 1):
        with torch.no_grad():
            v = base[1:]
        print(v.requires_grad, v.is_leaf, v.grad_fn, v._base is base)
        for y in (v * 2, v + v, torch.stack([v, v]), v.sum(), v[0], v.exp(), v - 2, v.max(0)[0],
                  v.view(2, 1), v.unbind()[0], torch.cat([v, base]), v @ v, v.softmax(0)):  # fmt: skip
            print(y.requires_grad, y.grad_fn.name(), y.grad_fn.next_functions)


def backward_through_a_view_made_under_no_grad() -> None:
    x = _leaf(1.0, 2.0)
    with torch.no_grad():
        v = x[:1]
    (v * 3).sum().backward()
    print(x.grad, v.grad)
    outcome(lambda: v.backward())
    outcome(lambda: torch.autograd.grad((v * 2).sum(), v))
    outcome(lambda: torch.autograd.grad((x * 2).sum(), v))
    outcome(lambda: v.retain_grad())
    print(v.register_hook(print).id >= 0)
    outcome(lambda: v.requires_grad_())
    outcome(lambda: (v * 2).sum().backward())
    print(v.grad, x.grad)


def a_view_of_a_view_made_under_no_grad_refuses_too() -> None:
    y = _leaf(1.0, 2.0, 3.0) * 1
    with torch.no_grad():
        v = y[1:]
    w = v[:1]
    with torch.no_grad():
        u = w.view(1)
    q = v.unbind()[0]
    outcome(lambda: w.mul_(2))
    outcome(lambda: u.mul_(2))
    outcome(lambda: q.mul_(2))
    outcome(lambda: v.mul_(2))
    y.mul_(2)
    for t in (v, w, u, q):
        outcome(lambda t=t: t.grad_fn)
        outcome(lambda t=t: t * 2)
    with torch.no_grad():
        v.mul_(2)
        w.mul_(2)
    print(y)


def views_of_views_of_several_outputs() -> None:
    y = _leaf(1.0, 2.0, 3.0, 4.0) * 1
    a, b = y.view(2, 2).unbind()
    for t in (a, a[0], a.view(2, 1), y.split(2)[1], y.chunk(2)[0][None], torch.unbind(y)[3]):
        outcome(lambda t=t: t.add_(1))
    print(a.detach().add_(1), y, y._version)
    with torch.no_grad():
        c = y.chunk(2)[1]
        c.add_(1)
    print(y, y._version)
    outcome(lambda: b * 2)
    outcome(lambda: c * 2)
    outcome(lambda: c.add_(1))


def all_operations_with_several_views_refuse() -> None:
    y = torch.arange(8.0).reshape(2, 2, 2).requires_grad_() * 1
    each(
        unbind=lambda: y.unbind()[0].zero_(),
        split=lambda: y.split(1)[0].zero_(),
        split_sizes=lambda: y.split([1, 1])[0].zero_(),
        chunk=lambda: y.chunk(2)[0].zero_(),
        tensor_split=lambda: y.tensor_split(2)[0].zero_(),
        hsplit=lambda: y.hsplit(2)[0].zero_(),
        vsplit=lambda: y.vsplit(2)[0].zero_(),
        dsplit=lambda: y.dsplit(2)[0].zero_(),
        iteration=lambda: next(iter(y)).zero_(),
        unsafe_split=lambda: y.unsafe_split(1)[0].zero_().shape,
        unsafe_chunk=lambda: y.unsafe_chunk(2)[0].zero_().shape,
    )


def leaves_and_their_views_refuse() -> None:
    x = _leaf(1.0, 2.0)
    each(
        add=lambda: x.add_(1), item=lambda: x.__setitem__(0, 1.0), view=lambda: x[:1].mul_(2),
        turned=lambda: x.unsqueeze_(0), filled=lambda: x.fill_(1.0), copied=lambda: x.copy_(x * 2),
        drawn=lambda: x.normal_(), clamped=lambda: x.clamp_(0), relu=lambda: torch.relu_(x),
        dropped=lambda: torch.nn.functional.dropout(x, 0.5, True, True),
        indexed=lambda: x.index_add_(0, torch.tensor([0]), torch.ones(1)),
        zeroed=lambda: x[0].zero_(), detached=lambda: x.detach().zero_(),
        set=lambda: x.set_(torch.ones(2)), resized=lambda: x.resize_(3),
        compared=lambda: x.eq_(1), powered=lambda: x.__ipow__(2), stepped=lambda: x.view(2).t_(),
    )  # fmt: skip
    print(x, x._version)


def a_leaf_view_of_a_plain_tensor_refuses() -> None:
    x = torch.ones(3)
    v = x[:2].requires_grad_()
    print(v.is_leaf, v._is_view(), x.requires_grad)
    outcome(lambda: v.mul_(2))
    outcome(lambda: v[0].mul_(2))
    x.mul_(2)
    print(v, v._version)
    (v * v).sum().backward()
    print(v.grad)
    x.mul_(_leaf(3.0))
    outcome(lambda: v.grad_fn)
    print(x.requires_grad, v.is_leaf)


def writes_to_what_was_saved_are_found() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 1
    for make, write in (
        (lambda t: t.exp(), lambda t, r: r.add_(1)), (lambda t: t * t, lambda t, r: t.add_(1)),
        (lambda t: t.sigmoid(), lambda t, r: r[0].zero_()), (lambda t: t ** 3, lambda t, r: t[:1].zero_()),
        (lambda t: t.tanh(), lambda t, r: r.detach().zero_()), (lambda t: t.sin(), lambda t, r: t.data.zero_()),
        (lambda t: t[0] * t[1], lambda t, r: t.mul_(2)), (lambda t: t.relu(), lambda t, r: r.mul_(2)),
        (lambda t: t.view(1, 2) @ t.view(2, 1), lambda t, r: t.mul_(2)),
    ):  # fmt: skip
        t = y.clone()
        r = make(t)
        write(t, r)
        outcome(lambda: torch.autograd.grad(r.sum(), x, retain_graph=True))


def the_message_names_what_was_written() -> None:
    x = _leaf(1.0, 2.0)
    w = torch.ones(2)
    y = x * w
    w.add_(1)
    outcome(lambda: y.sum().backward())
    y = x.exp().view(1, 2)
    z = y.sigmoid_()
    z.add_(1)
    outcome(lambda: z.sum().backward())
    a, b = torch.sort(x * x)[0].split(1)
    y = a * b
    with torch.no_grad():
        a.zero_()
    outcome(lambda: y.sum().backward())
    y = torch.stack([x, x])[0].exp()
    y.mul_(2)
    outcome(lambda: y.sum().backward())


def copying_between_views() -> None:
    x = _leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    y[:2].copy_(y[2:])
    print(y, y._version, _names(y))
    (y * torch.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    print(x.grad)
    y = x * 1
    outcome(lambda: y[1:].copy_(y[:-1]))
    outcome(lambda: y.copy_(y))
    print(y._version, _names(y))
    outcome(lambda: y.copy_(y.detach()))
    print(y._version, _names(y))
    outcome(lambda: y.copy_(y[:1]))
    outcome(lambda: y.view(2, 2).copy_(y.view(2, 2).t()))


def copying_converts() -> None:
    y = _leaf(1.5, 2.5) * 1
    z = torch.zeros(2, 2, dtype=torch.float64)
    z.copy_(y)
    print(z, _names(z), z.requires_grad)
    i = torch.zeros(2, dtype=torch.int64)
    i.copy_(y)
    print(i, i.requires_grad, i.grad_fn)
    each(shape=lambda: torch.zeros(3).copy_(y), wide=lambda: torch.zeros(1).copy_(torch.ones(2)),
         number=lambda: torch.zeros(2).copy_(3), cplx=lambda: torch.zeros(1).copy_(torch.ones(1) * 1j))  # fmt: skip


def overlapping_memory_is_refused() -> None:
    x = torch.arange(6.0)
    e = torch.zeros(1).expand(3)
    each(
        add=lambda: e.add_(1), mul=lambda: e.mul_(2), copy=lambda: e.copy_(torch.ones(3)),
        shifted=lambda: x[1:].add_(x[:-1]), same=lambda: x.add_(x), part=lambda: x[:3].add_(x[2:5]),
        out=lambda: torch.add(x[:-1], 1, out=x[1:]), out_same=lambda: torch.add(x, 1, out=x),
        fill=lambda: e.fill_(2), zero=lambda: e.zero_(), fill_tensor=lambda: e.fill_(torch.ones(())),
        item=lambda: e.__setitem__(0, 3.0), items=lambda: e.__setitem__(slice(0, 2), 3.0),
        mask=lambda: e.masked_fill_(torch.tensor([True, False, True]), 4.0),
        places=lambda: e.index_fill_(0, torch.tensor([0]), 5.0), drawn=lambda: e.normal_(),
        put=lambda: e.__setitem__([0, 1], 6.0), clamp=lambda: e.clamp_(0), t=lambda: e.expand(3, 3).t_(),
        cumsum=lambda: e.cumsum_(0),
        scatter=lambda: e.scatter_(0, torch.tensor([0]), 1.0), sigmoid=lambda: e.sigmoid_(),
        addcmul=lambda: e.addcmul_(torch.ones(3), torch.ones(3)), drop=lambda: torch.dropout_(e, 0.5, True),
    )  # fmt: skip
    print(e)


def shapes_and_types_of_in_place_results() -> None:
    a, i, b = torch.ones(2), torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.bool)
    each(
        wide=lambda: a.add_(torch.ones(3, 2)), long=lambda: a.mul_(torch.ones(3)),
        int_float=lambda: i.add_(1.5), int_tensor=lambda: i.mul_(a), bool_int=lambda: b.add_(i),
        int_div=lambda: i.div_(2), float_complex=lambda: a.mul_(1j), bool_and=lambda: b.logical_and_(a),
        int_sqrt=lambda: i.sqrt_(), int_zero=lambda: i.add_(torch.tensor(1.5)), int_pow=lambda: i.pow_(-1),
        compare=lambda: a.lt_(2), int_fill=lambda: i.fill_(2.7), bool_fill=lambda: b.fill_(0),
        int_mod=lambda: i.remainder_(2), where=lambda: i.masked_fill_(b, 1.5), sub=lambda: b.sub_(b),
        floor=lambda: i.div_(2, rounding_mode="floor"),
    )  # fmt: skip
    print(a, i, b, a._version, i._version, b._version)


def requires_grad_rules() -> None:
    x = torch.ones(2)
    y = _leaf(1.0) * 1
    each(
        int=lambda: torch.ones(2, dtype=torch.int64).requires_grad_(),
        bool=lambda: torch.ones(2, dtype=torch.bool).requires_grad_(),
        off_int=lambda: torch.ones(2, dtype=torch.int64).requires_grad_(False),
        made=lambda: torch.ones(2, dtype=torch.int64, requires_grad=True),
        tensor=lambda: torch.tensor([1], requires_grad=True),
        text=lambda: setattr(x, "requires_grad", "yes"), number=lambda: setattr(x, "requires_grad", 1),
        none=lambda: setattr(x, "requires_grad", None), off=lambda: setattr(y, "requires_grad", False),
        on=lambda: setattr(y, "requires_grad", True), off_=lambda: y.requires_grad_(False),
        on_=lambda: y.requires_grad_(True).requires_grad, complex=lambda: torch.ones(1, dtype=torch.complex64).requires_grad_(),
        int_set=lambda: setattr(torch.ones(2, dtype=torch.int64), "requires_grad", True),
        deleted=lambda: delattr(x, "requires_grad"), arg=lambda: x.requires_grad_("no"),
        detached=lambda: y.detach().requires_grad_().requires_grad, half=lambda: torch.ones(1).half().requires_grad_(),
    )  # fmt: skip
    print(x.requires_grad)


def assigning_gradients() -> None:
    x = _leaf(1.0, 2.0)
    each(
        number=lambda: setattr(x, "grad", 1.0), shape=lambda: setattr(x, "grad", torch.ones(3)),
        double=lambda: setattr(x, "grad", torch.ones(2, dtype=torch.float64)),
        int=lambda: setattr(x, "grad", torch.ones(2, dtype=torch.int64)),
        itself=lambda: setattr(x, "grad", x), list=lambda: setattr(x, "grad", [1.0, 2.0]),
        broadcast=lambda: setattr(x, "grad", torch.ones(1, 2)), empty=lambda: setattr(x, "grad", torch.ones(0)),
    )  # fmt: skip
    print(x.grad)
    g = torch.ones(2)
    x.grad = g
    print(x.grad is g)
    x.grad = None
    print(x.grad)
    x.grad = g
    del x.grad
    print(x.grad)
    x.grad = torch.ones(4)[:2]
    (x * x).sum().backward()
    print(x.grad, x.grad._base)
    p = torch.ones(2)
    p.grad = torch.full((2,), 3.0)
    print(p.grad, p.requires_grad)
    y = x * 1
    y.grad = torch.ones(2)
    print(y.grad)


def retained_gradients_follow_in_place_writes() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 1
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    print(y.grad, y.retains_grad, x.grad)
    y = x * 1
    v = y[:1]
    v.retain_grad()
    y.retain_grad()
    v.mul_(5)
    (y * torch.tensor([2.0, 7.0])).sum().backward()
    print(y.grad, v.grad, v.retains_grad, y.retains_grad)
    y = x * 1
    v = y[:1]
    v.retain_grad()
    y.mul_(2)
    print(v.retains_grad, v.grad_fn.name())
    (v * 3).sum().backward()
    print(v.grad)


def hooks_stay_with_the_value_before_a_write() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 1
    y.register_hook(lambda g: print("before", g))
    y.mul_(3)
    y.register_hook(lambda g: print("after", g))
    v = y[0]
    v.register_hook(lambda g: print("view", g))
    v.mul_(4)
    v.register_hook(lambda g: print("view later", g))
    (y.sum() + v).backward()
    print(x.grad)


def deep_copies_of_non_leaves() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 1
    outcome(lambda: copy.deepcopy(y))
    outcome(lambda: copy.deepcopy(y[0]))
    outcome(lambda: copy.deepcopy([x[0]]))
    z = copy.deepcopy(x)
    print(z, z.is_leaf, z is x)
    with torch.no_grad():
        v = x[:1]
    outcome(lambda: copy.deepcopy(v))
    outcome(lambda: copy.deepcopy(y.detach()))
    c = copy.copy(y)
    print(c.requires_grad, c.is_leaf, c.grad_fn is y.grad_fn)


def sizes_of_memory_and_gradients() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 1
    each(
        leaf=lambda: x.resize_(3), same=lambda: x.resize_(2), inner=lambda: y.resize_(1),
        as_leaf=lambda: x.resize_as_(torch.ones(3)), detached=lambda: x.detach().resize_(1),
        data=lambda: x.data.resize_(1), plain=lambda: torch.ones(3).resize_(2),
        negative=lambda: torch.ones(3).resize_(-1), set=lambda: y.set_(torch.ones(3)),
        set_data=lambda: x.data.set_(torch.ones(3)), set_plain=lambda: torch.ones(2).set_(torch.ones(3)),
        set_other=lambda: torch.ones(2).set_(torch.ones(3, dtype=torch.int64)),
    )  # fmt: skip
    with torch.no_grad():
        outcome(lambda: x.resize_(1))
        outcome(lambda: (x * 1).resize_(1))
        outcome(lambda: x.detach().resize_(1).shape)
    t = torch.arange(6.0)
    v = t[2:]
    v.resize_(2)
    print(v, t._version, v._version, v.storage_offset())
    t.resize_(2, 2)
    print(t, t._version)


def data_can_be_replaced() -> None:
    x = _leaf(1.0, 2.0)
    y = (x * x).sum()
    x.data = torch.tensor([5.0, 6.0])
    print(x, x._version, x.requires_grad, x.is_leaf)
    outcome(lambda: y.backward())
    print(x.grad)
    each(
        number=lambda: setattr(x, "data", 3.0), none=lambda: setattr(x, "data", None),
        int=lambda: setattr(x, "data", torch.ones(2, dtype=torch.int64)),
        double=lambda: setattr(x, "data", torch.ones(2, dtype=torch.float64)),
        shape=lambda: setattr(x, "data", torch.ones(3)), deleted=lambda: delattr(x, "data"),
    )  # fmt: skip
    print(x.shape, x.dtype)


def detaching_in_place() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 1
    v = y[0]
    each(view=lambda: v.detach_(), plain_view=lambda: torch.ones(2)[0].detach_(),
         leaf=lambda: x.detach_(), base=lambda: y.detach_(), expanded=lambda: torch.ones(1).expand(2).detach_(),
         alias=lambda: y.detach().detach_())  # fmt: skip
    print(x.requires_grad, y.requires_grad, y.is_leaf, v.requires_grad)


def versions_of_detached_and_data() -> None:
    x = torch.ones(3)
    d, a = x.detach(), x.data
    x.add_(1)
    print(x._version, d._version, a._version, d._base, d._is_view())
    d[0] = 4
    a[1] = 5
    print(x._version, d._version, a._version, x)
    e = d[1:]
    e.add_(1)
    print(x._version, e._version, e._base is d)
    n = x.detach().numpy()
    n += 1
    print(x, x._version)


def attributes_that_cannot_be_set() -> None:
    x = _leaf(1.0)
    each(
        grad_fn=lambda: setattr(x, "grad_fn", None), is_leaf=lambda: setattr(x, "is_leaf", True),
        version=lambda: setattr(x, "_version", 3), base=lambda: setattr(x, "_base", x),
        output_nr=lambda: setattr(x, "output_nr", 1), shape=lambda: setattr(x, "shape", (1,)),
        dtype=lambda: setattr(x, "dtype", torch.int64), retains=lambda: setattr(x, "retains_grad", True),
    )  # fmt: skip


def the_version_can_be_preserved() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 1
    z = y * y
    with torch.autograd._unsafe_preserve_version_counter(y):
        y.mul_(3)
        print(y._version)
    print(y._version)
    z.sum().backward()
    print(x.grad)


def an_operation_on_a_view_that_follows_its_base() -> None:
    w = _leaf(3.0)
    base = torch.ones(4)
    v, u = base[:2], base[2:]
    base.mul_(w)
    for r in (w * v, v * w, v + u, torch.cat([w, v]), torch.stack([u, v]), v.sum(), torch.addcmul(u, v, v),
              torch.where(v > 0, w, v), torch.matmul(v, u), v.pow(w), 2 * v, v - 1):  # fmt: skip
        print(torch.autograd.grad(r.sum(), w, retain_graph=True), r.grad_fn.name())
    base.add_(v.sum())
    print(base.grad_fn.name(), v.grad_fn.name(), u.requires_grad)


def saved_values_of_written_tensors() -> None:
    y = _leaf(1.0, 2.0) * 1
    s = y.exp_()
    print(s.grad_fn._saved_result, _names(s))
    v = (_leaf(1.0, 2.0) * 1)[:1]
    v.sigmoid_()
    print(_names(v), _names(v._base), v.grad_fn._saved_size)
    q = _leaf(1.0) * 1
    q.mul_(q)
    print(q, _names(q), q.grad_fn._saved_self.detach())
    outcome(lambda: q.grad_fn._saved_other)


def a_custom_function_without_a_gradient_for_a_written_view() -> None:
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            t.mul_(0.5)
            ctx.mark_dirty(t)
            return t

        @staticmethod
        def backward(ctx, g):
            return None

    x = _leaf(1.0, 2.0)
    y = x * 1
    v = Half.apply(y[:1])
    print(y, _names(y), _names(v))
    outcome(lambda: torch.autograd.grad((y * y).sum(), x, allow_unused=True))


def views_made_by_custom_functions() -> None:
    class Part(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            return t[:1]

        @staticmethod
        def backward(ctx, g):
            return torch.cat([g, torch.zeros(1)])

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            return t

        @staticmethod
        def backward(ctx, g):
            return g * 10

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            return t[:1], t[1:]

        @staticmethod
        def backward(ctx, g, h):
            return torch.cat([g, h])

    x = _leaf(1.0, 2.0)
    for name, make in {"part": Part, "same": Same}.items():
        y = x * 1
        v = make.apply(y)
        print(name, v._is_view(), v._base is y, v.output_nr, _names(v))
        outcome(lambda v=v: v.mul_(2))
        outcome(lambda v=v: v[0].mul_(2))
        y.mul_(2)
        outcome(lambda v=v: v.grad_fn)
        outcome(lambda v=v: v * 2)
    y = x * 1
    a, b = Two.apply(y)
    print(a._is_view(), b._base is y, b.output_nr, _names(b))
    outcome(lambda: a.mul_(2))
    y.mul_(2)
    outcome(lambda: b * 2)
    with torch.no_grad():
        v = Same.apply(x)
        print(v is x, v.requires_grad, v._is_view())


def saved_tensors_that_were_detached_in_place() -> None:
    x = _leaf(1.0, 2.0)
    y = x * 1
    z = y * y
    y.detach_()
    outcome(lambda: z.sum().backward())
    y = x * 1
    z = y * 2
    y.detach_()
    outcome(lambda: z.sum().backward())
    y = x.exp()
    z = y + 1
    y.detach_()
    outcome(lambda: z.sum().backward())
    y = x * 1
    z = y[:1] * y
    y.detach_()
    outcome(lambda: z.sum().backward())
    w = torch.ones(2)
    z = x * w
    w.detach_()
    outcome(lambda: z.sum().backward())
    print(x.grad)


def gradients_that_are_not_wanted_look_at_what_was_saved_too() -> None:
    x, w = _leaf(1.0, 2.0), _leaf(3.0, 4.0)
    y = x * w
    with torch.no_grad():
        x.add_(1)
    outcome(lambda: torch.autograd.grad(y.sum(), x, retain_graph=True))
    outcome(lambda: torch.autograd.grad(y.sum(), w, retain_graph=True))
    y = x + w
    with torch.no_grad():
        x.add_(1)
    outcome(lambda: torch.autograd.grad(y.sum(), x))


def versions_and_names_in_messages_are_numbered() -> None:
    x = _leaf(1.0, 2.0)
    for make in (
        lambda: torch.stack([x, x]).max(), lambda: x.view(1, 2).sum(0), lambda: torch.zeros(2).copy_(x),
        lambda: x.clone().unsqueeze_(0), lambda: x.log10(), lambda: x.clone().fill_(x.sum()), lambda: x.std(),
    ):  # fmt: skip
        t = make()
        r = t * t
        t.detach().add_(1)
        outcome(lambda r=r: r.sum().backward())
