"""normflows: a Real NVP flow fitted to two moons, with actnorm."""

NEEDS = ["normflows==1.7.3"]
RTOL = 1e-3


def main():
    import normflows as nf
    import torch

    torch.manual_seed(0)
    flows = []
    for _ in range(4):
        net = nf.nets.MLP([1, 32, 32, 2], init_zeros=True)
        flows += [
            nf.flows.AffineCouplingBlock(net),
            nf.flows.Permute(2, mode="swap"),
            nf.flows.ActNorm(2),
        ]
    base = nf.distributions.base.DiagGaussian(2)
    model = nf.NormalizingFlow(base, flows)
    target = nf.distributions.TwoMoons()
    x = target.sample(128)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = []
    for _ in range(12):
        optimizer.zero_grad()
        loss = model.forward_kld(x)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    spline = nf.flows.AutoregressiveRationalQuadraticSpline(2, 1, 16)
    z, log_det = spline(x[:16])
    sample, _ = model.sample(8)
    return {
        "losses": losses,
        "log_prob": model.log_prob(x[:16]),
        "spline": z,
        "log_det": log_det,
        "sample": sample,
    }
