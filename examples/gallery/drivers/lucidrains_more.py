"""egnn, iTransformer and reformer: three more models of one author's collection."""

NEEDS = [
    "egnn-pytorch==0.2.8",
    "iTransformer==0.8.1",
    "reformer-pytorch==1.4.4",
    "einops==0.8.2",
    "beartype==0.23.1",
    "axial-positional-embedding==0.3.12",
    "local-attention==1.11.2",
    "hyper-connections==0.4.11",
    "torch-einops-utils==0.2.0",
    "rotary-embedding-torch==0.9.1",
    "product-key-memory==0.3.0",
    "gateloop-transformer==0.2.5",
    "x-mlps-pytorch==0.6.9",
    "colt5-attention==0.11.2",
    "typing_extensions==4.16.0",
]
RTOL = 2e-3


def main():
    import torch
    from egnn_pytorch import EGNN, EGNN_Network
    from iTransformer import iTransformer
    from reformer_pytorch import ReformerLM

    torch.manual_seed(0)
    layer = EGNN(dim=16, edge_dim=4)
    features, points = torch.randn(1, 8, 16), torch.randn(1, 8, 3)
    moved, places = layer(features, points, torch.randn(1, 8, 8, 4))
    net = EGNN_Network(num_tokens=10, num_positions=8, dim=16, depth=2, num_nearest_neighbors=4)
    told, shifted = net(torch.randint(0, 10, (1, 8)), points)
    (moved.sum() + told.square().sum()).backward()
    series = iTransformer(
        num_variates=5, lookback_len=24, dim=16, depth=2, heads=2, dim_head=8, pred_length=(4, 8),
        num_tokens_per_variate=1, use_reversible_instance_norm=True,
    )  # fmt: skip
    series.eval()
    ahead = series(torch.randn(2, 24, 5))
    language = ReformerLM(
        num_tokens=50, dim=32, depth=2, max_seq_len=64, heads=2, bucket_size=8, n_hashes=2,
        causal=True,
    )  # fmt: skip
    language.eval()
    scores = language(torch.randint(0, 50, (1, 64)))
    return {
        "egnn": [moved.norm(), places.norm(), told.norm(), shifted.norm()],
        "gradients": [p.grad.norm() for p in layer.parameters() if p.grad is not None],
        "ahead": list(ahead.values()),
        "reformer": scores,
    }
