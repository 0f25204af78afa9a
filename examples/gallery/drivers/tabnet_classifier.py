"""pytorch-tabnet: a classifier and its masks on the irises."""

NEEDS = [
    "pytorch_tabnet==4.1.0",
    "tqdm==4.70.1",
    "scikit-learn==1.9.1",
    "pandas==3.1.1",
    "python-dateutil==4.0.0",
    "six==1.17.0",
    "pytz==2026.6",
]
RTOL = 5e-3


def main():
    import numpy
    from pytorch_tabnet.tab_model import TabNetClassifier
    from sklearn.datasets import load_iris

    x, y = load_iris(return_X_y=True)
    x = x.astype(numpy.float32)
    model = TabNetClassifier(seed=0, verbose=0, n_d=4, n_a=4, n_steps=2, device_name="cpu")
    model.fit(x, y, max_epochs=4, batch_size=50, virtual_batch_size=25, eval_set=[(x, y)])
    shares = model.predict_proba(x)
    importance, _ = model.explain(x)
    return {
        "losses": [float(loss) for loss in model.history["loss"]],
        "shares": shares[::15].ravel().tolist(),
        "importance": importance.sum(0).tolist(),
    }
