"""torchcde: a neural controlled differential equation over irregular series."""

NEEDS = ["torchcde==0.2.5", "torchdiffeq==0.2.5", "torchsde==0.2.6", "trampoline==0.1.2"]
RTOL = 1e-3


def main():
    import torch
    import torchcde
    from torch import nn

    torch.manual_seed(0)

    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 12))

        def forward(self, t, z):
            return self.net(z).tanh().view(*z.shape[:-1], 4, 3)

    data = torch.rand(6, 10, 3)
    data[2, 4, 1] = float("nan")
    field, start = Field(), nn.Linear(3, 4)
    results = {}
    for name, make, kind in (
        (
            "cubic",
            torchcde.hermite_cubic_coefficients_with_backward_differences,
            torchcde.CubicSpline,
        ),
        ("linear", torchcde.linear_interpolation_coeffs, torchcde.LinearInterpolation),
    ):
        path = kind(make(data))
        z = torchcde.cdeint(
            path,
            field,
            start(path.evaluate(0.0)),
            path.interval,
            method="rk4",
            options={"step_size": 1.0},
        )
        field.zero_grad()
        z[:, -1].square().mean().backward()
        results[name] = z[:, -1]
        results[f"{name} gradient"] = field.net[0].weight.grad.norm()
    return results
