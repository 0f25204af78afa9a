"""pycox and torchtuples: three models of how long until."""

NEEDS = [
    "pycox==0.3.0",
    "torchtuples==0.2.2",
    "numba==0.68.1",
    "llvmlite==0.50.0",
    "h5py==3.16.0",
    "pandas==3.1.1",
    "python-dateutil==4.0.0",
    "six==1.17.0",
    "pytz==2026.6",
    "scikit-learn==1.9.1",
    "requests==2.34.2",
    "urllib3==2.7.0",
    "charset_normalizer==3.4.7",
    "idna==3.13",
    "certifi==2026.5.20",
]
RTOL = 5e-3


def main():
    import numpy
    import torch
    import torchtuples
    from pycox.models import CoxPH, DeepHitSingle, LogisticHazard

    numpy.random.seed(0)
    torch.manual_seed(0)
    x = numpy.random.randn(200, 4).astype("float32")
    durations = numpy.random.exponential(numpy.exp(-x[:, 0])).astype("float32")
    events = (numpy.random.rand(200) < 0.7).astype("float32")
    net = torchtuples.practical.MLPVanilla(4, [16, 16], 1, True, 0.1, output_bias=False)
    model = CoxPH(net, torchtuples.optim.Adam(0.01))
    log = model.fit(x, (durations, events), 64, 3, verbose=False, val_data=(x, (durations, events)))
    model.compute_baseline_hazards()
    results = {
        "cox": log.to_pandas()["val_loss"].tolist(),
        "survival": model.predict_surv_df(x[:3]).iloc[::40].values.ravel().tolist(),
    }
    for kind in (LogisticHazard, DeepHitSingle):
        bins = kind.label_transform(8)
        net = torchtuples.practical.MLPVanilla(4, [16], 8, True, 0.1)
        targets = bins.fit_transform(durations, events)
        options = {"alpha": 0.2, "sigma": 0.1} if kind is DeepHitSingle else {}
        model = kind(net, torchtuples.optim.AdamWR(0.01), duration_index=bins.cuts, **options)
        log = model.fit(x, targets, 64, 2, verbose=False)
        results[kind.__name__] = log.to_pandas()["train_loss"].tolist()
    return results
