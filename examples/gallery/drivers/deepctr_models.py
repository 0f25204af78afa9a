"""deepctr-torch: five models of clicks over sparse and dense columns."""

NEEDS = [
    "deepctr-torch==0.3.0",
    "tqdm==4.70.1",
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
    from deepctr_torch.inputs import DenseFeat, SparseFeat, get_feature_names
    from deepctr_torch.models import DCN, NFM, WDL, AutoInt, DeepFM

    numpy.random.seed(0)
    names = ["user", "item", "place"]
    columns = [SparseFeat(name, 10, embedding_dim=4) for name in names] + [DenseFeat("age", 1)]
    table = {name: numpy.random.randint(0, 10, 120) for name in names}
    table["age"] = numpy.random.rand(120).astype("float32")
    clicks = (table["user"] + table["item"] > 9).astype("float32")
    inputs = {name: table[name] for name in get_feature_names(columns)}
    results = {}
    for kind in (DeepFM, WDL, DCN, NFM, AutoInt):
        model = kind(columns, columns, task="binary", device="cpu", seed=7)
        model.compile("adagrad", "binary_crossentropy", metrics=["binary_crossentropy", "auc"])
        history = model.fit(inputs, clicks, batch_size=40, epochs=2, verbose=0, shuffle=False)
        results[kind.__name__] = (
            history.history["loss"] + model.predict(inputs, 40)[:3].ravel().tolist()
        )
    return results
