"""vit-pytorch: ViT, SimpleViT and CCT on small pictures."""

NEEDS = ["vit-pytorch==1.26.11", "einops==0.8.2", "torchvision==0.28.0"]
RTOL = 1e-3


def main():
    import torch
    from torch import nn
    from vit_pytorch import SimpleViT, ViT
    from vit_pytorch.cct import CCT

    torch.manual_seed(0)
    x, y = torch.randn(4, 3, 32, 32), torch.arange(4)
    shape = {
        "image_size": 32,
        "patch_size": 8,
        "num_classes": 10,
        "dim": 48,
        "depth": 2,
        "heads": 3,
        "mlp_dim": 96,
    }
    results = {}
    models = {
        "vit": lambda: ViT(**shape),
        "simple": lambda: SimpleViT(**shape),
        "cct": lambda: CCT(
            img_size=32,
            embedding_dim=48,
            n_conv_layers=1,
            num_layers=2,
            num_heads=3,
            mlp_ratio=2,
            num_classes=10,
            positional_embedding="learnable",
            stochastic_depth_rate=0.0,
            dropout_rate=0.0,
            attention_dropout=0.0,
        ),
    }
    for name, build in models.items():
        torch.manual_seed(1)
        model = build()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        losses = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        results[name] = losses
    return results
