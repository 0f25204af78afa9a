"""rotary-embedding-torch: rotary positions for queries and keys, axial and extrapolated."""

NEEDS = ["rotary-embedding-torch==0.9.1", "einops==0.8.2"]


def main():
    import torch
    from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

    torch.manual_seed(0)
    rotary = RotaryEmbedding(dim=32)
    q, k = torch.randn(2, 4, 64, 64), torch.randn(2, 4, 64, 64)
    turned = rotary.rotate_queries_or_keys(q)
    other = rotary.rotate_queries_or_keys(k)
    scores = (turned @ other.mT).softmax(-1)
    far = RotaryEmbedding(dim=32, use_xpos=True)
    a, b = far.rotate_queries_and_keys(q, k)
    axial = RotaryEmbedding(dim=16, freqs_for="pixel", max_freq=64)
    frequencies = axial.get_axial_freqs(8, 8)
    grid = apply_rotary_emb(frequencies, torch.randn(2, 8, 8, 64))
    return {"turned": turned, "scores": scores, "xpos": a @ b.mT, "axial": grid}
