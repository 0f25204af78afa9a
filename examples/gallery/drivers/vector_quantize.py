"""vector-quantize-pytorch: codebooks by k-means and moving averages, residual, FSQ and LFQ."""

NEEDS = [
    "vector-quantize-pytorch==1.32.0",
    "einops==0.8.2",
    "einx==0.4.3",
    "frozendict==2.5.1",
    "torch-einops-utils==0.2.0",
]
RTOL = 1e-3


def main():
    import torch
    from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, VectorQuantize

    torch.manual_seed(0)
    x = torch.randn(2, 64, 16, requires_grad=True)
    results = {}
    vq = VectorQuantize(dim=16, codebook_size=32, decay=0.8, commitment_weight=1.0)
    for _ in range(5):
        quantized, indices, loss = vq(x)
    (quantized.square().mean() + loss.sum()).backward()
    results["vq"] = [quantized.sum(), indices.sum(), loss.sum(), x.grad.norm()]
    residual = ResidualVQ(dim=16, num_quantizers=3, codebook_size=16)
    quantized, indices, losses = residual(x.detach())
    results["residual"] = [quantized.sum(), *indices.flatten(0, 1).sum(0), losses.sum()]
    fsq = FSQ([8, 5, 5])
    codes, indices = fsq(torch.randn(1, 32, 3))
    results["fsq"] = [codes.sum(), indices.sum()]
    lfq = LFQ(codebook_size=64, dim=6, entropy_loss_weight=0.1)
    picture, indices, entropy = lfq(torch.randn(1, 6, 8, 8))
    results["lfq"] = [picture.sum(), indices.sum(), entropy]
    return results
