"""x-transformers: a decoder with rotary positions and RMS norm, trained, then generating."""

NEEDS = [
    "x-transformers==2.31.10",
    "einops==0.8.2",
    "einx==0.4.3",
    "loguru==0.7.3",
    "frozendict==2.5.1",
    "torch-einops-utils==0.2.0",
]
RTOL = 1e-3


def main():
    import torch
    from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper

    torch.manual_seed(0)
    layers = Decoder(
        dim=64,
        depth=2,
        heads=4,
        attn_dim_head=16,
        rotary_pos_emb=True,
        use_rmsnorm=True,
        ff_glu=True,
    )
    inner = TransformerWrapper(num_tokens=32, max_seq_len=32, attn_layers=layers)
    model = AutoregressiveWrapper(inner)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    x = (torch.arange(33)[None] * torch.tensor([[1], [2], [3], [5]])) % 32
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = model(x)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    tokens = model.generate(x[:1, :4], 8, temperature=0.0)
    encoder = TransformerWrapper(
        num_tokens=32, max_seq_len=32, attn_layers=Encoder(dim=32, depth=1, heads=2)
    )
    return {"losses": losses, "tokens": tokens, "encoder": encoder(x[:, :16])}
