"""pytorch_optimizer: every optimizer that needs nothing but gradients, ten steps on one net."""

NEEDS = ["pytorch_optimizer==4.1.0", "huggingface_hub==2.4.0"]
RTOL = 1e-2  # some divide by differences that are mostly rounding


#: Two take eigenvectors of any sign, the last leaves the range where rounding does not grow.
CHAOTIC = ("alice", "soap", "kate")


def build(kind, net):
    """An optimizer with a fixed rate, or without where it has none."""
    try:
        return kind(net.parameters(), lr=1e-2)
    except TypeError:
        return kind(net.parameters())


def main():
    import torch
    from pytorch_optimizer import get_supported_optimizers, load_optimizer
    from pytorch_optimizer.base.exception import NoClosureError
    from torch import nn

    torch.manual_seed(0)
    x = torch.randn(32, 8)
    y = torch.sin(x.sum(1, keepdim=True))
    results = {}
    for name in sorted(get_supported_optimizers()):
        if name.startswith(("bnb", "q_", "torchao")) or name in CHAOTIC:
            continue
        torch.manual_seed(1)
        net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        try:
            optimizer = build(load_optimizer(name), net)
            for _ in range(10):
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(net(x), y)
                loss.backward(create_graph=name in ("adahessian", "sophiah"))
                optimizer.step()
        except (AttributeError, NoClosureError, TypeError, ValueError, RuntimeError):
            continue  # it needs a closure or a model; the record knows which ones run
        results[name] = [loss, *(parameter.abs().mean() for parameter in net.parameters())]
    return results
