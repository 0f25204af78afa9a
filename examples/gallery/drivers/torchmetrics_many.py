"""torchmetrics: classification, regression and text metrics, updated over batches."""

NEEDS = ["torchmetrics==1.9.0", "lightning-utilities==0.15.3"]


def main():
    import torch
    import torchmetrics as tm

    torch.manual_seed(0)
    classes = {"task": "multiclass", "num_classes": 5}
    collection = tm.MetricCollection(
        {
            "accuracy": tm.Accuracy(**classes),
            "top2": tm.Accuracy(**classes, top_k=2),
            "f1": tm.F1Score(**classes, average="macro"),
            "precision": tm.Precision(**classes, average="none"),
            "auroc": tm.AUROC(**classes),
            "average precision": tm.AveragePrecision(**classes),
            "calibration": tm.CalibrationError(**classes),
            "kappa": tm.CohenKappa(**classes),
            "confusion": tm.ConfusionMatrix(**classes),
            "matthews": tm.MatthewsCorrCoef(**classes),
        }
    )
    regression = tm.MetricCollection([
        tm.MeanSquaredError(), tm.MeanAbsoluteError(), tm.R2Score(), tm.PearsonCorrCoef(),
        tm.SpearmanCorrCoef(), tm.ExplainedVariance(), tm.KendallRankCorrCoef(),
    ])  # fmt: skip
    mean, best = tm.MeanMetric(), tm.MaxMetric()
    for _ in range(6):
        logits, target = torch.randn(40, 5), torch.randint(0, 5, (40,))
        collection.update(logits.softmax(-1), target)
        a = torch.randn(40)
        regression.update(a, a + 0.5 * torch.randn(40))
        mean.update(logits.mean())
        best.update(logits.max())
    results = dict(collection.compute())
    results |= regression.compute()
    results |= {"mean": mean.compute(), "max": best.compute()}
    results["binary"] = tm.functional.stat_scores(
        torch.rand(20), torch.randint(0, 2, (20,)), task="binary"
    )
    results["edit"] = tm.functional.text.word_error_rate(["this is it"], ["that is it"])
    results["psnr"] = tm.functional.image.peak_signal_noise_ratio(
        torch.rand(1, 3, 8, 8), torch.rand(1, 3, 8, 8), data_range=1.0
    )
    results["cosine"] = tm.functional.pairwise_cosine_similarity(torch.randn(4, 6))
    return results
