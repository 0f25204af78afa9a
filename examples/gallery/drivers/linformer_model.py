"""linformer: attention over projected keys and values."""

NEEDS = ["linformer==0.2.3"]
RTOL = 1e-3


def main():
    import torch
    from linformer import Linformer, LinformerLM, LinformerSelfAttention

    torch.manual_seed(0)
    model = LinformerLM(
        num_tokens=64, dim=32, seq_len=64, depth=2, heads=4, k=16, one_kv_head=True, share_kv=True
    )
    x = torch.randint(0, 64, (2, 64))
    loss = torch.nn.functional.cross_entropy(model(x).flatten(0, 1), x.flatten())
    loss.backward()
    body = Linformer(dim=32, seq_len=32, depth=1, heads=4, k=8)
    attention = LinformerSelfAttention(dim=32, seq_len=64, heads=4, k=16)
    return {
        "loss": loss,
        "gradients": [p.grad.norm() for p in model.parameters()],
        "body": body(torch.randn(2, 32, 32)),
        "attention": attention(torch.randn(1, 64, 32), torch.randn(1, 64, 32)),
    }
