"""Programs that take views of views and write through them, in and out of gradient modes."""

from __future__ import annotations

import random

from tests.compare.fuzz.patterns import SHAPES, fill, patterns

VIEWS = patterns(
    """
    x[k]; x[d:]; x[..., ::2]; x[..., k]; x[None]; x[:, 0]; x[...]; x[0, 1]; x[1:, 1:];
    x.transpose(d, e); x.t(); x.T; x.mT; x.view(-1); x.view(s); x.reshape(-1); x.reshape(s);
    x.unsqueeze(d); x.squeeze(); x.squeeze(d); x.diagonal(); x.narrow(d, k, 1); x.unfold(d, 2, 1);
    x.as_strided((2,), (1,)); x.as_strided((2, 2), (1, 1)); x.as_strided((1,), (1,), k);
    x.split(1)[0]; x.split(2, d); x.unbind(); x.unbind(d); x.chunk(2, d); x.tensor_split(2, d);
    x.expand(2, -1, -1); x.expand(2, 3); x.expand_as(o); x.permute(1, 0);
    x.permute(*range(x.dim() - 1, -1, -1)); x.select(d, k); x.movedim(d, e); x.swapaxes(d, e);
    x.flatten(); x.flatten(d, e); x.unflatten(d, (1, -1)); x.view_as(o); x.view_as(x); x.data;
    x.detach(); x.clone(); x * 2; x.contiguous(); x.ravel(); x.alias_copy(); torch.atleast_2d(x);
    x.adjoint(); x.H; x.squeeze((d, e)); x.broadcast_to((2, 3)); x.real; x.hsplit(1)[0];
    x.vsplit(2); x.view(torch.int32); x.view(x.dtype); x.to(torch.float64); x.float();
    x.to(x.dtype); x.type_as(o); x.positive(); +x; x._base; x.requires_grad_(); x.view(2, -1);
    torch.view_as_real(torch.complex(x, x)); x.swapdims(d, e); x.moveaxis(d, e);
    torch.stack([x, o]); torch.cat([x, o]); x + o; x * o; x.sum(); x.sum(d); x.dsplit(1);
    torch.broadcast_tensors(x, o); torch.meshgrid(x, o, indexing='ij'); x.unsafe_split(1);
    x.unsafe_chunk(2); x.split_with_sizes([1, 1], d); x.refine_names(...);
    torch.narrow(x, d, torch.tensor(k), 1); x.numpy(); x.untyped_storage().size();
    x.is_contiguous(); x.view(k, 3); x.as_strided((7,), (k,), 1); torch.diagonal(x, k, d, e);
    x.select(d, 7); x.transpose(0, 5); x.narrow(d, 0, 9); torch.as_tensor(x); torch.asarray(x);
    x.diagonal_scatter(o); x.select_scatter(o, d, k); x.slice_scatter(o, d);
    x.as_strided_scatter(o, (2,), (1,)); torch.flip(x, (d,)); x.rot90(); x.repeat(2, 1, 1);
    x.tile(2)
    """
)
WRITES = patterns(
    """
    x.mul_(2); x.mul_(o); x.add_(1); x.add_(o); x.add_(o, alpha=2); x.zero_(); x.fill_(3);
    x.fill_(o); x.copy_(o); x.copy_(o * 2); x[0] = 1; x[0] = o; x[...] = o; x[:] = o * o;
    x[[0]] = o; x[x > 2] = 0; x[x > 2] = o; x.sin_(); x.div_(o); x.addcmul_(o, o);
    x.addcdiv_(o, o); x.masked_fill_(x > 2, 0.5); x.clamp_(max=3); x.clamp_(min=o);
    x.index_fill_(d, torch.tensor([0]), 2); x.cumsum_(d); x.relu_(); x.neg_(); x.exp_();
    x.pow_(2); x.pow_(o); x.sub_(o); x += 1; x += o; x *= o; x -= 1; x /= 2; x //= 2; x %= 2;
    x **= 2; x.t_(); x.unsqueeze_(d); x.squeeze_(); x.squeeze_(d); x.transpose_(d, e);
    x.swapaxes_(d, e); x.as_strided_((2,), (1,)); x.detach_(); x.requires_grad_();
    x.requires_grad_(False); x.retain_grad(); x.resize_(2, 2).zero_(); x.resize_(s).zero_();
    x.resize_as_(o).zero_(); x.set_(o); x.set_(); x.data = o; x.data = o.data; x.data.mul_(2);
    x.detach().add_(1); x.detach()[0] = 5; x.grad = o; x.grad = None; x.grad = torch.ones(s);
    x.index_add_(d, torch.tensor([0]), o); x.index_copy_(d, torch.tensor([0]), o);
    x.index_put_((torch.tensor([0]),), o);
    x.index_put_((torch.tensor([0, 0]),), o, accumulate=True);
    x.scatter_(d, torch.zeros(1, 1, dtype=torch.long), o);
    x.scatter_(d, torch.zeros(1, 1, dtype=torch.long), 1.5);
    x.scatter_add_(d, torch.zeros(1, 1, dtype=torch.long), o); x.masked_scatter_(x > 1, o);
    x.put_(torch.tensor([0]), torch.tensor([7.])); x.fill_diagonal_(3); x.tril_(); x.triu_();
    x.lerp_(o, 0.5); x.addmm_(o, o); x.addmv_(o, o); x.addr_(o, o); x.baddbmm_(o, o);
    x.clamp_min_(1); x.clamp_max_(2); x.sigmoid_(); x.tanh_(); x.abs_(); x.sign_(); x.round_();
    x.floor_(); x.frac_(); x.reciprocal_(); x.sqrt_(); x.rsqrt_(); x.log_(); x.square_();
    x.remainder_(2); x.fmod_(2); x.floor_divide_(2); x.eq_(o); x.lt_(2); x.logical_not_();
    x.logical_and_(o); x.nan_to_num_(); x.cumprod_(d); x.renorm_(2, d, 1); x.normal_();
    x.uniform_(); x.bernoulli_(0.5); x.random_(3); x.exponential_(); x.erfinv_(); x.hypot_(o);
    x.atan2_(o); x.swapdims_(d, e); x.atan_(); x.erf_(); x.expm1_(); x.log1p_(); x.trunc_();
    x.ceil_(); x.true_divide_(o); x.multiply_(o); x.subtract_(o); x.negative_(); x.copysign_(o);
    x.nextafter_(o); x.xlogy_(o); x.heaviside_(o); x.lgamma_(); x.digamma_(); x.sinc_(); x.i0_();
    x.logit_(0.1); x.apply_(lambda v: v + 1); x.map_(o, lambda v, w: v + w); x.bitwise_not_();
    x.gcd_(o); x.requires_grad = True; x.requires_grad = False; torch.relu_(x);
    torch.nn.functional.leaky_relu_(x); torch.nn.functional.relu(x, inplace=True);
    x.share_memory_(); torch.nn.functional.dropout(x, 0.0, inplace=True);
    torch.nn.functional.hardtanh_(x); torch.nn.functional.elu_(x);
    torch.nn.functional.silu(x, inplace=True); torch.nn.init.constant_(x, 2);
    torch.nn.init.zeros_(x); torch.sin_(x); torch._foreach_add_([x, o], 1);
    torch._foreach_mul_([x], [o]); torch._foreach_zero_([x]); x.squeeze_((d, e)); x.addbmm_(o, o);
    x.sub_(o, alpha=3); x.rsub(o); x.dot(o); del x.grad; x.zero_grad(); x.T.mul_(2);
    x.t().add_(o); x[0].mul_(2); x[:, 0] += 1; x[..., 0].zero_(); x[0][0] = 4; x.view(-1)[0] = 9;
    x.diagonal().fill_(1); x.expand(2, -1, -1).add_(1); x.unfold(0, 2, 1).mul_(2);
    x.split(1)[0].mul_(2); x.unbind()[0].mul_(2); x.real.mul_(2); x.squeeze().mul_(2);
    x.flatten().add_(1); x.reshape(-1).add_(1); x.data.zero_(); x.data[0] = 3;
    x.scatter_reduce_(d, torch.zeros(1, 1, dtype=torch.long), o, 'sum');
    x.index_reduce_(d, torch.tensor([0]), o, 'prod')
    """
)
OUTS = patterns(
    """
    torch.add(x, o, out=z); torch.mul(x, 2, out=z); torch.sin(x, out=z); torch.sum(x, d, out=z);
    torch.cat([x, o], out=z); torch.stack([x, o], out=z); torch.matmul(x, o, out=z);
    torch.mm(x, o, out=z); torch.max(x, d, out=(z, i)); torch.sort(x, out=(z, i));
    torch.clamp(x, 0, 1, out=z); torch.where(x > 1, x, o, out=z); torch.arange(3, out=z);
    torch.ones(2, 3, out=z); torch.eye(2, out=z); torch.cumsum(x, d, out=z);
    torch.gt(x, o, out=z); torch.gt(x, 1, out=b); torch.argmax(x, d, out=i);
    torch.index_select(x, d, torch.tensor([0]), out=z); torch.div(x, o, out=z);
    torch.exp(x, out=x); torch.add(x, o, out=x); torch.full((2, 3), 1.0, out=z);
    torch.abs(x, out=z[0]); torch.neg(x, out=z.t()); torch.pow(x, 2, out=z);
    torch.mean(x, d, out=z); torch.sqrt(x, out=b); torch.add(x, o, out=i);
    torch.addmm(x, o, o, out=z); torch.tril(x, out=z);
    torch.gather(x, d, torch.zeros(1, 1, dtype=torch.long), out=z);
    torch.take(x, torch.tensor([0]), out=z); torch.rand(2, 3, out=z); torch.zeros(3, out=z);
    torch.linspace(0, 1, 3, out=z); torch.std(x, d, out=z); torch.all(x, out=b);
    torch.bmm(x, o, out=z)
    """
)
ENDS = patterns(
    """
    x.sum().backward(); (x * x).sum().backward(); (x * o).sum().backward(retain_graph=True);
    x.backward(); x.backward(torch.ones_like(x)); g = torch.autograd.grad(x.sum(), a);
    x.sum().backward(inputs=[a]); g = torch.autograd.grad((x * x).sum(), a, create_graph=True);
    g = torch.autograd.grad(x.sum(), [a, o], allow_unused=True);
    g = torch.autograd.grad((x * o).sum(), [a], retain_graph=True, materialize_grads=True)
    """
)
MODES = (
    "torch.no_grad()",
    "torch.enable_grad()",
    "torch.inference_mode()",
    "torch.set_grad_enabled(False)",
)


def leaf(rng: random.Random, name: str) -> str:
    shape = rng.choice(SHAPES)
    size = f"({shape},)" if shape else "()"
    grad = rng.random() < 0.7
    kind = rng.random()
    if kind < 0.55:
        return f"{name} = torch.rand({size}{', requires_grad=True' if grad else ''})"
    if kind < 0.75:
        return f"{name} = torch.full({size}, 2.5{', requires_grad=True' if grad else ''})"
    if kind < 0.85:
        return f"{name} = torch.arange(6.0).view(2, 3){'.requires_grad_()' if grad else ''}"
    if kind < 0.93:
        wants = ", requires_grad=True" if grad else ""
        return f"{name} = torch.rand({size}, dtype=torch.float64{wants})"
    return f"{name} = torch.arange(6).view(2, 3)"


def write_program(rng: random.Random) -> list[str]:
    """The statements of a program of four to a dozen lines."""
    lines = [leaf(rng, "a"), leaf(rng, "c")]
    names = ["a", "c"]
    outs: list[str] = []
    if rng.random() < 0.8:
        lines.append(
            rng.choice(("p = a * 1", "p = a.clone()", "p = a + c", "p = a.exp()", "p = c * 2"))
        )
        names.append("p")
    if rng.random() < 0.15:
        lines += [
            "z = torch.empty(0)",
            "i = torch.empty(0, dtype=torch.long)",
            "b = torch.empty(0, dtype=torch.bool)",
        ]
        outs = ["z", "i", "b"]
    for number in range(rng.randint(2, 9)):
        kind = rng.random()
        if kind < 0.45:
            name = f"v{number}"
            line = f"{name} = {fill(rng.choice(VIEWS), rng, names)}"
            names.append(name)
        elif kind < 0.9 or not outs:
            line = fill(rng.choice(WRITES), rng, names)
        else:
            line = fill(rng.choice(OUTS), rng, names + outs)
        if rng.random() < 0.12:
            line = f"with {rng.choice(MODES)}: {line}"
        lines.append(line)
    if rng.random() < 0.6:
        lines.append(fill(rng.choice(ENDS), rng, names))
    return lines
