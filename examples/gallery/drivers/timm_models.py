"""timm: a residual net, a vision transformer and a mixer from its registry, trained a few steps."""

NEEDS = [
    "timm==1.0.31",
    "torchvision==0.28.0",
    "huggingface_hub==2.4.0",
    "safetensors==0.8.0",
    "pyyaml==6.0.3",
    "httpx==0.28.1",
    "httpcore==1.0.9",
    "h11==0.16.0",
    "anyio==4.16.0",
    "idna==3.13",
    "certifi==2026.5.20",
    "tqdm==4.70.1",
    "filelock==4.2.11",
    "fsspec==2026.9.0",
    "packaging==26.3",
]
RTOL = 2e-3


def main():
    import timm
    import torch

    torch.manual_seed(0)
    x, y = torch.randn(2, 3, 32, 32), torch.tensor([1, 4])
    models = {
        "resnet": timm.create_model("resnet10t", num_classes=10),
        "vit": timm.create_model("vit_tiny_patch16_224", img_size=32, patch_size=8, embed_dim=48, depth=2, num_heads=3, num_classes=10),
        "mixer": timm.create_model("mixer_s32_224", img_size=32, patch_size=8, embed_dim=48, num_blocks=2, num_classes=10),
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
