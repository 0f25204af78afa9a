"""opacus: training with noise and clipped per-sample gradients, and what privacy that leaves."""

NEEDS = ["opacus==1.6.0", "opt_einsum==3.4.0"]
RTOL = 2e-3


def main():
    import torch
    from opacus import GradSampleModule, PrivacyEngine
    from opacus.validators import ModuleValidator
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 3),
    )
    faults = len(ModuleValidator.validate(net, strict=False))
    net = ModuleValidator.fix(net)
    data = torch.utils.data.TensorDataset(torch.randn(48, 1, 8, 8), torch.randint(0, 3, (48,)))
    loader = torch.utils.data.DataLoader(data, batch_size=16)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    engine = PrivacyEngine(accountant="rdp")
    net, optimizer, loader = engine.make_private(
        module=net,
        optimizer=optimizer,
        data_loader=loader,
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        poisson_sampling=False,
    )
    losses = []
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    torch.manual_seed(1)
    recurrent = GradSampleModule(nn.Sequential(nn.Embedding(10, 6), nn.LayerNorm(6)))
    recurrent(torch.randint(0, 10, (5, 4))).square().sum().backward()
    samples = [p.grad_sample for p in recurrent.parameters()]
    return {
        "faults": faults,
        "losses": losses,
        "epsilon": engine.get_epsilon(1e-5),
        "state": [p.norm() for p in net.parameters()],
        "per sample": [s.flatten(1).norm(dim=1) for s in samples],
    }
