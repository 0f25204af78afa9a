"""The recorded graph as a user sees it: nodes, their names, edges, saved values, metadata."""

import torch
from observation import near, outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def _name(t: torch.Tensor) -> str:
    return "None" if t.grad_fn is None else t.grad_fn.name()


def _names(**named) -> None:
    for label, action in named.items():
        try:
            value = action()
            if isinstance(value, tuple):
                print(label, [_name(part) for part in value])
            else:
                print(label, _name(value))
        except Exception as error:
            print(label, type(error).__name__, error)


def _saved(node) -> list[str]:
    return sorted(n for n in dir(node) if n.startswith("_saved"))


def leaves_have_no_node_and_results_have() -> None:
    x = _leaf(1.0)
    print(x.grad_fn, x.is_leaf, (x * 2).is_leaf, (x * 2).grad_fn)
    c = torch.ones(1)
    print(c.is_leaf, (c * 2).is_leaf, (c * 2).grad_fn)
    y = x * 2
    y.detach_()
    print(y.is_leaf, y.grad_fn)


def a_node_knows_its_name_and_its_edges() -> None:
    x, y = _leaf(1.0), _leaf(2.0)
    z = x * y + x
    print(z.grad_fn.name(), type(z.grad_fn).__name__)
    print(z.grad_fn.next_functions)
    print(z.grad_fn.next_functions[0][0].next_functions)


def an_operand_that_needs_no_gradient_gives_an_empty_edge() -> None:
    x, c = _leaf(1.0), torch.ones(1)
    print((x * c).grad_fn.next_functions, (c * x).grad_fn.next_functions)
    print((x * 2).grad_fn.next_functions, (2 * x).grad_fn.next_functions)
    print((x + 2).grad_fn.next_functions, (2 - x).grad_fn.next_functions)


def the_accumulate_grad_node_holds_its_variable() -> None:
    x = _leaf(1.0)
    node = (x * 2).grad_fn.next_functions[0][0]
    print(node.name(), node.variable is x, node.next_functions)
    again = (x * 3).grad_fn.next_functions[0][0]
    print(again is node)


def the_same_node_is_the_same_object() -> None:
    x = _leaf(1.0)
    y = x * 2
    z = y + 1
    print(
        z.grad_fn.next_functions[0][0] is y.grad_fn, y.grad_fn is y.grad_fn, y.grad_fn == y.grad_fn
    )
    print(hash(y.grad_fn) == hash(y.grad_fn), (x * 2).grad_fn == y.grad_fn)


def each_output_has_its_number() -> None:
    x = _leaf(1.0, 2.0, 3.0)
    a, b, c = x.unbind()
    print(a.output_nr, b.output_nr, c.output_nr)
    print((c + 1).grad_fn.next_functions, a.grad_fn is c.grad_fn)
    values, indices = x.max(0)
    print(values.output_nr, indices.requires_grad, indices.grad_fn)


def a_node_carries_metadata() -> None:
    x = _leaf(1.0)
    y = x * 2
    y.grad_fn.metadata["note"] = 5
    print(y.grad_fn.metadata, (y + 1).grad_fn.next_functions[0][0].metadata)


def a_node_can_be_called() -> None:
    x, y = _leaf(2.0), _leaf(3.0)
    z = x * y
    print(z.grad_fn(torch.ones(1)))
    print((x + 1).grad_fn(torch.ones(1)))
    outcome((x * y).grad_fn)


def sequence_numbers_grow() -> None:
    x = _leaf(2.0)
    y = x * 2
    z = y * 2
    w = x + 1
    a, b, c = (t.grad_fn._sequence_nr() for t in (y, z, w))
    print(b - a, c - b)


def the_names_of_saved_values() -> None:
    x, y = _leaf(1.0, 2.0), _leaf(3.0, 4.0)
    m = torch.randn(2, 3, requires_grad=True)
    n = torch.randn(3, 2, requires_grad=True)
    for t in (
        x * y,
        x / y,
        x + y,
        x - y,
        x**2,
        x**y,
        x.exp(),
        x.log(),
        x.sin(),
        x.tanh(),
        x.sigmoid(),
        x.relu(),
        x.sqrt(),
        x.sum(),
        x.mean(),
        x.max(),
        m.sum(1),
        m.mean(0),
        m @ n,
        m.t(),
        m.reshape(6),
        m[0],
        m[:, 1],
        m[[0, 1]],
        m.softmax(1),
        m.log_softmax(1),
        x.abs(),
        x.clamp(0, 1),
        torch.cat([x, y]),
        torch.stack([x, y]),
        x.where(x > 1, y),
        x.prod(),
        x.std(),
        x.norm(),
        x.cumsum(0),
        m.expand(4, 2, 3),
        m.repeat(2, 1),
        m.index_select(0, torch.tensor([1])),
        m.gather(1, torch.tensor([[0], [1]])),
        x.sort()[0],
        x.topk(1)[0],
        x.logsumexp(0),
    ):
        print(t.grad_fn.name(), _saved(t.grad_fn))


def saved_values_of_a_product() -> None:
    x, y, c = _leaf(1.0), _leaf(3.0), torch.tensor([5.0])
    p = (x * y).grad_fn
    print(p._saved_self is x, p._saved_other is y)
    q = (x * c).grad_fn
    print(q._saved_self, q._saved_other is c)
    s = (x * 2).grad_fn
    print(s._saved_self, s._saved_other)


def saved_scalars_of_common_nodes() -> None:
    m = torch.arange(6.0).reshape(2, 3).requires_grad_()
    print(m.sum(1).grad_fn._saved_dim, m.sum(1).grad_fn._saved_keepdim)
    print(m.sum(1).grad_fn._saved_self_sym_sizes)
    print(m.mean().grad_fn._saved_self_sym_numel)
    print((m**2).grad_fn._saved_exponent, (m + m * 2).grad_fn._saved_alpha)
    print(m[:, 1].grad_fn._saved_dim, m[:, 1].grad_fn._saved_index)
    print(m.transpose(0, 1).grad_fn._saved_dim0, m.clamp(0, 1).grad_fn._saved_min)
    print(m.softmax(-1).grad_fn._saved_dim)
    print(torch.cat([m, m]).grad_fn._saved_dim, torch.add(m, m, alpha=3).grad_fn._saved_alpha)
    print(m.view(6).grad_fn._saved_self_sym_sizes, m.permute(1, 0).grad_fn._saved_dims)


def a_saved_result_is_an_equal_tensor_of_its_own() -> None:
    x = _leaf(1.0)
    y = x.exp()
    r = y.grad_fn._saved_result
    print(r is y, r.equal(y), r.grad_fn is y.grad_fn, r.data_ptr() == y.data_ptr(), r.requires_grad)


def raw_saved_values_are_opaque() -> None:
    x = _leaf(1.0)
    y = x.exp() * x
    raw = y.grad_fn._raw_saved_self
    print(type(raw).__name__, hasattr(raw, "register_hooks"))
    outcome(type(raw))


def saved_values_are_gone_after_backward() -> None:
    x = _leaf(2.0)
    y = x * x
    node = y.grad_fn
    y.backward()
    outcome(lambda: node._saved_self)
    outcome(lambda: node._raw_saved_self.register_hooks(lambda t: t, lambda t: t))
    print(node.next_functions)
    outcome(lambda: node._saved_nothing)


def nodes_of_arithmetic() -> None:
    x, y = _leaf(1.5, 2.5), _leaf(2.0, 3.0)
    _names(
        add=lambda: x + y,
        radd=lambda: 1 + x,
        sub=lambda: x - y,
        rsub=lambda: 1 - x,
        mul=lambda: x * y,
        rmul=lambda: 2 * x,
        div=lambda: x / y,
        rdiv=lambda: 1 / x,
        pow=lambda: x**y,
        pow_scalar=lambda: x**2,
        rpow=lambda: 2**x,
        neg=lambda: -x,
        pos=lambda: +x,
        floordiv=lambda: x // y,
        mod=lambda: x % y,
        rmod=lambda: 5 % x,
        abs=lambda: abs(x),
        remainder=lambda: torch.remainder(x, y),
        fmod=lambda: torch.fmod(x, y),
        square=lambda: x.square(),
        reciprocal=lambda: x.reciprocal(),
        rsqrt=lambda: x.rsqrt(),
        addcmul=lambda: torch.addcmul(x, x, y),
        addcdiv=lambda: torch.addcdiv(x, x, y),
        lerp=lambda: torch.lerp(x, y, 0.3),
        lerp_t=lambda: torch.lerp(x, y, torch.ones(2)),
        maximum=lambda: torch.maximum(x, y),
        minimum=lambda: torch.minimum(x, y),
        fmax=lambda: torch.fmax(x, y),
        atan2=lambda: torch.atan2(x, y),
        hypot=lambda: x.hypot(y),
        true_divide=lambda: torch.true_divide(x, y),
        copysign=lambda: torch.copysign(x, y),
        div_trunc=lambda: torch.div(x, y, rounding_mode="trunc"),
        xlogy=lambda: torch.xlogy(x, y),
        logaddexp=lambda: torch.logaddexp(x, y),
        sum_builtin=lambda: sum([x, y]),
    )


def nodes_of_elementwise_functions() -> None:
    x = _leaf(0.25, 0.5)
    for name in ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "atanh", "erf", "erfc", "erfinv", "lgamma", "digamma", "sigmoid", "logit", "round", "floor", "ceil", "trunc", "frac", "sign", "sgn", "sinc", "i0", "nan_to_num", "deg2rad", "rad2deg", "positive", "negative"]:
        _names(**{name: lambda name=name: getattr(torch, name)(x)})


def nodes_of_reductions() -> None:
    m = torch.tensor([[1.0, 2.0, 4.0], [3.0, 5.0, 6.0]], requires_grad=True)
    _names(
        sum=lambda: m.sum(),
        sum_dim=lambda: m.sum(1),
        mean=lambda: m.mean(),
        mean_dim=lambda: m.mean(1),
        prod=lambda: m.prod(),
        prod_dim=lambda: m.prod(1),
        max=lambda: m.max(),
        max_dim=lambda: m.max(1).values,
        min=lambda: m.min(),
        min_dim=lambda: m.min(1).values,
        amax=lambda: m.amax(1),
        amin=lambda: m.amin(1),
        aminmax=lambda: tuple(m.aminmax(dim=1)),
        var=lambda: m.var(),
        std=lambda: m.std(1),
        norm=lambda: m.norm(),
        norm_p=lambda: m.norm(p=1, dim=1),
        logsumexp=lambda: m.logsumexp(1),
        median=lambda: m.median(),
        median_dim=lambda: m.median(1).values,
        mode=lambda: m.mode(1).values,
        kthvalue=lambda: m.kthvalue(2, 1).values,
        nansum=lambda: m.nansum(),
        nanmean=lambda: m.nanmean(),
        cumsum=lambda: m.cumsum(1),
        cumprod=lambda: m.cumprod(1),
        cummax=lambda: m.cummax(1).values,
        logcumsumexp=lambda: m.logcumsumexp(1),
        quantile=lambda: m.quantile(0.5),
        trace=lambda: m.trace(),
        var_mean=lambda: torch.var_mean(m),
        dist=lambda: torch.dist(m, m * 2),
        renorm=lambda: m.renorm(2, 0, 1.0),
        vector_norm=lambda: torch.linalg.vector_norm(m),
        sum_list=lambda: m.sum((0, 1)),
    )


def nodes_of_shape_operations() -> None:
    m = torch.arange(6.0).reshape(2, 3).requires_grad_()
    v = _leaf(1.0, 2.0)
    _names(
        view=lambda: m.view(3, 2),
        reshape=lambda: m.reshape(6),
        reshape_copy=lambda: m.t().reshape(6),
        transpose=lambda: m.transpose(0, 1),
        t=lambda: m.t(),
        T=lambda: m.T,
        mT=lambda: m.mT,
        permute=lambda: m.permute(1, 0),
        squeeze=lambda: m[None].squeeze(),
        squeeze_d=lambda: m[None].squeeze(0),
        unsqueeze=lambda: m.unsqueeze(0),
        expand=lambda: v.expand(3, 2),
        expand_as=lambda: v.expand_as(m.t()),
        repeat=lambda: v.repeat(2),
        tile=lambda: v.tile(2),
        flatten=lambda: m.flatten(),
        ravel=lambda: m.ravel(),
        unflatten=lambda: m.unflatten(1, (3, 1)),
        chunk=lambda: m.chunk(2),
        split=lambda: m.split(1),
        split_list=lambda: m.split([1, 2], 1),
        unbind=lambda: m.unbind(),
        narrow=lambda: m.narrow(1, 0, 2),
        flip=lambda: m.flip(0),
        roll=lambda: m.roll(1),
        rot90=lambda: m.rot90(),
        tril=lambda: m.tril(),
        triu=lambda: m.triu(),
        diag=lambda: v.diag(),
        diagonal=lambda: m.diagonal(),
        contiguous=lambda: m.t().contiguous(),
        contiguous_same=lambda: (m * 1).contiguous(),
        clone=lambda: m.clone(),
        cat=lambda: torch.cat([m, m]),
        stack=lambda: torch.stack([v, v]),
        hstack=lambda: torch.hstack([m, m]),
        unfold=lambda: m.unfold(1, 2, 1),
        as_strided=lambda: m.as_strided((2,), (1,)),
        repeat_interleave=lambda: v.repeat_interleave(2),
        movedim=lambda: m.movedim(0, 1),
        swapaxes=lambda: m.swapaxes(0, 1),
        pad=lambda: torch.nn.functional.pad(m, (1, 1)),
        double=lambda: m.double(),
        to=lambda: m.to(torch.float64),
        to_same=lambda: (m * 1).to(torch.float32),
        broadcast_to=lambda: v.broadcast_to(3, 2),
        meshgrid=lambda: torch.meshgrid(v, v, indexing="ij"),
        diag_embed=lambda: v.diag_embed(),
        view_as=lambda: m.view_as(m),
        alias=lambda: m.alias(),
    )


def nodes_of_indexing() -> None:
    m = torch.arange(6.0).reshape(2, 3).requires_grad_()
    i = torch.tensor([1, 0])
    _names(
        integer=lambda: m[0],
        slice=lambda: m[0:1],
        column=lambda: m[:, 1],
        everything=lambda: m[:],
        ellipsis=lambda: m[..., 0],
        none=lambda: m[None],
        list=lambda: m[[0, 1]],
        tensor=lambda: m[i],
        mask=lambda: m[m > 2],
        mixed=lambda: m[0, i],
        two=lambda: m[i, i],
        element=lambda: m[1, 2],
        select=lambda: m.select(1, 0),
        index_select=lambda: m.index_select(1, i),
        take=lambda: m.take(i),
        gather=lambda: m.gather(1, i[:, None]),
        masked_select=lambda: m.masked_select(m > 2),
        masked_fill=lambda: m.masked_fill(m > 2, 0.0),
        where=lambda: torch.where(m > 2, m, m * 2),
        scatter=lambda: m.scatter(1, i[:, None], 5.0),
        scatter_add=lambda: m.scatter_add(1, i[:, None], torch.ones(2, 1)),
        index_add=lambda: m.index_add(0, i, torch.ones(2, 3)),
        index_copy=lambda: m.index_copy(0, i, torch.ones(2, 3)),
        index_fill=lambda: m.index_fill(0, i, 1.0),
        index_put=lambda: m.index_put((i,), torch.ones(3)),
        sort=lambda: m.sort(1)[0],
        topk=lambda: m.topk(2)[0],
        take_along=lambda: m.take_along_dim(i[:, None], 1),
        argwhere=lambda: m.argwhere(),
        nonzero=lambda: m.nonzero(),
        unique=lambda: m.unique(),
    )


def nodes_of_products() -> None:
    a, b = torch.randn(2, 3, requires_grad=True), torch.randn(3, 2, requires_grad=True)
    v, s = torch.randn(3, requires_grad=True), torch.randn(3, 3, requires_grad=True)
    t = torch.randn(4, 2, 3, requires_grad=True)
    _names(
        matmul=lambda: a @ b,
        mm=lambda: a.mm(b),
        mv=lambda: a @ v,
        dot=lambda: v @ v,
        vm=lambda: v @ b,
        bmm=lambda: t.bmm(t.mT),
        batched=lambda: t @ b,
        batched_both=lambda: t @ t.mT,
        tv=lambda: t @ v,
        addmm=lambda: torch.addmm(s, b, a),
        addmv=lambda: torch.addmv(v, s, v),
        outer=lambda: torch.outer(v, v),
        baddbmm=lambda: torch.baddbmm(t @ t.mT, t, t.mT),
        einsum=lambda: torch.einsum("ij,jk->ik", a, b),
        tensordot=lambda: torch.tensordot(a, b, 1),
        kron=lambda: torch.kron(v, v),
        cross=lambda: torch.linalg.cross(v, v),
        linear=lambda: torch.nn.functional.linear(a, s),
        linear_bias=lambda: torch.nn.functional.linear(a, s, v),
        linear_3d=lambda: torch.nn.functional.linear(t, s, v),
        linear_1d=lambda: torch.nn.functional.linear(v, s, v),
        inverse=lambda: torch.linalg.inv(s),
        det=lambda: torch.linalg.det(s),
        solve=lambda: torch.linalg.solve(s, v),
        cholesky=lambda: torch.linalg.cholesky(s @ s.mT + torch.eye(3)),
        inner=lambda: torch.inner(v, v),
        cdist=lambda: torch.cdist(a, a),
        chain=lambda: torch.linalg.multi_dot([a, b, a]),
    )


def nodes_of_activations_and_losses() -> None:
    F = torch.nn.functional
    x = torch.randn(2, 3, requires_grad=True)
    y = torch.rand(2, 3)
    k = torch.tensor([0, 2])
    _names(
        relu=lambda: F.relu(x),
        leaky=lambda: F.leaky_relu(x),
        elu=lambda: F.elu(x),
        gelu=lambda: F.gelu(x),
        silu=lambda: F.silu(x),
        mish=lambda: F.mish(x),
        softplus=lambda: F.softplus(x),
        selu=lambda: F.selu(x),
        hardtanh=lambda: F.hardtanh(x),
        relu6=lambda: F.relu6(x),
        hardswish=lambda: F.hardswish(x),
        logsigmoid=lambda: F.logsigmoid(x),
        softsign=lambda: F.softsign(x),
        glu=lambda: F.glu(x[:, :2]),
        tanhshrink=lambda: F.tanhshrink(x),
        softshrink=lambda: F.softshrink(x),
        threshold=lambda: F.threshold(x, 0, 0),
        softmax=lambda: F.softmax(x, 1),
        log_softmax=lambda: F.log_softmax(x, 1),
        dropout=lambda: F.dropout(x, 0.5),
        dropout_off=lambda: F.dropout(x * 1, 0.5, False),
        normalize=lambda: F.normalize(x),
        mse=lambda: F.mse_loss(x, y),
        l1=lambda: F.l1_loss(x, y),
        smooth=lambda: F.smooth_l1_loss(x, y),
        huber=lambda: F.huber_loss(x, y),
        nll=lambda: F.nll_loss(F.log_softmax(x, 1), k),
        ce=lambda: F.cross_entropy(x, k),
        bce=lambda: F.binary_cross_entropy(x.sigmoid(), y),
        bcel=lambda: F.binary_cross_entropy_with_logits(x, y),
        kl=lambda: F.kl_div(x.log_softmax(1), y),
        cosine=lambda: F.cosine_similarity(x, y),
        layer_norm=lambda: F.layer_norm(x, (3,)),
        batch_norm=lambda: F.batch_norm(x, None, None, training=True),
        embedding=lambda: F.embedding(k, x.t()),
        conv=lambda: F.conv1d(x[None], torch.ones(1, 2, 2)),
        pool=lambda: F.max_pool1d(x[None], 2),
        avg=lambda: F.avg_pool1d(x[None], 2),
        hinge=lambda: F.hinge_embedding_loss(x, torch.ones(2, 3)),
    )


def nodes_of_in_place_operations() -> None:
    x = _leaf(0.5, 0.25)
    for name, arguments in (
        ("add_", (1,)),
        ("sub_", (x,)),
        ("mul_", (2,)),
        ("div_", (2,)),
        ("pow_", (2,)),
        ("exp_", ()),
        ("zero_", ()),
        ("fill_", (3,)),
        ("copy_", (torch.ones(2),)),
        ("clamp_", (0, 1)),
        ("relu_", ()),
        ("sigmoid_", ()),
        ("neg_", ()),
        ("t_", ()),
        ("unsqueeze_", (0,)),
        ("squeeze_", ()),
        ("masked_fill_", (torch.tensor([True, False]), 0)),
        ("index_fill_", (0, torch.tensor([0]), 1.0)),
        ("random_", ()),
        ("normal_", ()),
        ("uniform_", ()),
        ("bernoulli_", ()),
        ("cumsum_", (0,)),
        ("lerp_", (x, 0.5)),
        ("addcmul_", (x, x)),
        ("requires_grad_", ()),
    ):
        y = x.clone()
        print(name, _name(getattr(y, name)(*arguments)))
    y = x.clone()
    y[0] = 5.0
    print(y.grad_fn.name())
    y = x.clone()
    y[torch.tensor([0])] = 5.0
    print(y.grad_fn.name(), y.grad_fn.next_functions)


def a_custom_function_names_its_node() -> None:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g

    y = Cube.apply(_leaf(1.0))
    print(y.grad_fn.name(), type(y.grad_fn).__name__, y.grad_fn)
    print(y.grad_fn.next_functions, isinstance(y.grad_fn, torch.autograd.graph.Node))
    print(isinstance((_leaf(1.0) * 2).grad_fn, torch.autograd.graph.Node))


def a_walk_over_the_graph_of_a_network() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    loss = torch.nn.functional.cross_entropy(net(torch.randn(5, 3)), torch.tensor([0, 1, 0, 1, 1]))

    def walk(node, depth):
        print("  " * depth + ("None" if node is None else node.name()))
        for following, number in getattr(node, "next_functions", ()):
            print("  " * depth + str(number), end=" ")
            walk(following, depth + 1)

    walk(loss.grad_fn, 0)


def nodes_compare_and_print() -> None:
    x = _leaf(1.0)
    y = x * 2
    print(repr(y.grad_fn), str(y.grad_fn), type(y.grad_fn))
    outcome(lambda: type(y.grad_fn)())
    outcome(setattr, y, "grad_fn", None)
    outcome(setattr, y, "is_leaf", True)
    outcome(setattr, y, "output_nr", 1)


def a_node_keeps_the_graph_alive_without_its_tensor() -> None:
    x = _leaf(2.0)
    node = (x.exp() * 3).grad_fn
    print(near(node._saved_other), node.next_functions[0][0].name())
    print(near(node.next_functions[0][0]._saved_result))
