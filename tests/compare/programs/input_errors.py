"""What wrong input is answered with: types and texts of the exceptions."""

import torch
from observation import each, outcome


def _f(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


def shapes_that_do_not_broadcast() -> None:
    a, b = _f(2, 3), _f(2, 4)
    each(
        add=lambda: a + b,
        sub=lambda: a - b,
        mul=lambda: a * b,
        div=lambda: a / b,
        power=lambda: a**b,
        less=lambda: a < b,
        equal=lambda: a == b,
        maximum=lambda: torch.maximum(a, b),
        where=lambda: torch.where(a > 0, a, b),
        lerp=lambda: torch.lerp(a, b, 0.5),
        addcmul=lambda: torch.addcmul(a, a, b),
        atan2=lambda: torch.atan2(a, b),
        ranks=lambda: _f(3) + _f(2, 2),
        middle=lambda: _f(2, 3, 4) + _f(2, 2, 4),
    )


def shapes_of_matrix_products() -> None:
    a = _f(2, 3)
    each(
        matmul=lambda: a @ a,
        mm=lambda: a.mm(a),
        mm_rank=lambda: _f(3).mm(a),
        mv=lambda: a.mv(_f(2)),
        dot=lambda: _f(2).dot(_f(3)),
        dot_rank=lambda: a.dot(a),
        bmm=lambda: _f(2, 3, 4).bmm(_f(2, 3, 4)),
        bmm_rank=lambda: a.bmm(a),
        scalar=lambda: a @ torch.tensor(1.0),
        batch=lambda: _f(2, 3, 4) @ _f(3, 4, 5),
        vector=lambda: _f(3) @ _f(2),
        addmm=lambda: torch.addmm(_f(3, 3), a, a),
        einsum=lambda: torch.einsum("ij,jk->ik", a, a),
        einsum_spec=lambda: torch.einsum("ij,jk->iz", a, a.t()),
        linear=lambda: torch.nn.functional.linear(a, _f(4, 4)),
        outer=lambda: torch.outer(a, a),
        number=lambda: a @ 2,
    )


def dtypes_of_matrix_products() -> None:
    a = _f(2, 2)
    each(
        mixed=lambda: a @ a.double(),
        integer=lambda: a @ a.long(),
        half=lambda: a @ a.half(),
        bools=lambda: (a > 0) @ (a > 0),
        linear=lambda: torch.nn.functional.linear(a, a.double()),
        integers=lambda: a.long() @ a.long(),
        dot=lambda: a[0].dot(a[0].double()),
    )


def dimensions_out_of_range() -> None:
    x = _f(2, 3)
    each(
        sum=lambda: x.sum(2),
        sum_low=lambda: x.sum(-3),
        mean=lambda: x.mean(5),
        softmax=lambda: x.softmax(2),
        max=lambda: x.max(2),
        argmax=lambda: x.argmax(2),
        transpose=lambda: x.transpose(0, 2),
        squeeze=lambda: x.squeeze(2),
        unsqueeze=lambda: x.unsqueeze(4),
        cat=lambda: torch.cat([x, x], 2),
        stack=lambda: torch.stack([x, x], 4),
        select=lambda: x.select(2, 0),
        size=lambda: x.size(2),
        unbind=lambda: x.unbind(2),
        flip=lambda: x.flip(2),
        cumsum=lambda: x.cumsum(2),
        sort=lambda: x.sort(2),
        chunk=lambda: x.chunk(2, 2),
        split=lambda: x.split(1, 2),
        permute=lambda: x.permute(0, 2),
        flatten=lambda: x.flatten(0, 2),
        gather=lambda: x.gather(2, torch.zeros(2, 3).long()),
        scalar=lambda: torch.tensor(1.0).sum(1),
        norm=lambda: x.norm(dim=3),
        t=lambda: _f(2, 2, 2).t(),
        mT=lambda: _f(2).mT,
    )


def repeated_dimensions() -> None:
    x = _f(2, 3)
    each(
        sum=lambda: x.sum((0, 0)),
        mean=lambda: x.mean((1, -1)),
        permute=lambda: x.permute(0, 0),
        flip=lambda: x.flip((0, 0)),
        permute_count=lambda: x.permute(0),
        amax=lambda: x.amax((0, 0)),
        movedim=lambda: x.movedim((0, 0), (1, 0)),
    )


def indices_out_of_range() -> None:
    x = _f(2, 3)
    each(
        first=lambda: x[2],
        second=lambda: x[0, 3],
        negative=lambda: x[-3],
        too_many=lambda: x[0, 0, 0],
        tensor=lambda: x[torch.tensor([0, 5])],
        mask=lambda: x[torch.tensor([True, False, True])],
        mask_2d=lambda: x[torch.ones(3, 2) > 0],
        floating=lambda: x[1.0],
        float_tensor=lambda: x[torch.tensor([0.0])],
        text=lambda: x["a"],
        index_select=lambda: x.index_select(0, torch.tensor([4])),
        gather=lambda: x.gather(0, torch.tensor([[4, 0, 0]])),
        take=lambda: x.take(torch.tensor([9])),
        select=lambda: x.select(0, 2),
        narrow=lambda: x.narrow(0, 1, 2),
        embedding=lambda: torch.nn.functional.embedding(torch.tensor([5]), x),
        shapes=lambda: x[torch.tensor([0, 1]), torch.tensor([0, 1, 2])],
        scalar=lambda: torch.tensor(1.0)[0],
        step=lambda: x[::-1],
        zero_step=lambda: x[::0],
        iterate=lambda: list(torch.tensor(1.0)),
        dictionary=lambda: x[{}],
    )


def assignments_that_do_not_fit() -> None:
    def put(index, value):
        x = _f(2, 3)
        x[index] = value
        return x

    each(
        row=lambda: put(0, torch.ones(2)),
        mask=lambda: put(_f(2, 3) > 0, torch.ones(5)),
        text=lambda: put(0, "a"),
        out=lambda: put(5, 1.0),
        listed=lambda: put(0, [1.0, 2.0, 3.0]),
        tensor=lambda: put(torch.tensor([0, 1]), torch.ones(3, 3)),
        cplx=lambda: put(0, 1j),
        dtype=lambda: put(torch.tensor([0]), torch.ones(3, dtype=torch.float64)),
        none=lambda: put(0, None),
    )


def arguments_of_the_wrong_type() -> None:
    x = _f(2)
    each(
        add=lambda: torch.add(x, "a"),
        add_none=lambda: x + None,
        text=lambda: x + "a",
        listed=lambda: x + [1, 2],
        rtext=lambda: "a" * x,
        exp=lambda: torch.exp(5),
        exp_list=lambda: torch.exp([1.0]),
        exp_none=lambda: torch.exp(),
        many=lambda: torch.exp(x, x),
        unknown=lambda: torch.exp(x, size=3),
        sum=lambda: x.sum("a"),
        reshape=lambda: x.reshape("a"),
        ones=lambda: torch.ones("a"),
        view=lambda: x.view(1.0),
        matmul=lambda: torch.matmul(x, 2),
        cat=lambda: torch.cat(x, 0),
        cat_items=lambda: torch.cat([x, 5]),
        stack=lambda: torch.stack(5),
        relu=lambda: torch.relu("x"),
        clamp=lambda: x.clamp(),
        less=lambda: x < "a",
        equal=lambda: x == "a",
        unequal=lambda: x != None,
        where=lambda: torch.where(x > 0),
        in_list=lambda: x in [1],
        pow=lambda: x ** "a",
        mul=lambda: torch.mul(x),
        keepdim=lambda: x.sum(keepdim=5),
        dtype=lambda: torch.ones(2, dtype="float32"),
    )


def names_that_do_not_exist() -> None:
    x = _f(2)
    each(
        method=lambda: x.nothing(),
        function=lambda: torch.nothing(x),
        functional=lambda: torch.nn.functional.nothing(x),
        dtype=lambda: torch.float31,
    )


def unknown_keywords() -> None:
    x = _f(2)
    each(
        sum=lambda: x.sum(axis=0, dims=1),
        add=lambda: torch.add(x, x, beta=2),
        tensor=lambda: torch.tensor([1], size=2),
        ones=lambda: torch.ones(2, foo=1),
        randn=lambda: torch.randn(2, seed=1),
        softmax=lambda: torch.nn.functional.softmax(x, axis=0),
        mse=lambda: torch.nn.functional.mse_loss(x, x, reduce_to="x"),
        linear=lambda: torch.nn.Linear(2, 3, biass=False),
        sgd=lambda: torch.optim.SGD([x], lr=0.1, speed=3),
        axis=lambda: x.sum(axis=0),
        mean=lambda: torch.mean(x, foo=1),
    )


def a_bad_reduction() -> None:
    x = _f(2)
    F = torch.nn.functional
    each(
        mse=lambda: F.mse_loss(x, x, reduction="average"),
        l1=lambda: F.l1_loss(x, x, reduction="avg"),
        bce=lambda: F.binary_cross_entropy(x, x, reduction="all"),
        ce=lambda: F.cross_entropy(x, x, reduction="means"),
        nll=lambda: F.nll_loss(_f(1, 2), torch.tensor([0]), reduction=""),
        kl=lambda: F.kl_div(x, x, reduction="some"),
        module=lambda: torch.nn.MSELoss(reduction="bad")(x, x),
        old=lambda: F.mse_loss(x, x, size_average=False),
    )


def only_floats_need_gradients() -> None:
    each(
        ones=lambda: torch.ones(2, dtype=torch.int64, requires_grad=True),
        tensor=lambda: torch.tensor([1, 2], requires_grad=True),
        method=lambda: torch.arange(3).requires_grad_(),
        bools=lambda: torch.tensor([True], requires_grad=True),
        parameter=lambda: torch.nn.Parameter(torch.arange(3)),
        frozen=lambda: torch.nn.Parameter(torch.arange(3), requires_grad=False),
        randint=lambda: torch.randint(5, (2,), requires_grad=True),
        cplx=lambda: torch.ones(1, dtype=torch.complex64, requires_grad=True),
        zeros_like=lambda: torch.zeros_like(torch.arange(2), requires_grad=True),
    )


def functions_that_need_floats() -> None:
    i = torch.tensor([1, 2, 3])
    each(
        mean=lambda: i.mean(),
        mean_dim=lambda: i.mean(0),
        std=lambda: i.std(),
        var=lambda: i.var(),
        softmax=lambda: i.softmax(0),
        norm=lambda: i.norm(),
        exp=lambda: i.exp(),
        sigmoid=lambda: i.sigmoid(),
        sqrt=lambda: i.sqrt(),
        bernoulli=lambda: i.bernoulli(),
        randn_like=lambda: torch.randn_like(i),
        rand_like=lambda: torch.rand_like(i),
        normal_=lambda: i.normal_(),
        uniform_=lambda: i.uniform_(),
        dropout=lambda: torch.nn.functional.dropout(i),
        gelu=lambda: torch.nn.functional.gelu(i),
        mse=lambda: torch.nn.functional.mse_loss(i, i),
        relu=lambda: torch.relu(i),
        logsumexp=lambda: i.logsumexp(0),
        median=lambda: i.median(),
        inv=lambda: torch.linalg.inv(torch.ones(2, 2).long()),
        quantile=lambda: i.quantile(0.5),
        mean_dtype=lambda: i.mean(dtype=torch.float32),
        log_softmax=lambda: i.log_softmax(0),
        floor=lambda: i.floor(),
        neg_bool=lambda: -(i > 1),
        sub_bool=lambda: (i > 1) - (i > 2),
        invert_float=lambda: ~i.float(),
        and_float=lambda: i.float() & 1,
        shift=lambda: i.float() << 1,
    )


def reductions_of_nothing() -> None:
    e = torch.zeros(0)
    m = torch.zeros(2, 0)
    each(
        sum=lambda: e.sum(),
        prod=lambda: e.prod(),
        mean=lambda: e.mean(),
        max=lambda: e.max(),
        min=lambda: e.min(),
        argmax=lambda: e.argmax(),
        std=lambda: e.std(),
        median=lambda: e.median(),
        max_dim=lambda: m.max(1),
        argmin=lambda: m.argmin(1),
        amax=lambda: m.amax(1),
        sum_dim=lambda: m.sum(1),
        mean_dim=lambda: m.mean(1),
        all=lambda: e.all(),
        any=lambda: e.any(),
        logsumexp=lambda: e.logsumexp(0),
        cat=lambda: torch.cat([]),
        stack=lambda: torch.stack([]),
        max0=lambda: m.max(0),
        norm=lambda: e.norm(),
        softmax=lambda: m.softmax(1),
    )


def scalars_out_of_tensors() -> None:
    x = _f(2)
    each(
        item=lambda: x.item(),
        number=lambda: float(x),
        integer=lambda: int(x),
        truth=lambda: bool(x),
        empty=lambda: bool(torch.zeros(0)),
        one=lambda: bool(torch.zeros(1)),
        index=lambda: [1, 2, 3][torch.tensor(1)],
        index_float=lambda: [1, 2, 3][torch.tensor(1.0)],
        length=lambda: len(torch.tensor(1.0)),
        cplx=lambda: float(torch.tensor(1j)),
        as_complex=lambda: complex(torch.tensor(2.0)),
        in_if=lambda: 1 if x > 0 else 2,
        empty_item=lambda: torch.zeros(0).item(),
        rounding=lambda: round(torch.tensor(1.6)),
    )


def factories_with_bad_sizes() -> None:
    each(
        negative=lambda: torch.zeros(-1),
        listed=lambda: torch.zeros([2, -3]),
        floating=lambda: torch.zeros(2.0),
        ragged=lambda: torch.tensor([[1, 2], [3]]),
        mixed=lambda: torch.tensor([1, "a"]),
        arange=lambda: torch.arange(0, 5, -1),
        arange_zero=lambda: torch.arange(0, 5, 0),
        linspace=lambda: torch.linspace(0, 1, -1),
        eye=lambda: torch.eye(-1),
        full=lambda: torch.full((2,), None),
        text=lambda: torch.tensor("abc"),
        none=lambda: torch.tensor(None),
        obj=lambda: torch.tensor(object()),
        randint=lambda: torch.randint(0, 0, (2,)),
        randperm=lambda: torch.randperm(-1),
        nested=lambda: torch.tensor([torch.ones(2), torch.ones(2)]),
        overflow=lambda: torch.tensor([300], dtype=torch.uint8),
        big=lambda: torch.tensor(2**70),
        normal=lambda: torch.normal(0.0, -1.0, (2,)),
        multinomial=lambda: torch.multinomial(torch.tensor([0.0, 0.0]), 1),
    )


def expand_repeat_and_split_errors() -> None:
    x = _f(2, 3)
    each(
        expand=lambda: x.expand(3, 3),
        expand_rank=lambda: x.expand(3),
        expand_minus=lambda: x.expand(-1, 2, 3),
        repeat=lambda: x.repeat(2),
        split=lambda: x.split([1, 1], 1),
        split_zero=lambda: x.split(0),
        chunk=lambda: x.chunk(0),
        unflatten=lambda: x.unflatten(1, (2, 2)),
        cat=lambda: torch.cat([x, _f(3, 2)]),
        cat_rank=lambda: torch.cat([x, _f(3)]),
        stack=lambda: torch.stack([x, _f(3, 2)]),
        cat_scalar=lambda: torch.cat([torch.tensor(1.0), torch.tensor(2.0)]),
        broadcast=lambda: torch.broadcast_to(x, (2, 4)),
        shapes=lambda: torch.broadcast_shapes((2, 3), (4,)),
        reshape=lambda: x.reshape(4, -1),
        unfold=lambda: x.unfold(1, 5, 1),
        narrow=lambda: x.narrow(1, 5, 1),
        diag=lambda: torch.diag(_f(2, 2, 2)),
        tril=lambda: _f(2).tril(),
        roll=lambda: x.roll((1, 2), 0),
        meshgrid=lambda: torch.meshgrid(x, indexing="ij"),
        view_as=lambda: x.view_as(_f(4)),
        squeeze=lambda: x.squeeze((0, 5)),
        movedim=lambda: x.movedim(0, 3),
        swap=lambda: x.swapaxes(0, 3),
    )


def gather_scatter_and_index_errors() -> None:
    x = _f(2, 3)
    i = torch.tensor([[0, 1]])
    each(
        gather_dtype=lambda: x.gather(0, i.float()),
        gather_rank=lambda: x.gather(0, torch.tensor([0])),
        gather_int=lambda: x.gather(0, i.int()),
        scatter=lambda: x.scatter(0, i * 9, 1.0),
        scatter_dtype=lambda: x.scatter(0, i, torch.ones(1, 2).double()),
        scatter_rank=lambda: x.scatter(0, torch.tensor([0]), 1.0),
        index_select=lambda: x.index_select(0, i),
        index_float=lambda: x.index_select(0, torch.tensor([0.0])),
        index_add=lambda: x.index_add(0, torch.tensor([0]), _f(2, 3)),
        index_add_dtype=lambda: x.index_add(0, torch.tensor([0]), _f(1, 3).double()),
        masked_fill=lambda: x.masked_fill(torch.ones(2, 3), 0),
        masked_value=lambda: x.masked_fill(x > 0, torch.ones(2)),
        masked_select=lambda: x.masked_select(torch.tensor([1, 2, 3])),
        take=lambda: x.take(torch.tensor([0.5])),
        put=lambda: x.index_put((torch.tensor([0]),), torch.ones(4)),
        where=lambda: torch.where(x, x, x),
        topk=lambda: x.topk(5),
        kth=lambda: x.kthvalue(9),
    )


def losses_with_bad_targets() -> None:
    F = torch.nn.functional
    x = torch.zeros(2, 3)
    each(
        range=lambda: F.cross_entropy(x, torch.tensor([0, 3])),
        dtype=lambda: F.cross_entropy(x, torch.tensor([0.0, 1.0])),
        batch=lambda: F.cross_entropy(x, torch.tensor([0, 1, 2])),
        negative=lambda: F.nll_loss(x, torch.tensor([-1, 0])),
        int32=lambda: F.nll_loss(x, torch.tensor([0, 1], dtype=torch.int32)),
        bce_range=lambda: F.binary_cross_entropy(x + 2, x),
        bce_shape=lambda: F.binary_cross_entropy(x, torch.zeros(3)),
        bcel_shape=lambda: F.binary_cross_entropy_with_logits(x, torch.zeros(2)),
        mse_shape=lambda: F.mse_loss(x, torch.zeros(3)),
        mse_bad=lambda: F.mse_loss(x, torch.zeros(2)),
        mse_dtype=lambda: F.mse_loss(x, x.double()),
        smooth_beta=lambda: F.smooth_l1_loss(x, x, beta=-1.0),
        huber=lambda: F.huber_loss(x, x, delta=0.0),
        dropout=lambda: F.dropout(x, 1.5),
        nll_rank=lambda: F.nll_loss(torch.tensor(1.0), torch.tensor(0)),
        smoothing=lambda: F.cross_entropy(x, torch.tensor([0, 1]), label_smoothing=2.0),
        weight=lambda: F.cross_entropy(x, torch.tensor([0, 1]), weight=torch.ones(2)),
    )


def layers_with_bad_input() -> None:
    nn = torch.nn
    each(
        linear=lambda: nn.Linear(3, 2)(torch.ones(4, 4)),
        linear_dtype=lambda: nn.Linear(3, 2)(torch.ones(4, 3).double()),
        linear_int=lambda: nn.Linear(3, 2)(torch.ones(4, 3).long()),
        conv=lambda: nn.Conv2d(3, 2, 3)(torch.ones(1, 4, 8, 8)),
        conv_rank=lambda: nn.Conv2d(3, 2, 3)(torch.ones(8, 8)),
        conv_small=lambda: nn.Conv2d(3, 2, 5)(torch.ones(1, 3, 3, 3)),
        norm=lambda: nn.BatchNorm1d(3)(torch.ones(4, 4)),
        norm_one=lambda: nn.BatchNorm1d(3)(torch.ones(1, 3)),
        norm_rank=lambda: nn.BatchNorm2d(3)(torch.ones(4, 3)),
        layer=lambda: nn.LayerNorm(3)(torch.ones(2, 4)),
        embedding=lambda: nn.Embedding(3, 2)(torch.tensor([3])),
        embedding_float=lambda: nn.Embedding(3, 2)(torch.tensor([1.0])),
        pool=lambda: nn.MaxPool2d(2)(torch.ones(2, 2)),
        groups=lambda: nn.Conv2d(3, 2, 3, groups=2),
        dropout=lambda: nn.Dropout(-1),
        lstm=lambda: nn.LSTM(3, 4)(torch.ones(2, 2, 5)),
        text=lambda: nn.Linear(3, 2)("a"),
        nothing=lambda: nn.Linear(3, 2)(),
        embed_pad=lambda: nn.Embedding(3, 2, padding_idx=5),
        heads=lambda: nn.MultiheadAttention(5, 2),
        out_features=lambda: nn.Linear(3, "a"),
        group_norm=lambda: nn.GroupNorm(2, 3),
    )


def linear_algebra_with_bad_input() -> None:
    L = torch.linalg
    each(
        inv_singular=lambda: L.inv(torch.zeros(2, 2)),
        inv_shape=lambda: L.inv(_f(2, 3)),
        cholesky=lambda: L.cholesky(-torch.eye(2)),
        solve=lambda: L.solve(torch.zeros(2, 2), _f(2)),
        det=lambda: L.det(_f(2, 3)),
        solve_shape=lambda: L.solve(torch.eye(2), _f(3)),
        eigh=lambda: L.eigh(_f(2, 3)),
        norm=lambda: L.norm(_f(2, 2), ord="bad"),
        cross=lambda: L.cross(_f(2), _f(2)),
        matrix_power=lambda: L.matrix_power(_f(2, 3), 2),
        trace=lambda: torch.trace(_f(3)),
        vector=lambda: L.inv(_f(3)),
    )


def devices_and_layouts_that_are_not_there() -> None:
    x = _f(2)
    each(
        device=lambda: torch.device("nowhere"),
        cpu=lambda: x.to("cpu"),
        number=lambda: torch.device("cpu", 0),
        available=lambda: torch.cuda.is_available(),
        meta=lambda: x.device,
        equal=lambda: torch.device("cpu") == torch.device("cpu"),
        text=lambda: str(torch.device("cpu")),
        bad=lambda: x.to("float"),
        kind=lambda: torch.device("cpu").type,
        index=lambda: torch.device("cuda:1").index,
        bad_index=lambda: torch.device("cuda:a"),
    )


def out_arguments_are_checked() -> None:
    x = _f(2)
    each(
        fits=lambda: torch.add(x, x, out=torch.zeros(2)),
        resized=lambda: torch.add(x, x, out=torch.zeros(3)),
        empty=lambda: torch.add(x, x, out=torch.empty(0)),
        dtype=lambda: torch.add(x, x, out=torch.zeros(2, dtype=torch.int64)),
        wider=lambda: torch.add(x, x, out=torch.zeros(2, dtype=torch.float64)),
        grad=lambda: torch.exp(x.clone().requires_grad_(), out=torch.zeros(2)),
        out_grad=lambda: torch.exp(x, out=torch.zeros(2, requires_grad=True)),
        kind=lambda: torch.add(x, x, out=5),
        pair=lambda: torch.max(x, 0, out=(torch.zeros(1), torch.zeros(1).long())),
    )


def integer_division_and_remainders() -> None:
    a, z = torch.tensor([7, -7]), torch.tensor([0, 0])
    each(
        true=lambda: a / 2,
        floor=lambda: a // 2,
        mod=lambda: a % 3,
        fmod=lambda: torch.fmod(a, 3),
        trunc=lambda: torch.div(a, 2, rounding_mode="trunc"),
        floor_mode=lambda: torch.div(a, 2, rounding_mode="floor"),
        bad_mode=lambda: torch.div(a, 2, rounding_mode="up"),
        zero=lambda: a // z,
        zero_mod=lambda: a % z,
        zero_true=lambda: a / z,
        zero_float=lambda: a.float() // 0,
        power=lambda: a**-1,
        rdiv=lambda: 2 / a,
        rfloor=lambda: 15 // a,
        rmod=lambda: 15 % a,
        divmod=lambda: divmod(a, 2),
        power_ok=lambda: a**2,
    )


def parameters_and_buffers_with_bad_values() -> None:
    m = torch.nn.Linear(2, 2)
    each(
        assign=lambda: setattr(m, "weight", torch.ones(2, 2)),
        text=lambda: setattr(m, "weight", "a"),
        none=lambda: setattr(m, "bias", None),
        register=lambda: m.register_parameter("w", torch.ones(2)),
        dotted=lambda: m.register_buffer("a.b", torch.ones(1)),
        empty=lambda: m.register_buffer("", torch.ones(1)),
        again=lambda: m.register_buffer("weight", torch.ones(1)),
        kind=lambda: m.register_buffer("x", 5),
        nonleaf=lambda: m.register_parameter("y", torch.nn.Parameter(torch.ones(1)) * 2),
        missing=lambda: m.nothing,
        child=lambda: m.add_module("c", 5),
    )


def a_tensor_is_not_hashable_by_value() -> None:
    a, b = _f(1), _f(1)
    print(hash(a) == hash(b), hash(a) == hash(a), len({a, b, a}), a is a)
    outcome(lambda: a == b)
    outcome(lambda: a in [b])
    outcome(lambda: [a, b].index(b))


def class_checks() -> None:
    each(
        is_tensor=lambda: torch.is_tensor(5),
        floating=lambda: torch.is_floating_point(_f(1)),
        bad=lambda: torch.is_floating_point(5),
        numel=lambda: torch.numel(_f(2, 3)),
        legacy=lambda: isinstance(_f(1), torch.FloatTensor),
        legacy_int=lambda: isinstance(_f(1), torch.LongTensor),
        kind=lambda: _f(1).type(),
        kind_check=lambda: _f(1).is_floating_point(),
        cplx=lambda: torch.is_complex(_f(1)),
        bad_type=lambda: _f(1).type("torch.NoTensor"),
    )
