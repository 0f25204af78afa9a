"""pykan: a Kolmogorov–Arnold network fitted to a formula."""

NEEDS = [
    "pykan==0.2.8",
    "pandas==3.1.1",
    "pytz==2026.6",
    "python-dateutil==4.0.0",
    "six==1.17.0",
    "tqdm==4.70.1",
    "sympy==1.14.0",
    "mpmath==1.3.0",
    "pyyaml==6.0.3",
    "scikit-learn==1.9.1",
    "matplotlib==3.11.2",
]
RTOL = 1e-2


def main():
    import torch
    from kan import KAN, create_dataset

    def formula(x):
        return torch.exp(torch.sin(torch.pi * x[:, [0]]) + x[:, [1]] ** 2)

    data = create_dataset(formula, n_var=2, train_num=60, test_num=20, seed=0)
    model = KAN(width=[2, 3, 1], grid=3, k=3, seed=0, auto_save=False)
    history = model.fit(data, opt="Adam", steps=6, lr=0.02, update_grid=False)
    value = model(data["test_input"])
    return {"train": [float(x) for x in history["train_loss"]], "value": value}
