"""torchsde: a neural SDE with Brownian intervals, and its adjoint."""

NEEDS = ["torchsde==0.2.6", "trampoline==0.1.2"]
RTOL = 1e-3


def main():
    import torch
    import torchsde
    from torch import nn

    class Walk(nn.Module):
        noise_type, sde_type = "diagonal", "ito"

        def __init__(self):
            super().__init__()
            self.drift = nn.Sequential(nn.Linear(4, 16), nn.Softplus(), nn.Linear(16, 4))
            self.spread = nn.Parameter(torch.full((4,), 0.3))

        def f(self, t, y):
            return self.drift(y)

        def g(self, t, y):
            return self.spread.expand_as(y) * torch.sigmoid(y)

    torch.manual_seed(0)
    walk = Walk()
    start = torch.randn(8, 4)
    times = torch.linspace(0, 0.5, 5)
    results = {}
    for name, solve in (("direct", torchsde.sdeint), ("adjoint", torchsde.sdeint_adjoint)):
        noise = torchsde.BrownianInterval(t0=0.0, t1=0.5, size=(8, 4), entropy=7)
        path = solve(walk, start, times, bm=noise, dt=0.05, method="euler")
        walk.zero_grad()
        path[-1].square().mean().backward()
        results[name] = path[-1]
        results[f"{name} gradient"] = walk.spread.grad
    return results
