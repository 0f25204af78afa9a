"""Programs about the graph: what operations record, gradients of every order, hooks and modes."""

from __future__ import annotations

import random

from tests.compare.fuzz.patterns import fill, patterns

OPERATIONS = patterns(
    """
    x + o; x - o; x * o; x / o; x ** 2; x ** o; 2 ** x; 1 - x; 2 / x; -x; x @ o; x.mm(o);
    x.mv(o[0]); x.t() @ o; x.matmul(o.t()); torch.addmm(o, x, o); torch.einsum('ij,kj->ik', x, o);
    x.sum(); x.sum(d); x.mean(); x.mean(d, True); x.prod(); x.prod(d); x.var(); x.std(d);
    x.norm(); x.norm(1); x.norm(3, d); x.max(); x.max(d); x.min(d)[0]; x.amax(d); x.aminmax();
    x.median(); x.logsumexp(d); x.softmax(d); x.log_softmax(d); x.cumsum(d); x.cumprod(d);
    x.cummax(d)[0]; x.sort(d); x.topk(1); x.kthvalue(1); x.exp(); x.log(); x.sin(); x.tanh();
    x.sigmoid(); x.relu(); x.abs(); x.sqrt(); x.rsqrt(); x.square(); x.reciprocal(); x.floor();
    x.sign(); x.clamp(0, 1); x.clamp(min=o); x.erf(); x.expm1(); x.log1p(); x.lerp(o, 0.3);
    x.lerp(o, x); x.where(x > 1, o); torch.where(x > 1, x, 0.0); torch.maximum(x, o); x.fmod(2);
    x.remainder(o); x.atan2(o); torch.hypot(x, o); x.addcmul(o, o); x.addcdiv(x, o);
    x.masked_fill(x > 1, 0); x.masked_select(x > 1); x[x > 1]; x[[0, 0]]; x[0, ..., None];
    x[torch.tensor([0, 1]), 0]; x.index_select(d, torch.tensor([0]));
    x.gather(d, torch.zeros(1, 1, dtype=torch.long)); x.take(torch.tensor([0, 0]));
    x.scatter(d, torch.zeros(1, 1, dtype=torch.long), o);
    x.scatter_add(d, torch.zeros(1, 1, dtype=torch.long), o);
    x.index_add(d, torch.tensor([0]), o); x.repeat(2, 1); x.tile(2); x.flip(d); x.roll(1, d);
    torch.cat([x, o], d); torch.stack([x, o]); x.split(1, d); x.chunk(2); x.unbind(); x.tril();
    x.triu(1); x.diag(); x.trace(); x.t(); x.T; x.reshape(-1); x.flatten(); x.expand(2, -1, -1);
    x.squeeze(); x.unsqueeze(d); x.permute(1, 0); x.clone(); x.contiguous(); x.to(torch.float64);
    x.double(); x.half(); x.to(torch.complex64); x.detach(); x.det(); x.inverse();
    torch.linalg.solve(x, o); torch.linalg.norm(x); torch.linalg.svd(x); torch.linalg.qr(x);
    torch.linalg.eigh(x @ x.t()); torch.linalg.cholesky(x @ x.t() + torch.eye(2));
    torch.linalg.slogdet(x @ x.t()); torch.linalg.inv(x); torch.linalg.matrix_norm(x);
    torch.linalg.vector_norm(x, 2, d); torch.nn.functional.linear(x, o);
    torch.nn.functional.linear(x, o, o[:, 0]); torch.nn.functional.mse_loss(x, o);
    torch.nn.functional.l1_loss(x, o, reduction='sum'); torch.nn.functional.softplus(x);
    torch.nn.functional.gelu(x); torch.nn.functional.silu(x); torch.nn.functional.elu(x);
    torch.nn.functional.leaky_relu(x); torch.nn.functional.cross_entropy(x, torch.tensor([0, 1]));
    torch.nn.functional.nll_loss(x, torch.tensor([0, 1]));
    torch.nn.functional.binary_cross_entropy_with_logits(x, o);
    torch.nn.functional.kl_div(x, o, reduction='sum'); torch.nn.functional.smooth_l1_loss(x, o);
    torch.nn.functional.huber_loss(x, o); torch.nn.functional.normalize(x, dim=d);
    torch.nn.functional.cosine_similarity(x, o); torch.nn.functional.pairwise_distance(x, o);
    torch.nn.functional.layer_norm(x, x.shape[-1:]); torch.nn.functional.pad(x, (1, 1));
    torch.nn.functional.one_hot(x.long().abs()); torch.nn.functional.dropout(x, 0.0);
    torch.nn.functional.embedding(torch.tensor([0, 1]), x); torch.nn.functional.hardtanh(x);
    torch.nn.functional.log_softmax(x, d); torch.nn.functional.conv1d(x[None], o[None]);
    torch.nn.functional.avg_pool1d(x[None], 2); torch.nn.functional.max_pool1d(x[None], 2);
    torch.nn.functional.interpolate(x[None], scale_factor=2);
    torch.nn.functional.batch_norm(x, None, None, training=True);
    torch.nn.functional.group_norm(x[None], 1); torch.nn.functional.prelu(x, o.sum());
    torch.nn.functional.glu(x[:, :2]); torch.nn.functional.scaled_dot_product_attention(x, o, o);
    torch.nn.functional.softmin(x, d); torch.nn.functional.bilinear(x, o, o[None, :, :]);
    torch.cdist(x, o); torch.outer(x[0], o[0]); torch.dot(x[0], o[0]); torch.cross(x, o, dim=d);
    torch.kron(x, o); torch.tensordot(x, o, 1); torch.bmm(x[None], o[None]);
    torch.baddbmm(x[None], x[None], o[None]); torch.addr(x, x[:, 0], o[0]); torch.logaddexp(x, o);
    torch.meshgrid(x[0], o[0], indexing='ij'); torch.broadcast_tensors(x, o);
    torch.view_as_complex(x[:, :2].contiguous()); torch.complex(x, o).abs();
    torch.complex(x, o).angle(); torch.fft.fft(x).real; torch.fft.rfft(x).abs();
    torch.trapezoid(x); torch.diff(x); torch.cov(x); torch.corrcoef(x);
    torch.cumulative_trapezoid(x); torch.logcumsumexp(x, d); torch.nansum(x); torch.nanmean(x);
    torch.nan_to_num(x); torch.special.xlogy(x, o); torch.special.entr(x); torch.special.erfcx(x);
    torch.dist(x, o); torch.renorm(x, 2, d, 1.0); torch.quantile(x, 0.5); torch.unique(x);
    x.bool(); x > o; x.argmax(); x.any(); x.round(); x.frac(); x.float(); x.type(torch.float64);
    x.var_mean(); torch.std_mean(x, d); torch.block_diag(x, o); torch.atleast_3d(x);
    torch.hstack([x, o]); torch.vstack([x, o]); torch.dstack([x, o]); torch.rot90(x);
    torch.movedim(x, d, e); torch.linalg.multi_dot([x, o.t(), x]); torch.linalg.pinv(x);
    torch.linalg.matrix_power(x, 2); torch.linalg.lstsq(x, o)[0]; x.nansum(d);
    torch.clamp(x, max=o); x.heaviside(o); x.copysign(o); x.logit(0.1); x.sinc(); x.digamma();
    x.lgamma(); x.polygamma(1); x.i0(); x.erfinv(); x.index_put((torch.tensor([0]),), o[0]);
    x.index_fill(d, torch.tensor([0]), 2.0); x.index_copy(d, torch.tensor([0]), o[:1]);
    x.put(torch.tensor([0]), o[0, :1]); x.masked_scatter(x > 1, o); x.unfold(d, 2, 1);
    x.as_strided((2, 2), (1, 1)); x.diagonal(); x.diag_embed(); x.diagonal_scatter(o[0]);
    torch.combinations(x[0]); torch.cartesian_prod(x[0], o[0]); torch.vander(x[0]);
    torch.ldexp(x, o); torch.float_power(x, 2); torch.true_divide(x, o); torch.floor_divide(x, 2);
    torch.div(x, o, rounding_mode='floor'); torch.fmin(x, o); x.mode(d); x.nanmedian();
    x.repeat_interleave(2); x.unflatten(0, (1, -1))
    """
)
LOOKS = patterns(
    """
    n = x.grad_fn.name(); n = x.grad_fn.next_functions; n = len(x.grad_fn.next_functions);
    n = type(x.grad_fn).__name__; n = x.grad_fn.metadata;
    n = x.is_leaf, x.requires_grad, x.retains_grad; n = x.grad_fn._input_metadata;
    n = x.grad_fn(torch.ones_like(x)); n = x._version;
    n = x.grad_fn.next_functions[0][0].variable is a; n = x.grad_fn.next_functions[0][1];
    n = x.output_nr; n = sorted(w for w in dir(x.grad_fn) if w.startswith('_saved'));
    n = x.grad_fn._saved_self; n = x.grad_fn._saved_other; n = x.grad_fn._saved_result;
    n = x.grad_fn._saved_dim; n = x.grad_fn._saved_exponent; n = x.grad_fn._raw_saved_self;
    n = x.grad_fn._saved_nothing; n = repr(x); n = str(x.grad_fn).split(' ')[0];
    n = x.is_inference(); x.grad_fn.zero; x.grad_fn = None; x.is_leaf = True;
    n = torch.is_grad_enabled(); n = torch.is_inference_mode_enabled(); n = x.requires_grad
    """
)
HOOKS = patterns(
    """
    h = x.register_hook(lambda g: g * 2); h = x.register_hook(lambda g: None);
    h = x.register_hook(lambda g: log.append(g.tolist()));
    h = x.register_hook(lambda g: g.mul_(2)); h = x.register_hook(lambda g: g.sum());
    h = x.register_hook(lambda g: 3); h = x.register_hook(log.append);
    h = x.register_hook(lambda g: g.double()); h = x.register_hook(lambda g: 1 / 0); h.remove();
    h = x.register_hook(lambda: None); x.register_hook(1);
    h = x.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.tolist()));
    h = x.register_post_accumulate_grad_hook(lambda p: p.grad.zero_());
    h = x.grad_fn.register_hook(lambda i, o: log.append(len(i)));
    h = x.grad_fn.register_prehook(lambda o: log.append(len(o)));
    h = x.grad_fn.register_hook(lambda i, o: tuple(None if v is None else v * 2 for v in i));
    h = x.grad_fn.register_prehook(lambda o: (o[0] * 3,));
    h = x.grad_fn.register_hook(lambda i, o: (None,));
    h = x.grad_fn.register_prehook(lambda o: (None, None));
    h = x.grad_fn.register_hook(lambda i, o: 5);
    h = torch.autograd.graph.register_multi_grad_hook([x, o], lambda g: log.append(len(g)));
    x.retain_grad(); x.retain_grad();
    h = torch.autograd.graph.register_multi_grad_hook([x, o], lambda g: log.append(1), mode='any');
    x.requires_grad_(False); x.requires_grad_();
    h = x.register_hook(lambda g: log.append(g._version));
    h = x.register_hook(lambda g: log.append(g.requires_grad)); x.grad = None; x.grad = o;
    x.grad = x.detach(); x.grad = torch.zeros(2, 2);
    x.grad = torch.zeros(2, 3, dtype=torch.float64); x.grad = 1; x.grad.zero_();
    x.grad.requires_grad_(); x.grad = x; x.detach_(); n = x.grad.sum(); x.grad.add_(1);
    x.data = o; x.data = o.data; x.data = torch.zeros(3);
    x.data = torch.zeros(2, 3, dtype=torch.float64); x.data += 1; torch.set_grad_enabled(False);
    torch.set_grad_enabled(True); x.register_hook(lambda g: log.append(torch.is_grad_enabled()))
    """
)
GRADIENTS = patterns(
    """
    x.sum().backward(); x.backward(); (x * x).sum().backward(retain_graph=True); x.backward(o);
    x.backward(torch.ones_like(x)); x.backward(torch.ones(2, 2)); x.backward(1.0);
    x.sum().backward(create_graph=True); x.mean().backward(inputs=[a]);
    x.mean().backward(inputs=a); x.sum().backward(inputs=[]); x.sum().backward(inputs=[x]);
    x.sum().backward(inputs=[o]); torch.autograd.backward([x, o], [x, o]);
    torch.autograd.backward(x.sum()); torch.autograd.backward([x.sum(), o.sum()]);
    torch.autograd.backward((x,), (torch.ones_like(x),), retain_graph=True);
    torch.autograd.backward(x, torch.ones_like(x), inputs=a); torch.autograd.backward(());
    torch.autograd.backward(x.sum(), o); g = torch.autograd.grad(x.sum(), a);
    g = torch.autograd.grad(x.sum(), [a, o]);
    g = torch.autograd.grad(x.sum(), [a, o], allow_unused=True); g = torch.autograd.grad(x, a, o);
    g = torch.autograd.grad(x, a, torch.ones_like(x));
    g = torch.autograd.grad(x, a, torch.ones_like(x), create_graph=True);
    g = torch.autograd.grad((x * x).sum(), a, create_graph=True);
    g = torch.autograd.grad((x ** 3).sum(), a, create_graph=True); g[0].sum().backward();
    g = torch.autograd.grad(g[0].sum(), a, create_graph=True);
    g = torch.autograd.grad(g[0].sum(), a, allow_unused=True);
    g = torch.autograd.grad(g[0].sum(), [a, x]);
    g = torch.autograd.grad((g[0] * x).sum(), a, retain_graph=True);
    g = torch.autograd.grad(x.sum(), a, materialize_grads=True);
    g = torch.autograd.grad(x.sum(), [a, o], allow_unused=False, materialize_grads=True);
    g = torch.autograd.grad([x, o], a, [torch.ones_like(x), None]);
    g = torch.autograd.grad([x.sum(), o.sum()], [a]); g = torch.autograd.grad(x.sum(), []);
    g = torch.autograd.grad([], a); g = torch.autograd.grad(x.sum(), x);
    g = torch.autograd.grad(x, a, is_grads_batched=True, grad_outputs=torch.ones(2, 2, 3));
    g = torch.autograd.grad(x.sum(), 3); g = torch.autograd.grad(x.sum(), a, only_inputs=False);
    g = torch.autograd.grad(x.sum(), a, retain_graph=True);
    g = torch.autograd.functional.jacobian(torch.sin, x);
    g = torch.autograd.functional.hessian(lambda v: (v ** 3).sum(), x);
    g = torch.autograd.functional.vjp(torch.exp, x, o);
    g = torch.autograd.functional.jvp(torch.exp, x, o);
    g = torch.autograd.functional.hvp(lambda v: v.prod(), x, o);
    g = torch.autograd.functional.jacobian(lambda v: v * 2, x, create_graph=True);
    g = torch.autograd.functional.jacobian(torch.sum, x, vectorize=True)
    """
)
_HOOKS = "torch.autograd.graph.saved_tensors_hooks"
MODES = (
    "torch.no_grad()",
    "torch.enable_grad()",
    "torch.inference_mode()",
    "torch.inference_mode(False)",
    "torch.set_grad_enabled(False)",
    "torch.autograd.detect_anomaly(check_nan=False)",
    "torch.autograd.set_multithreading_enabled(False)",
    "torch.autograd.graph.save_on_cpu()",
    "torch.autograd.graph.disable_saved_tensors_hooks('no hooks here')",
    "torch.autograd.graph.allow_mutation_on_saved_tensors()",
    f"{_HOOKS}(lambda t: t * 1, lambda t: t)",
    f"{_HOOKS}(lambda t: log.append(tuple(t.shape)) or t, lambda t: t)",
    f"{_HOOKS}(lambda t: t.mul_(2), lambda t: t)",
    f"{_HOOKS}(lambda t: t, lambda t: 1)",
    f"{_HOOKS}(lambda t: 7, lambda t: torch.ones(2, 3))",
)
IN_PLACE = patterns(
    """
    x.mul_(2); x.add_(o); x.zero_(); x.copy_(o); x[0] = 1; x[0] = o[0]; x.sin_(); x.exp_();
    x.relu_(); x.detach_(); x.t_(); x.div_(o); x.clamp_(0, 1); x.pow_(2);
    x.masked_fill_(x > 1, 0); x += o; x *= 2; x.addmm_(o, o[:, :3]); x.lerp_(o, 0.5); x.tanh_();
    x.sigmoid_(); x.sub_(1)
    """
)


def write_program(rng: random.Random) -> list[str]:
    """The statements of a program of five to a dozen lines."""
    dtype = rng.choice(("", "", "", ", dtype=torch.float64"))
    second = rng.choice(("(2, 3)", "(2, 3)", "(3, 3)", "(2, 2)"))
    if second == "(2, 3)":
        first = rng.choice(("(2, 3)", "(2, 3)", "(3,)", "(2, 1)", "()"))
    else:
        first = second
    lines = [
        f"a = torch.rand({first}{dtype}, requires_grad=True)",
        f"c = torch.rand({second}{dtype}, requires_grad={rng.random() < 0.6})",
        "log = []",
    ]
    names = ["a", "c"]
    for number in range(rng.randint(2, 8)):
        kind = rng.random()
        if kind < 0.4:
            line = f"v{number} = {fill(rng.choice(OPERATIONS), rng, names)}"
            names.append(f"v{number}")
        elif kind < 0.55:
            line = fill(rng.choice(HOOKS), rng, names)
        elif kind < 0.62:
            line = fill(rng.choice(LOOKS), rng, names)
        elif kind < 0.7:
            line = fill(rng.choice(IN_PLACE), rng, names)
        else:
            line = fill(rng.choice(GRADIENTS), rng, names)
        if rng.random() < 0.15:
            line = f"with {rng.choice(MODES)}: {line}"
        lines.append(line)
    return lines
