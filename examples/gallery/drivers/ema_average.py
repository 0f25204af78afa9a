"""ema-pytorch: an exponential moving average that follows a model in training."""

NEEDS = ["ema-pytorch==0.8.3", "einops==0.8.2", "beartype==0.23.1"]


def main():
    import torch
    from ema_pytorch import EMA
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Linear(12, 32, bias=False), nn.BatchNorm1d(32), nn.SiLU(), nn.Linear(32, 2)
    )
    ema = EMA(net, beta=0.99, update_after_step=5, update_every=2)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    x, y = torch.randn(64, 12), torch.randint(0, 2, (64,))
    for _ in range(40):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        ema.update()
    net.eval()
    ema.ema_model.eval()
    state = ema.state_dict()
    return {"net": net(x), "ema": ema(x), "step": state["step"], "keys": len(state)}
