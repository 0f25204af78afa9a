"""kornia: filters, colour spaces, warps and geometry, differentiable."""

NEEDS = ["kornia==0.9.0", "kornia-rs==0.2.0"]
RTOL = 1e-3


def main():
    import kornia as K
    import torch

    torch.manual_seed(0)
    x = torch.rand(2, 3, 24, 24, requires_grad=True)
    angle = torch.tensor([20.0, -35.0], requires_grad=True)
    turned = K.geometry.transform.rotate(x, angle)
    results = {
        "blur": K.filters.gaussian_blur2d(x, (5, 5), (1.5, 1.5)),
        "sobel": K.filters.sobel(x),
        "laplacian": K.filters.laplacian(x, 3),
        "median": K.filters.median_blur(x, (3, 3)),
        "hsv": K.color.rgb_to_hsv(x),
        "lab": K.color.rgb_to_lab(x),
        "grey": K.color.rgb_to_grayscale(x),
        "turned": turned,
        "resized": K.geometry.transform.resize(x, (12, 16), antialias=True),
        "equalised": K.enhance.equalize(x.detach()),
        "brighter": K.enhance.adjust_brightness(x, 0.2),
        "dilated": K.morphology.dilation(x, torch.ones(3, 3)),
        "ssim": K.metrics.ssim(x, turned, 5),
        "quaternion": K.geometry.conversions.rotation_matrix_to_quaternion(
            K.geometry.conversions.axis_angle_to_rotation_matrix(torch.randn(3, 3))
        ),
        "focal": K.losses.focal_loss(
            torch.randn(4, 5), torch.randint(0, 5, (4,)), alpha=0.5, reduction="mean"
        ),
        "dice": K.losses.dice_loss(torch.randn(2, 3, 6, 6), torch.randint(0, 3, (2, 6, 6))),
    }
    (turned.square().mean() + results["blur"].mean()).backward()
    results["gradient"] = angle.grad
    results["picture gradient"] = x.grad
    return results
