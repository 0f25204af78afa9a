"""A neural ODE with its own Runge-Kutta solver and an adjoint written as autograd.Function."""

import torch
from torch import nn


def rk4(func, y, t0, t1, steps):
    h = (t1 - t0) / steps
    t = t0
    for _ in range(steps):
        k1 = func(t, y)
        k2 = func(t + h / 2, y + h / 2 * k1)
        k3 = func(t + h / 2, y + h / 2 * k2)
        k4 = func(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t = t + h
    return y


class Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, func, steps, y0, *params):
        ctx.func, ctx.steps = func, steps
        with torch.no_grad():
            y1 = rk4(func, y0, 0.0, 1.0, steps)
        ctx.save_for_backward(y1, *params)
        return y1

    @staticmethod
    def backward(ctx, grad_out):
        y1, *params = ctx.saved_tensors
        sizes = [p.numel() for p in params]

        def dynamics(t, state):
            y, a = state[: y1.numel()].view_as(y1), state[y1.numel() : 2 * y1.numel()].view_as(y1)
            with torch.enable_grad():
                y = y.detach().requires_grad_(True)
                f = ctx.func(t, y)
                gy, *gp = torch.autograd.grad(f, (y, *params), -a, allow_unused=True)
            gp = [torch.zeros_like(p) if g is None else g for g, p in zip(gp, params)]
            return torch.cat([f.detach().reshape(-1), gy.reshape(-1), *[g.reshape(-1) for g in gp]])

        state = torch.cat([y1.reshape(-1), grad_out.reshape(-1), torch.zeros(sum(sizes))])
        state = rk4(dynamics, state, 1.0, 0.0, ctx.steps)
        n = y1.numel()
        grads = [g.view_as(p) for g, p in zip(state[2 * n :].split(sizes), params)]
        return (None, None, state[n : 2 * n].view_as(y1), *grads)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 2))

    def forward(self, t, y):
        return self.net(torch.cat([y, torch.full_like(y[:, :1], t)], 1))


def main():
    torch.manual_seed(2)
    field = Field()
    angle = torch.rand(64) * 6.28
    start = torch.stack([angle.cos(), angle.sin()], 1) * 2
    goal = torch.stack([-angle.sin(), angle.cos()], 1)
    optimizer = torch.optim.RMSprop(field.parameters(), lr=5e-3)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = (Adjoint.apply(field, 8, start, *field.parameters()) - goal).abs().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    direct = (rk4(field, start, 0.0, 1.0, 8) - goal).abs().mean()
    exact = torch.autograd.grad(direct, list(field.parameters()))
    adjoint = torch.autograd.grad(
        (Adjoint.apply(field, 8, start, *field.parameters()) - goal).abs().mean(),
        list(field.parameters()),
    )
    gap = max((a - b).abs().max().item() for a, b in zip(exact, adjoint))
    return {
        "first": losses[0],
        "last": losses[-1],
        "gradient norm": sum(g.norm() for g in exact).item(),
        "gap < 1e-3": float(gap < 1e-3),
    }
