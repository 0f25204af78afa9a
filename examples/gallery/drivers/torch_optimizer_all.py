"""torch_optimizer: its optimizers, ten steps each on one net."""

NEEDS = ["torch_optimizer==0.3.0", "pytorch_ranger==0.1.1"]
RTOL = 2e-3


def main():
    import torch
    import torch_optimizer
    from torch import nn

    torch.manual_seed(0)
    x = torch.randn(32, 8)
    y = torch.sin(x.sum(1, keepdim=True))
    results = {}
    names = [
        "A2GradExp",
        "A2GradInc",
        "A2GradUni",
        "AccSGD",
        "AdaBelief",
        "AdaBound",
        "Adafactor",
        "Adahessian",
        "AdaMod",
        "AdamP",
        "AggMo",
        "Apollo",
        "DiffGrad",
        "Lamb",
        "LARS",
        "MADGRAD",
        "NovoGrad",
        "PID",
        "QHAdam",
        "QHM",
        "RAdam",
        "Ranger",
        "RangerQH",
        "RangerVA",
        "SGDP",
        "SGDW",
        "Shampoo",
        "SWATS",
        "Yogi",
    ]
    for name in names:
        torch.manual_seed(1)
        net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        kind = getattr(torch_optimizer, name)
        rate = {} if name.startswith("A2Grad") else {"lr": 1e-2}
        optimizer = kind(net.parameters(), **rate)
        for _ in range(10):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward(create_graph=name == "Adahessian")
            optimizer.step()
        results[name] = [loss, *(parameter.abs().mean() for parameter in net.parameters())]
    return results
