"""fastai: a learner of tables of numbers, on a one-cycle schedule."""

NEEDS = [
    "fastai==2.8.12",
    "fastcore==2.2.39",
    "fasttransform==0.0.5",
    "plum-dispatch==2.10.1",
    "fastdownload==0.0.8",
    "fastprogress==1.0.3",
    "beartype==0.23.1",
    "pandas==3.1.1",
    "python-dateutil==4.0.0",
    "six==1.17.0",
    "pytz==2026.6",
    "pyyaml==6.0.3",
    "requests==2.34.2",
    "torchvision==0.28.0",
    "pillow==13.0.0",
    "packaging==26.3",
    "cloudpickle==3.1.2",
    "tqdm==4.70.1",
    "typing_extensions==4.16.0",
    "scikit-learn==1.9.1",
    "matplotlib==3.11.2",
    "urllib3==2.7.0",
    "charset_normalizer==3.4.7",
    "idna==3.13",
    "certifi==2026.5.20",
]
RTOL = 5e-3


def main():
    import fastai.callback.schedule  # noqa: F401
    import numpy
    import torch
    from fastai.data.core import DataLoaders
    from fastai.data.load import DataLoader
    from fastai.learner import Learner
    from fastai.losses import CrossEntropyLossFlat, LabelSmoothingCrossEntropy
    from fastai.metrics import accuracy
    from fastai.optimizer import Adam, Lamb, ranger

    numpy.random.seed(0)
    torch.manual_seed(0)
    x = torch.randn(160, 6)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0.5)
    pairs = list(zip(x, y, strict=True))
    results = {}
    for make in (Adam, Lamb, ranger):
        loaders = DataLoaders(DataLoader(pairs[:128], bs=32), DataLoader(pairs[128:], bs=32))
        net = torch.nn.Sequential(
            torch.nn.Linear(6, 16),
            torch.nn.BatchNorm1d(16),
            torch.nn.ReLU(),
            torch.nn.Linear(16, 3),
        )
        criterion = LabelSmoothingCrossEntropy() if make is Lamb else CrossEntropyLossFlat()
        learner = Learner(loaders, net, loss_func=criterion, opt_func=make, metrics=accuracy)
        with learner.no_bar(), learner.no_logging():
            learner.fit_one_cycle(2, 1e-2)
        results[make.__name__] = [float(value) for row in learner.recorder.values for value in row]
        scores, _ = learner.get_preds(dl=loaders.valid) if make is Adam else (None, None)
        if scores is not None:
            results["scores"] = scores
    return results
