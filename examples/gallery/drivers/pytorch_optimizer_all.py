"""pytorch_optimizer: every optimizer that needs nothing but gradients, ten steps on one net."""

NEEDS = [
    "pytorch_optimizer==4.1.0",
    "huggingface_hub==2.4.0",
    "httpx==0.28.1",
    "httpcore==1.0.9",
    "h11==0.16.0",
    "anyio==4.16.0",
    "idna==3.13",
    "certifi==2026.5.20",
    "truststore==0.10.5",
]
RTOL = 2e-3

#: Names of optimizers that ask for closures, models or compiled kernels, and need their own loop.
OTHERS = (
    "lbfgs sam bsam wsam gsam looksam friendlysam fsam lookahead pcgrad gc agc lomo adalomo "
    "alig demo splus muon adamuon adago distributedmuon schedulefreesgd schedulefreeadamw schedulefreeradam "
    "muonclip emozeal emonavi emolynx emofact emoneco adammini alice racs spectralsphere conda ano rose snr simplifiedademamix rektpilot"
).split()


def main():
    import torch
    from pytorch_optimizer import get_supported_optimizers, load_optimizer
    from torch import nn

    torch.manual_seed(0)
    x = torch.randn(32, 8)
    y = torch.sin(x.sum(1, keepdim=True))
    results = {}
    for name in sorted(get_supported_optimizers()):
        if name in OTHERS or name.startswith(("bnb", "q_", "torchao")):
            continue
        torch.manual_seed(1)
        net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        kind = load_optimizer(name)
        try:
            optimizer = kind(net.parameters(), lr=1e-2)
        except TypeError:
            optimizer = kind(net.parameters())
        for _ in range(10):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward(create_graph=name in ("adahessian", "sophiah"))
            optimizer.step()
        results[name] = [loss, *(parameter.abs().mean() for parameter in net.parameters())]
    return results
