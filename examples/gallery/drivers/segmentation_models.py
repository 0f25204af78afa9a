"""segmentation-models-pytorch: U-Net and FPN on a small encoder, with its losses and metrics."""

NEEDS = [
    "segmentation_models_pytorch==0.6.0",
    "timm==1.0.31",
    "torchvision==0.28.0",
    "pillow==13.0.0",
    "huggingface_hub==2.4.0",
    "safetensors==0.8.0",
    "requests==2.34.2",
]
RTOL = 5e-3


def main():
    import segmentation_models_pytorch as smp
    import torch

    torch.manual_seed(0)
    picture, mask = torch.randn(2, 3, 64, 64), torch.randint(0, 2, (2, 1, 64, 64))
    results = {}
    for kind in (smp.Unet, smp.FPN):
        net = kind("resnet18", encoder_weights=None, classes=1)
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
        criterion = smp.losses.DiceLoss("binary")
        losses = []
        for _ in range(2):
            optimizer.zero_grad()
            loss = criterion(net(picture), mask)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        results[kind.__name__] = losses
    scores = torch.randn(2, 3, 8, 8, requires_grad=True)
    classes = torch.randint(0, 3, (2, 8, 8))
    for criterion in (
        smp.losses.JaccardLoss("multiclass"),
        smp.losses.FocalLoss("multiclass"),
        smp.losses.LovaszLoss("multiclass"),
        smp.losses.TverskyLoss("multiclass"),
    ):
        loss = criterion(scores, classes)
        (gradient,) = torch.autograd.grad(loss, scores)
        results[type(criterion).__name__] = [loss.item(), gradient.norm().item()]
    counts = smp.metrics.get_stats(scores.argmax(1), classes, mode="multiclass", num_classes=3)
    results["iou"] = smp.metrics.iou_score(*counts, reduction="micro")
    return results
