"""pytorch-metric-learning: losses with miners over embeddings."""

NEEDS = ["pytorch-metric-learning==2.9.0", "scikit-learn==1.9.1", "tqdm==4.70.1"]
RTOL = 1e-3


def main():
    import torch
    from pytorch_metric_learning import distances, losses, miners

    torch.manual_seed(0)
    labels = torch.randint(0, 4, (24,))
    results = {}
    kinds = {
        "contrastive": losses.ContrastiveLoss(),
        "triplet": losses.TripletMarginLoss(distance=distances.CosineSimilarity()),
        "ntxent": losses.NTXentLoss(),
        "circle": losses.CircleLoss(),
        "multi": losses.MultiSimilarityLoss(),
        "arcface": losses.ArcFaceLoss(4, 8),
        "proxy": losses.ProxyAnchorLoss(4, 8),
        "supcon": losses.SupConLoss(),
    }
    x = torch.randn(24, 8)
    for name, kind in kinds.items():
        leaf = x.clone().requires_grad_()
        loss = kind(leaf, labels)
        loss.backward()
        results[name] = [loss, leaf.grad.norm()]
    pairs = miners.MultiSimilarityMiner()(x, labels)
    results["miner"] = [len(part) for part in pairs]
    return results
