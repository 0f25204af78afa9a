"""denoising-diffusion-pytorch: a small U-Net, its diffusion loss and a few sampling steps."""

NEEDS = [
    "denoising-diffusion-pytorch==2.3.4",
    "einops==0.8.2",
    "ema-pytorch==0.8.3",
    "accelerate==1.15.0",
    "torchvision==0.28.0",
    "torch-einops-utils==0.2.0",
    "hyper-connections==0.4.11",
    "psutil==7.2.2",
    "huggingface_hub==2.4.0",
]
RTOL = 2e-3


def main():
    import torch
    from denoising_diffusion_pytorch.denoising_diffusion_pytorch import GaussianDiffusion, Unet

    torch.manual_seed(0)
    net = Unet(
        dim=16, dim_mults=(1, 2), channels=1, attn_heads=2, attn_dim_head=8, flash_attn=False
    )
    diffusion = GaussianDiffusion(net, image_size=16, timesteps=20, sampling_timesteps=3)
    x = torch.rand(4, 1, 16, 16)
    optimizer = torch.optim.SGD(diffusion.parameters(), lr=1e-3)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = diffusion(x)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "sample": diffusion.sample(batch_size=2)}
