"""Activations and losses of torch.nn.functional: values and gradients."""

import torch
from observation import each, near

F = torch.nn.functional


def _values_and_gradients(**functions) -> None:
    for name, function in functions.items():
        x = torch.tensor([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 7.0], requires_grad=True)
        y = function(x)
        (y * torch.arange(1.0, y.numel() + 1).view(y.shape)).sum().backward()
        print(name, near(y), near(x.grad))


def _loss(function, x, *rest, **named) -> None:
    for reduction in ("none", "mean", "sum"):
        x = x.detach().clone().requires_grad_()
        y = function(x, *rest, reduction=reduction, **named)
        y.sum().backward()
        print(reduction, near(y), near(x.grad))


def rectifiers() -> None:
    _values_and_gradients(
        relu=F.relu,
        leaky=F.leaky_relu,
        leaky2=lambda x: F.leaky_relu(x, 0.2),
        relu6=F.relu6,
        elu=F.elu,
        elu2=lambda x: F.elu(x, 0.5),
        selu=F.selu,
        celu=lambda x: F.celu(x, 2.0),
        prelu=lambda x: F.prelu(x, torch.tensor([0.25])),
        hardtanh=F.hardtanh,
        threshold=lambda x: F.threshold(x, 0.5, 9.0),
    )


def smooth_activations() -> None:
    _values_and_gradients(
        sigmoid=torch.sigmoid,
        tanh=torch.tanh,
        gelu=F.gelu,
        gelu_tanh=lambda x: F.gelu(x, approximate="tanh"),
        silu=F.silu,
        mish=F.mish,
        softplus=F.softplus,
        softplus2=lambda x: F.softplus(x, 2.0, 5.0),
        softsign=F.softsign,
        logsigmoid=F.logsigmoid,
        tanhshrink=F.tanhshrink,
    )


def hard_activations() -> None:
    _values_and_gradients(
        hardsigmoid=F.hardsigmoid,
        hardswish=F.hardswish,
        hardshrink=F.hardshrink,
        softshrink=F.softshrink,
        clamp=lambda x: x.clamp(-1, 1),
        clamp_min=lambda x: x.clamp_min(0.5),
        rrelu=lambda x: F.rrelu(x, training=False),
        glu=lambda x: F.glu(x, 0),
    )


def softmaxes() -> None:
    _values_and_gradients(
        softmax=lambda x: F.softmax(x, 0),
        log=lambda x: F.log_softmax(x, 0),
        softmin=lambda x: F.softmin(x, 0),
        rows=lambda x: F.softmax(x.view(2, 4), 1),
        columns=lambda x: F.log_softmax(x.view(2, 4), 0),
        normalize=lambda x: F.normalize(x, dim=0),
        normalize1=lambda x: F.normalize(x, p=1, dim=0),
    )
    each(
        implicit=lambda: F.softmax(torch.ones(2, 2)),
        implicit_log=lambda: F.log_softmax(torch.ones(2)),
    )


def in_place_activations() -> None:
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    each(
        relu=lambda: F.relu(x * 1, inplace=True),
        relu_=lambda: F.relu_(x * 1),
        leaky=lambda: F.leaky_relu(x * 1, 0.1, True),
        elu=lambda: F.elu(x * 1, inplace=True),
        leaf=lambda: F.relu(x, inplace=True),
        silu=lambda: F.silu(x * 1, inplace=True),
        module=lambda: torch.nn.ReLU(inplace=True),
    )


def squared_and_absolute_errors() -> None:
    x, y = torch.tensor([[0.0, 1.0], [2.0, -3.0]]), torch.tensor([[0.5, 1.0], [0.0, 1.0]])
    for f in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss):
        _loss(f, x, y)
    _loss(F.smooth_l1_loss, x, y, beta=0.25)
    _loss(F.huber_loss, x, y, delta=0.25)


def weighted_squared_errors() -> None:
    x, y = torch.tensor([0.0, 1.0, 2.0]), torch.tensor([1.0, 1.0, 0.0])
    each(
        mse=lambda: F.mse_loss(x, y, weight=torch.tensor([1.0, 2.0, 3.0])),
        l1=lambda: F.l1_loss(x, y, weight=torch.tensor([1.0, 2.0, 3.0])),
    )


def cross_entropy_with_classes() -> None:
    x = torch.randn(3, 4)
    k = torch.tensor([0, 3, 1])
    _loss(F.cross_entropy, x, k)
    _loss(F.cross_entropy, x, k, weight=torch.tensor([1.0, 2.0, 0.5, 1.0]))
    _loss(F.cross_entropy, x, torch.tensor([0, -100, 1]))
    _loss(F.cross_entropy, x, k, ignore_index=3, label_smoothing=0.1)


def cross_entropy_with_probabilities() -> None:
    x = torch.randn(3, 4)
    _loss(F.cross_entropy, x, torch.rand(3, 4).softmax(1))
    _loss(F.cross_entropy, x[0], torch.tensor(2))
    _loss(F.cross_entropy, torch.randn(2, 3, 2), torch.tensor([[0, 1], [2, 2]]))


def cross_entropy_where_all_targets_are_ignored() -> None:
    _loss(F.cross_entropy, torch.zeros(2, 3), torch.tensor([-100, -100]))


def negative_log_likelihood() -> None:
    x = torch.randn(3, 4).log_softmax(1)
    _loss(F.nll_loss, x, torch.tensor([0, 3, 1]))
    _loss(
        F.nll_loss,
        x,
        torch.tensor([0, 3, 1]),
        weight=torch.tensor([1.0, 2.0, 0.5, 1.0]),
        ignore_index=1,
    )


def binary_cross_entropies() -> None:
    x, y = torch.tensor([-2.0, 0.0, 1.0, 30.0]), torch.tensor([0.0, 1.0, 0.5, 0.0])
    _loss(F.binary_cross_entropy_with_logits, x, y)
    _loss(
        F.binary_cross_entropy_with_logits,
        x,
        y,
        pos_weight=torch.tensor([2.0]),
        weight=torch.tensor([1.0, 2.0, 3.0, 4.0]),
    )
    _loss(F.binary_cross_entropy, x.sigmoid(), y)
    _loss(F.binary_cross_entropy, torch.tensor([0.0, 1.0]), torch.tensor([1.0, 1.0]))


def divergences() -> None:
    x, y = torch.randn(2, 3).log_softmax(1), torch.rand(2, 3).softmax(1)
    _loss(F.kl_div, x, y)
    _loss(F.kl_div, x, y.log(), log_target=True)
    each(batchmean=lambda: F.kl_div(x, y, reduction="batchmean"))
    _loss(F.poisson_nll_loss, x, y)
    _loss(F.gaussian_nll_loss, x, y, torch.ones(2, 3) * 2)


def margins() -> None:
    a, b = torch.randn(3, 4), torch.randn(3, 4)
    t = torch.tensor([1.0, -1.0, 1.0])
    _loss(F.margin_ranking_loss, a[:, 0], b[:, 0], t, margin=0.5)
    _loss(F.hinge_embedding_loss, a[:, 0], t)
    _loss(F.cosine_embedding_loss, a, b, t)
    _loss(F.triplet_margin_loss, a, b, b.flip(0))
    _loss(F.soft_margin_loss, a[:, 0], t)
    _loss(F.multi_margin_loss, a, torch.tensor([0, 1, 2]))
    _loss(F.multilabel_soft_margin_loss, a, (b > 0).float())


def loss_modules_print_and_work() -> None:
    nn = torch.nn
    for m in (
        nn.MSELoss(),
        nn.L1Loss(reduction="sum"),
        nn.CrossEntropyLoss(label_smoothing=0.1),
        nn.BCEWithLogitsLoss(),
        nn.SmoothL1Loss(beta=0.5),
        nn.HuberLoss(),
        nn.NLLLoss(),
        nn.BCELoss(),
        nn.KLDivLoss(reduction="batchmean"),
    ):
        print(m, m.reduction)
    print(
        nn.MSELoss()(torch.ones(2), torch.zeros(2)),
        nn.CrossEntropyLoss()(torch.zeros(1, 2), torch.tensor([1])),
    )


def normalisations() -> None:
    x = torch.randn(4, 3)
    each(
        layer=lambda: near(F.layer_norm(x, (3,))),
        affine=lambda: near(F.layer_norm(x, (3,), torch.full((3,), 2.0), torch.ones(3))),
        batch=lambda: near(F.batch_norm(x, None, None, training=True)),
        evaluated=lambda: near(F.batch_norm(x, torch.zeros(3), torch.ones(3))),
        group=lambda: near(F.group_norm(x.view(1, 4, 3), 2)),
        instance=lambda: near(F.instance_norm(x.view(1, 4, 3))),
        rms=lambda: near(F.rms_norm(x, (3,))),
        local=lambda: near(F.local_response_norm(x.view(1, 4, 3), 2)),
    )


def batch_norm_updates_its_running_values() -> None:
    m = torch.nn.BatchNorm1d(2)
    for _ in range(2):
        m(torch.tensor([[1.0, 2.0], [3.0, 6.0]]))
    print(m.running_mean, m.running_var, m.num_batches_tracked)
    m.eval()
    print(m(torch.ones(1, 2)))
    n = torch.nn.BatchNorm1d(2, momentum=None, affine=False)
    n(torch.tensor([[1.0, 2.0], [3.0, 6.0]]))
    print(n.running_mean, n, torch.nn.BatchNorm1d(2, track_running_stats=False).running_mean)


def dropouts() -> None:
    x = torch.ones(3, 6, requires_grad=True)
    y = F.dropout(x, 0.5)
    print(y)
    y.sum().backward()
    print(x.grad)
    print(
        F.dropout(x, 0.5, training=False) is x,
        F.dropout(x, 0.0).sum().item(),
        F.dropout(x, 1.0).sum().item(),
        F.dropout1d(torch.ones(1, 4, 2)),
        F.alpha_dropout(torch.ones(4), 0.5),
    )


def convolutions() -> None:
    x = torch.arange(25.0).view(1, 1, 5, 5).requires_grad_()
    w = torch.tensor([[[[1.0, 0.0], [0.0, -1.0]]]], requires_grad=True)
    each(
        plain=lambda: F.conv2d(x, w),
        stride=lambda: F.conv2d(x, w, stride=2),
        pad=lambda: F.conv2d(x, w, padding=1).shape,
        dilation=lambda: F.conv2d(x, w, dilation=2),
        same=lambda: F.conv2d(x, w, padding="same").shape,
        bias=lambda: F.conv2d(x, w, torch.ones(1)).sum(),
        transposed=lambda: F.conv_transpose2d(x[..., :2, :2], w),
        one_d=lambda: F.conv1d(torch.arange(5.0).view(1, 1, 5), torch.ones(1, 1, 2)),
        unbatched=lambda: F.conv2d(x[0], w).shape,
        groups=lambda: F.conv1d(torch.ones(1, 2, 3), torch.ones(2, 1, 2), groups=2),
    )
    F.conv2d(x, w, stride=2, padding=1).pow(2).sum().backward()
    print(near(x.grad), near(w.grad))


def poolings() -> None:
    x = torch.arange(16.0).view(1, 1, 4, 4).requires_grad_()
    each(
        max=lambda: F.max_pool2d(x, 2),
        indices=lambda: F.max_pool2d(x, 2, return_indices=True)[1],
        avg=lambda: F.avg_pool2d(x, 2),
        stride=lambda: F.max_pool2d(x, 3, 1),
        pad=lambda: F.avg_pool2d(x, 2, padding=1, count_include_pad=False),
        ceil=lambda: F.max_pool2d(x, 3, ceil_mode=True),
        adaptive=lambda: F.adaptive_avg_pool2d(x, (1, 2)),
        adaptive_max=lambda: F.adaptive_max_pool2d(x, 1),
        lp=lambda: F.lp_pool2d(x, 2, 2),
        one_d=lambda: F.avg_pool1d(x[0, 0], 2),
    )
    (F.max_pool2d(x, 2).sum() + F.avg_pool2d(x, 2).pow(2).sum()).backward()
    print(x.grad)


def embeddings() -> None:
    w = torch.arange(6.0).view(3, 2).requires_grad_()
    i = torch.tensor([[0, 2], [2, 2]])
    print(F.embedding(i, w))
    F.embedding(i, w, padding_idx=0).sum().backward()
    print(w.grad)
    each(
        bag=lambda: F.embedding_bag(i, w),
        total=lambda: F.embedding_bag(i, w, mode="sum"),
        one_hot=lambda: F.one_hot(i, 4),
        scale=lambda: F.embedding(i, w.detach(), max_norm=1.0),
    )


def attention() -> None:
    q, k, v = (torch.randn(1, 2, 3, 4, requires_grad=True) for _ in range(3))
    y = F.scaled_dot_product_attention(q, k, v)
    y.sum().backward()
    print(near(y), near(q.grad), near(k.grad))
    print(near(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


def interpolation_and_pixels() -> None:
    x = torch.arange(4.0).view(1, 1, 2, 2).requires_grad_()
    each(
        nearest=lambda: F.interpolate(x, scale_factor=2),
        bilinear=lambda: F.interpolate(x, size=(3, 3), mode="bilinear", align_corners=True),
        shuffle=lambda: F.pixel_shuffle(torch.arange(4.0).view(1, 4, 1, 1), 2),
        unfold=lambda: F.unfold(x, 2),
        linear=lambda: F.linear(x, torch.ones(1, 2)),
        bilin=lambda: F.interpolate(x, size=3, mode="bilinear"),
    )
