"""pytorch-msssim: structural similarity as a loss that restores a picture."""

NEEDS = ["pytorch-msssim==1.0.0"]
RTOL = 1e-3


def main():
    import torch
    from pytorch_msssim import MS_SSIM, SSIM, ssim

    torch.manual_seed(0)
    clean = torch.rand(2, 3, 48, 48)
    noisy = (clean + 0.2 * torch.randn(2, 3, 48, 48)).clamp(0, 1).requires_grad_()
    measure = SSIM(data_range=1.0, size_average=True, channel=3)
    optimizer = torch.optim.Adam([noisy], lr=0.02)
    values = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = 1 - measure(noisy, clean)
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    multi = MS_SSIM(data_range=1.0, channel=1)(
        torch.rand(1, 1, 176, 176), torch.rand(1, 1, 176, 176)
    )
    return {
        "losses": values,
        "each": ssim(noisy, clean, data_range=1.0, size_average=False),
        "multi": multi,
    }
