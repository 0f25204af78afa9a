"""Programs with custom Functions: what their forward and backward give, save, mark and refuse."""

from __future__ import annotations

import random

from tests.compare.fuzz.patterns import fill, patterns

FORWARDS = patterns(
    """
    return x * 2; return x + o; return x.clone(); return x; return x.view(-1);
    return x.view_as(x); return x[0]; return x * 2, o * 3; return x, o;
    x.mul_(2), ctx.mark_dirty(x); return None; return 3; return x.detach(); return (x * 2,);
    return [x * 2, x * 3]; return x * 2, 5; return x.sum(), None; return x > 0;
    return x.argmax(), x.sum(); return x.mul_(2); return x.t(); return o; return torch.ones(2, 3);
    return x.double(); return x.exp() if x.requires_grad else x.sin(); return 'text';
    raise ValueError('no')
    """
)
SETUPS = patterns(
    """
    ctx.save_for_backward(x); ctx.save_for_backward(x, o); ctx.save_for_backward(x * 2);
    ctx.save_for_backward(None, x); ctx.save_for_backward(3); ctx.mark_dirty(x);
    ctx.mark_dirty(o); ctx.mark_non_differentiable(x); ctx.mark_non_differentiable(o);
    ctx.set_materialize_grads(False); ctx.extra = 3; ctx.x = x; log.append(ctx.needs_input_grad);
    log.append(x.requires_grad); log.append(torch.is_grad_enabled()); ctx.save_for_forward(x);
    pass; pass
    """
)
BACKWARDS = patterns(
    """
    return g, None; return g * 2, g * 3; return g; return None, None; return g, g, g; return (g,);
    return g.sum(), None; return 3, None; return [g, g]; return ctx.saved_tensors[0] * g, None;
    return g * ctx.saved_tensors[0], g * ctx.saved_tensors[1]; return g, None, None;
    return g * ctx.extra, None; return None if g is None else g, g;
    log.append(ctx.needs_input_grad); log.append(g.shape); return g.double(), g;
    return g.mul_(2), None; return g.detach(), g; raise ValueError('back');
    return torch.ones(7), None; return g.expand(2, 2, 3), None;
    log.append(len(ctx.saved_tensors)); return ctx.x * g, None; return 'text', None;
    return g * 2 if ctx.needs_input_grad[0] else None, g
    """
)
USES = patterns(
    """
    v = F.apply(x, o); v = F.apply(x, o); v = F.apply(x, o); v = F.apply(x, 3);
    v = F.apply(x, None); v = F.apply(x); v = F.apply(x, o, o); v = F.apply(o=o, x=x);
    v = F.apply(x.clone(), o * 1); v = F.apply(x * 1, o * 1); v = F.apply(x.detach(), o);
    v = F.apply(x.view(-1), o); v = F.apply([x], o); v = F.apply(x[0], o);
    with torch.no_grad(): v = F.apply(x, o); with torch.inference_mode(): v = F.apply(x, o);
    v = F.forward(None, x, o); v = F.apply(3, 4)
    """
)
AFTER = patterns(
    """
    v.sum().backward(); v[0].sum().backward(); v.backward(torch.ones_like(v));
    g = torch.autograd.grad(v.sum(), [a, c], allow_unused=True); v.mul_(2); v.add_(x);
    g = torch.autograd.grad(v.sum(), a, create_graph=True);
    g = torch.autograd.grad(g[0].sum(), a, allow_unused=True);
    v.sum().backward(retain_graph=True); x.mul_(2); n = v.grad_fn.saved_tensors;
    n = v.grad_fn.name(); n = v.grad_fn.next_functions; n = v.grad_fn.needs_input_grad;
    n = type(v.grad_fn).__name__; n = v.grad_fn.extra; v[1].sum().backward();
    h = v.register_hook(lambda g: log.append(g.shape)); v.detach_(); v.requires_grad_(False);
    n = v._is_view(); n = v is x; n = v._version; (v * v).sum().backward();
    (v + x).sum().backward(); w = v.view(-1); w = v * 2; v.retain_grad(); n = v.is_leaf;
    n = v.grad_fn.non_differentiable; n = v._base is x; v.sum().backward(create_graph=True);
    g = torch.autograd.grad(v.sum(), [x, o]); n = v.grad_fn.metadata; n = v.grad_fn.dirty_tensors;
    n = v.grad_fn._sequence_nr() >= 0
    """
)


def write_function(rng: random.Random) -> str:
    """A statement that defines a Function of two inputs."""
    old = rng.random() < 0.6
    head = "ctx, " if old else ""
    lines = ["class F(torch.autograd.Function):", "    @staticmethod"]
    extra = rng.choice(("", "", "", "=None"))
    lines.append(f"    def forward({head}x, o{extra}):")
    setups = [rng.choice(SETUPS) for _ in range(rng.choice((0, 1, 1, 2)))]
    if old:
        lines += [f"        {line}" for line in setups]
    body = rng.choice(FORWARDS)
    if not old and "ctx" in body:
        body = "return x * 2"
    lines.append(f"        {body}")
    if old and not body.startswith(("return", "raise")):
        lines.append("        return x")
    if not old and rng.random() < 0.9:
        lines += ["    @staticmethod", "    def setup_context(ctx, inputs, output):"]
        lines.append("        x, o = inputs")
        lines += [f"        {line}" for line in setups or ["pass"]]
    if rng.random() < 0.95:
        backward = rng.choice(BACKWARDS)
        several = ", *rest" if rng.random() < 0.7 else ""
        if rng.random() < 0.12:
            lines.append("    @torch.autograd.function.once_differentiable")
        lines += ["    @staticmethod", f"    def backward(ctx, g{several}):", f"        {backward}"]
        if not backward.startswith(("return", "raise")):
            lines.append("        return g, None")
    return "\n".join(lines)


def write_program(rng: random.Random) -> list[str]:
    """The statements of a program that defines a Function, applies it and looks at what follows."""
    shape = rng.choice(("(2, 3)", "(2, 3)", "(3,)", "()"))
    lines = [
        f"a = torch.rand({shape}, requires_grad=True)",
        f"c = torch.rand({rng.choice((shape, '(2, 3)'))}, requires_grad={rng.random() < 0.6})",
        "log = []",
        write_function(rng),
    ]
    names = ["a", "c"]
    if rng.random() < 0.5:
        lines.append(rng.choice(("p = a * 1", "p = a.exp()", "p = c.clone()", "p = a.view(-1)")))
        names.append("p")
    lines.append(fill(rng.choice(USES), rng, names))
    for _ in range(rng.randint(1, 5)):
        lines.append(fill(rng.choice(AFTER), rng, names))
    return lines
