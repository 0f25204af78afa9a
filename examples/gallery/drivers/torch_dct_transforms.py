"""torch-dct: cosine transforms of one, two and three dimensions, and back."""

NEEDS = ["torch_dct==0.1.6"]


def main():
    import torch
    import torch_dct

    torch.manual_seed(0)
    x = torch.randn(3, 6, 8, 10, dtype=torch.float64, requires_grad=True)
    results = {}
    for name in ("dct", "dct_2d", "dct_3d", "dst"):
        if not hasattr(torch_dct, name):
            continue
        for norm in (None, "ortho"):
            there = getattr(torch_dct, name)(x, norm=norm)
            (gradient,) = torch.autograd.grad(there.cos().sum(), x)
            results[f"{name} {norm}"] = there
            results[f"{name} {norm} gradient"] = gradient
            results[f"{name} {norm} back"] = getattr(torch_dct, f"i{name}")(there, norm=norm)
    layer = torch_dct.LinearDCT(10, "dct", norm="ortho")
    results["layer"] = layer(x.float())
    return results
