"""madgrad, prodigyopt, adamp, schedulefree, optimi, came, adabelief and a warm-up of rates."""

NEEDS = [
    "madgrad==1.3",
    "prodigyopt==1.1.2",
    "adamp==0.3.0",
    "schedulefree==1.4.1",
    "torch-optimi==0.3.3",
    "came_pytorch==0.1.3",
    "pytorch-warmup==0.2.0",
    "adabelief-pytorch==0.2.1",
    "colorama==0.4.6",
    "tabulate==0.10.0",
    "packaging==26.3",
]
RTOL = 2e-3


def main():
    import adabelief_pytorch
    import adamp
    import came_pytorch
    import madgrad
    import optimi
    import prodigyopt
    import pytorch_warmup
    import schedulefree
    import torch
    from torch import nn

    torch.manual_seed(0)
    x = torch.randn(32, 8)
    y = torch.sin(x.sum(1, keepdim=True))
    kinds = {
        "madgrad": lambda p: madgrad.MADGRAD(p, lr=1e-2),
        "prodigy": lambda p: prodigyopt.Prodigy(p, lr=1.0),
        "adamp": lambda p: adamp.AdamP(p, lr=1e-2),
        "sgdp": lambda p: adamp.SGDP(p, lr=1e-2, momentum=0.9),
        "schedulefree sgd": lambda p: schedulefree.SGDScheduleFree(p, lr=0.1),
        "schedulefree adamw": lambda p: schedulefree.AdamWScheduleFree(p, lr=1e-2),
        "optimi adam": lambda p: optimi.Adam(p, lr=1e-2),
        "optimi lion": lambda p: optimi.Lion(p, lr=1e-3),
        "optimi stable": lambda p: optimi.StableAdamW(p, lr=1e-2),
        "came": lambda p: came_pytorch.CAME(p, lr=1e-2, betas=(0.9, 0.999, 0.9999)),
        "adabelief": lambda p: adabelief_pytorch.AdaBelief(p, lr=1e-2, print_change_log=False),
    }
    results = {}
    for name, kind in kinds.items():
        torch.manual_seed(1)
        net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        optimizer = kind(net.parameters())
        if name.startswith("schedulefree"):
            optimizer.train()
        warm = pytorch_warmup.LinearWarmup(optimizer, warmup_period=4)
        for _ in range(10):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            optimizer.step()
            with warm.dampening():
                pass
        results[name] = [loss, *(parameter.abs().mean() for parameter in net.parameters())]
    return results
