"""perceiver-pytorch: Perceiver and Perceiver IO with Fourier positions."""

NEEDS = ["perceiver-pytorch==0.11.0", "einops==0.8.2"]
RTOL = 1e-3


def main():
    import torch
    from perceiver_pytorch import Perceiver, PerceiverIO

    torch.manual_seed(0)
    model = Perceiver(
        input_channels=3,
        input_axis=2,
        num_freq_bands=4,
        max_freq=10.0,
        depth=2,
        num_latents=16,
        latent_dim=32,
        cross_heads=1,
        latent_heads=4,
        cross_dim_head=16,
        latent_dim_head=8,
        num_classes=10,
        weight_tie_layers=False,
    )
    x = torch.randn(2, 16, 16, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), torch.tensor([3, 7]))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    io = PerceiverIO(dim=16, queries_dim=8, logits_dim=12, depth=2, num_latents=8, latent_dim=32)
    return {"losses": losses, "io": io(torch.randn(1, 40, 16), queries=torch.randn(20, 8))}
