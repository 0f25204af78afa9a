"""g-mlp-pytorch and mlp-mixer-pytorch: pictures and text without attention."""

NEEDS = ["g-mlp-pytorch==0.1.5", "mlp-mixer-pytorch==0.3.1", "einops==0.8.2"]
RTOL = 1e-3


def main():
    import torch
    from g_mlp_pytorch import gMLP, gMLPVision
    from mlp_mixer_pytorch import MLPMixer

    torch.manual_seed(0)
    x, y = torch.randn(4, 3, 32, 32), torch.arange(4)
    results = {}
    models = {
        "mixer": MLPMixer(image_size=32, channels=3, patch_size=8, dim=48, depth=2, num_classes=10),
        "gmlp": gMLPVision(image_size=32, patch_size=8, num_classes=10, dim=48, depth=2),
    }
    for name, model in models.items():
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        losses = []
        for _ in range(5):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        results[name] = losses
    text = gMLP(num_tokens=100, dim=32, depth=2, seq_len=32, causal=True)
    results["text"] = text(torch.randint(0, 100, (2, 32)))
    return results
