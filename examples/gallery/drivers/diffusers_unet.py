"""diffusers: a small U-Net trained to tell the noise, and a chain of steps back with it."""

NEEDS = [
    "diffusers==0.42.1",
    "importlib_metadata==10.2.0",
    "zipp==4.1.2",
    "regex==2026.5.9",
    "pillow==13.0.0",
    "huggingface_hub==2.4.0",
    "safetensors==0.8.0",
    "requests==2.34.2",
    "urllib3==2.7.0",
    "charset_normalizer==3.4.7",
]
RTOL = 5e-3


def main():
    import torch
    from diffusers import AutoencoderKL, DDIMScheduler, DDPMScheduler, UNet2DModel

    torch.manual_seed(0)
    net = UNet2DModel(
        sample_size=16, in_channels=1, out_channels=1, layers_per_block=1,
        block_out_channels=(16, 32), norm_num_groups=8, attention_head_dim=8,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip
    schedule = DDPMScheduler(num_train_timesteps=50)
    pictures = torch.randn(4, 1, 16, 16)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    losses = []
    for _ in range(3):
        noise, times = torch.randn_like(pictures), torch.randint(0, 50, (4,))
        told = net(schedule.add_noise(pictures, noise, times), times).sample
        loss = torch.nn.functional.mse_loss(told, noise)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    back = DDIMScheduler(num_train_timesteps=50)
    back.set_timesteps(5)
    sample = torch.randn(1, 1, 16, 16, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        for time in back.timesteps:
            sample = back.step(net(sample, time).sample, time, sample).prev_sample
    coder = AutoencoderKL(
        in_channels=1, out_channels=1, latent_channels=2, block_out_channels=(8, 16),
        down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=4,
    )  # fmt: skip
    code = coder.encode(pictures).latent_dist
    again = coder.decode(code.sample()).sample
    return {"losses": losses, "sample": sample, "kl": code.kl(), "again": again}
