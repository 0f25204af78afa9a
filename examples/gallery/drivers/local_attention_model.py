"""local-attention: windows of attention, and a small local transformer."""

NEEDS = [
    "local-attention==1.11.2",
    "einops==0.8.2",
    "hyper-connections==0.4.11",
    "torch-einops-utils==0.2.0",
]
RTOL = 1e-3


def main():
    import torch
    from local_attention import LocalAttention, LocalTransformer

    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 4, 64, 16).unbind()
    attention = LocalAttention(
        dim=16, window_size=16, causal=True, look_backward=1, look_forward=0, autopad=True
    )
    model = LocalTransformer(
        num_tokens=64,
        dim=32,
        depth=2,
        max_seq_len=64,
        causal=True,
        local_attn_window_size=16,
        dim_head=8,
        heads=4,
    )
    x = torch.randint(0, 64, (2, 64))
    loss = model(x, return_loss=True)
    loss.backward()
    gradients = [p.grad.norm() for p in model.parameters() if p.grad is not None]
    return {"attention": attention(q, k, v), "loss": loss, "gradients": gradients}
