"""loralib: low-rank layers trained beside frozen weights, merged for evaluation."""

NEEDS = ["loralib==0.1.2"]


def main():
    import loralib as lora
    import torch
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(
        lora.Embedding(20, 16, r=4),
        nn.Flatten(),
        lora.Linear(16 * 6, 32, r=4, lora_alpha=8),
        nn.ReLU(),
        lora.MergedLinear(32, 48, r=2, enable_lora=[True, False, True]),
        nn.ReLU(),
        lora.Linear(48, 5, r=2),
    )
    lora.mark_only_lora_as_trainable(net)
    x, y = torch.randint(0, 20, (32, 6)), torch.randint(0, 5, (32,))
    optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-2)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    net.eval()
    state = lora.lora_state_dict(net)
    conv = lora.Conv2d(3, 8, kernel_size=3, r=2)
    return {
        "losses": losses[::8],
        "merged": net(x),
        "state": [value.norm() for value in state.values()],
        "conv": conv(torch.randn(2, 3, 8, 8)),
    }
