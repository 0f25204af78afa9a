"""zuko: normalizing flows of four kinds, fitted and sampled."""

NEEDS = ["zuko==1.6.0"]
RTOL = 5e-3


def main():
    import torch
    import zuko

    torch.manual_seed(0)
    angle = torch.rand(64) * 6.28
    data = torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(64, 2)
    label = (angle > 3.14).float()[:, None]
    results = {}
    for make in (
        lambda: zuko.flows.MAF(2, 1, transforms=2, hidden_features=(16, 16)),
        lambda: zuko.flows.NSF(2, 1, transforms=2, hidden_features=(16, 16)),
        lambda: zuko.flows.NICE(2, 1, transforms=2, hidden_features=(16, 16)),
        lambda: zuko.flows.CNF(2, 1, hidden_features=(16,)),
    ):
        flow = make()
        optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)
        losses = []
        for _ in range(3):
            loss = -flow(label).log_prob(data).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        with torch.no_grad():
            sample = flow(label[:4]).rsample((2,))
        results[type(flow).__name__] = [*losses, sample.norm().item()]
    return results
