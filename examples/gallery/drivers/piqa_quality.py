"""piqa: measures of pictures' likeness, with gradients."""

NEEDS = ["piqa==1.3.2", "torchvision==0.28.0", "pillow==13.0.0", "tqdm==4.70.1"]
RTOL = 5e-3


def main():
    import piqa
    import torch

    torch.manual_seed(0)
    clear = torch.rand(2, 3, 64, 64)
    blurred = (clear + 0.1 * torch.rand(2, 3, 64, 64)).clamp(0, 1).requires_grad_()
    results = {}
    for measure in (
        piqa.PSNR(), piqa.SSIM(), piqa.TV(), piqa.MS_SSIM(window_size=3), piqa.GMSD(),
        piqa.MDSI(), piqa.HaarPSI(),
    ):  # fmt: skip
        value = measure(blurred) if isinstance(measure, piqa.TV) else measure(blurred, clear)
        (gradient,) = torch.autograd.grad(value, blurred)
        results[type(measure).__name__] = [value.item(), gradient.norm().item()]
    return results
