"""torch-ema: averaged parameters, stored and restored around an evaluation."""

NEEDS = ["torch-ema==0.3"]


def main():
    import torch
    from torch import nn
    from torch_ema import ExponentialMovingAverage

    torch.manual_seed(0)
    net = nn.Linear(10, 2)
    ema = ExponentialMovingAverage(net.parameters(), decay=0.9)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = torch.rand(40, 10), torch.randint(0, 2, (40,))
    for _ in range(60):
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update()
    plain = net(x)
    with ema.average_parameters():
        averaged = net(x)
    return {"plain": plain, "averaged": averaged, "same": torch.equal(plain, net(x))}
