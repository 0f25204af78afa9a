"""einops: rearrange, reduce, repeat, einsum and pack, and its layers in a small convolution net."""

NEEDS = ["einops==0.8.2"]


def main():
    import torch
    from einops import einsum, pack, rearrange, reduce, repeat, unpack
    from einops.layers.torch import EinMix, Rearrange, Reduce
    from torch import nn

    torch.manual_seed(0)
    x = torch.randn(8, 3, 16, 16)
    patches = rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4)
    pooled = reduce(x, "b c (h p) (w q) -> b c h w", "max", p=2, q=2)
    tiled = repeat(pooled, "b c h w -> b c (h two) w", two=2)
    scores = einsum(patches, patches, "b i d, b j d -> b i j")
    packed, shapes = pack([patches, patches[:, 0]], "b * d")
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.ReLU(),
        Reduce("b c (h p) (w q) -> b c h w", "max", p=2, q=2),
        EinMix("b c h w -> b d h w", weight_shape="c d", bias_shape="d", c=8, d=12),
        Rearrange("b d h w -> b (d h w)"),
        nn.Linear(12 * 64, 10),
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    target = torch.arange(8)
    losses = []
    for _ in range(10):
        loss = nn.functional.cross_entropy(net(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    parts = unpack(packed, shapes, "b * d")
    return {
        "patches": patches,
        "tiled": tiled,
        "scores": scores.softmax(-1),
        "unpacked": [part.sum() for part in parts],
        "losses": losses,
    }
