"""timm: a residual net, a vision transformer and a ConvNeXt from its registry."""

NEEDS = ["timm==1.0.31", "torchvision==0.28.0", "huggingface_hub==2.4.0", "safetensors==0.8.0"]
RTOL = 2e-3


def main():
    import timm
    import timm.optim
    import torch

    torch.manual_seed(0)
    x, y = torch.randn(2, 3, 32, 32), torch.tensor([1, 4])
    models = {
        "resnet": timm.create_model("resnet10t", num_classes=10),
        "vit": timm.create_model("test_vit", img_size=32, num_classes=10),
        "convnext": timm.create_model(
            "convnext_atto", num_classes=10, depths=(1, 1, 1, 1), dims=(8, 16, 24, 32)
        ),
    }
    results = {}
    for name, model in models.items():
        optimizer = timm.optim.create_optimizer_v2(model, opt="sgd", lr=0.01, momentum=0.9)
        losses = []
        for _ in range(2):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        results[name] = losses
    return results
