"""monai: a U-Net in two and three dimensions, its losses, metrics and transforms."""

NEEDS = ["monai==1.6.1", "filelock==4.2.11"]
RTOL = 5e-3


def main():
    import torch
    from monai.inferers import sliding_window_inference
    from monai.losses import DiceCELoss, DiceFocalLoss, TverskyLoss
    from monai.metrics import DiceMetric
    from monai.networks.nets import UNet
    from monai.transforms import AsDiscrete, Compose, NormalizeIntensity, RandFlip, ScaleIntensity

    torch.manual_seed(0)
    results = {}
    for dimensions, size in ((2, 16), (3, 8)):
        net = UNet(
            spatial_dims=dimensions, in_channels=1, out_channels=2, channels=(4, 8, 16),
            strides=(2, 2), num_res_units=1,
        )  # fmt: skip
        x = torch.randn(2, 1, *[size] * dimensions)
        y = torch.randint(0, 2, (2, 1, *[size] * dimensions))
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
        losses = []
        for criterion in (DiceCELoss, DiceFocalLoss, TverskyLoss):
            optimizer.zero_grad()
            loss = criterion(to_onehot_y=True, softmax=True)(net(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        results[f"{dimensions}d"] = losses
        net.eval()
        with torch.no_grad():
            large = torch.randn(1, 1, *[size + 4] * dimensions)
            results[f"{dimensions}d window"] = sliding_window_inference(
                large, [size] * dimensions, 2, net
            )
            metric = DiceMetric(include_background=True)
            metric(AsDiscrete(argmax=True, dim=1, to_onehot=2)(net(x)), y)
        results[f"{dimensions}d dice"] = metric.aggregate()
    steps = Compose([ScaleIntensity(), NormalizeIntensity(), RandFlip(prob=1.0, spatial_axis=0)])
    steps.set_random_state(seed=0)
    results["transformed"] = steps(torch.randn(1, 12, 12))
    return results
