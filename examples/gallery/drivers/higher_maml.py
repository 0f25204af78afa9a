"""higher: MAML on sine waves, with gradients through three inner steps."""

NEEDS = ["higher==0.2.1"]
RTOL = 1e-3


def main():
    import higher
    import torch
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))
    outer = torch.optim.Adam(net.parameters(), lr=1e-3)
    losses = []
    for _ in range(8):
        outer.zero_grad()
        total = 0.0
        for _ in range(4):
            amplitude, phase = torch.rand(1) * 4.9 + 0.1, torch.rand(1) * 3.14
            x = torch.rand(20, 1) * 10 - 5
            y = amplitude * torch.sin(x + phase)
            inner = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.5)
            with higher.innerloop_ctx(net, inner, copy_initial_weights=False) as (fast, steps):
                for _ in range(3):
                    steps.step(nn.functional.mse_loss(fast(x[:10]), y[:10]))
                loss = nn.functional.mse_loss(fast(x[10:]), y[10:])
                loss.backward()
            total += loss.item()
        outer.step()
        losses.append(total)
    return {"losses": losses, "weight": net[2].weight}
