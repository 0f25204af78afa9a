"""performer-pytorch: linear attention by random features, in a language model."""

NEEDS = [
    "performer-pytorch==1.1.4",
    "einops==0.8.2",
    "local-attention==1.11.2",
    "axial-positional-embedding==0.3.12",
    "hyper-connections==0.4.11",
    "torch-einops-utils==0.2.0",
]
RTOL = 1e-3


def main():
    import torch
    from performer_pytorch import FastAttention, PerformerLM
    from torch import nn

    torch.manual_seed(0)
    model = PerformerLM(
        num_tokens=50,
        max_seq_len=64,
        dim=32,
        depth=2,
        heads=4,
        dim_head=8,
        nb_features=16,
        causal=False,
    )
    x = torch.randint(0, 50, (2, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), x.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    attention = FastAttention(dim_heads=16, nb_features=32)
    q, k, v = torch.randn(3, 1, 4, 32, 16)
    return {"losses": losses, "attention": attention(q, k, v)}
