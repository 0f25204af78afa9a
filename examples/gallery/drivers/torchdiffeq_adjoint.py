"""torchdiffeq: a neural ODE of a spiral, by dopri5 directly and through the adjoint."""

NEEDS = ["torchdiffeq==0.2.5"]
RTOL = 1e-3


def main():
    import torch
    from torch import nn
    from torchdiffeq import odeint, odeint_adjoint

    torch.manual_seed(0)
    matrix = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    times = torch.linspace(0.0, 5.0, 20)
    start = torch.tensor([[2.0, 0.0]])

    class Spiral(nn.Module):
        def forward(self, t, y):
            return y**3 @ matrix

    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

        def forward(self, t, y):
            return self.net(y**3)

    with torch.no_grad():
        truth = odeint(Spiral(), start, times, method="dopri5")
    results = {"truth": truth}
    for name, solve in (("direct", odeint), ("adjoint", odeint_adjoint)):
        torch.manual_seed(1)
        field = Field()
        optimizer = torch.optim.RMSprop(field.parameters(), lr=1e-3)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = (solve(field, start, times[:8], method="dopri5") - truth[:8]).abs().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        results[name] = losses
    for method in ("euler", "midpoint", "rk4", "bosh3", "explicit_adams"):
        with torch.no_grad():
            results[method] = odeint(Spiral(), start, times[:5], method=method)[-1]
    return results
