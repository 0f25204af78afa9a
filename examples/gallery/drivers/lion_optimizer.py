"""lion-pytorch: the Lion optimizer on a small net, with weight decay and a schedule."""

NEEDS = ["lion-pytorch==0.2.5"]


def main():
    import torch
    from lion_pytorch import Lion
    from torch import nn

    torch.manual_seed(0)
    x, net = torch.randn(64, 10), nn.Sequential(nn.Linear(10, 32), nn.GELU(), nn.Linear(32, 1))
    y = x[:, :1] * x[:, 1:2]
    optimizer = Lion(net.parameters(), lr=3e-3, weight_decay=1e-2, decoupled_weight_decay=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return {"losses": losses[::10], "rate": schedule.get_last_lr(), "weight": net[0].weight}
