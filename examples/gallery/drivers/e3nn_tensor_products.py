"""e3nn: spherical harmonics, tensor products and gates that turn with their input."""

NEEDS = [
    "e3nn==0.6.0",
    "sympy==1.14.0",
    "mpmath==1.3.0",
    "opt_einsum==3.4.0",
    "opt_einsum_fx==0.1.4",
]
RTOL = 1e-3


def main():
    import torch
    from e3nn import nn, o3

    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    hidden = o3.Irreps("4x0e + 2x1o + 1x2e")
    spherical = o3.Irreps.spherical_harmonics(2)
    positions = torch.randn(20, 3)
    features = hidden.randn(20, -1).requires_grad_()
    harmonics = o3.spherical_harmonics(spherical, positions, normalize=True)
    product = o3.FullyConnectedTensorProduct(hidden, spherical, hidden)
    gate = nn.Gate("4x0e", [torch.tanh], "3x0e", [torch.sigmoid], "2x1o + 1x2e")
    before = o3.Linear(hidden, gate.irreps_in)
    norm = nn.BatchNorm(hidden)
    net = nn.FullyConnectedNet([3, 16, 5], torch.relu)
    out = norm(gate(before(product(features, harmonics))))
    weights = net(positions)
    (out.pow(2).sum() + weights.sum()).backward()
    turn = o3.rand_matrix()
    turned = product(
        features @ hidden.D_from_matrix(turn).T,
        o3.spherical_harmonics(spherical, positions @ turn.T, normalize=True),
    )
    straight = product(features, harmonics) @ hidden.D_from_matrix(turn).T
    scalars = o3.FullTensorProduct("1o", "1o")(positions, positions)
    wigner = o3.wigner_3j(1, 2, 2)
    torch.set_default_dtype(torch.float32)
    return {
        "harmonics": harmonics,
        "out": out,
        "weights": weights,
        "gradient": features.grad,
        "equivariant": float((turned - straight).abs().max() < 1e-4),
        "wigner": wigner,
        "scalars": scalars,
    }
