"""skorch: a module as a scikit-learn classifier, in a pipeline and a grid search."""

NEEDS = ["skorch==1.4.0", "tabulate==0.10.0", "scikit-learn==1.9.1"]
RTOL = 1e-3


def main():
    import numpy as np
    import torch
    from sklearn.datasets import make_classification
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from skorch import NeuralNetClassifier
    from torch import nn

    class Net(nn.Module):
        def __init__(self, width=16):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, 2))

        def forward(self, x):
            return self.layers(x)

    torch.manual_seed(0)
    x, y = make_classification(200, 20, n_informative=10, random_state=0)
    x, y = x.astype(np.float32), y.astype(np.int64)
    net = NeuralNetClassifier(
        Net,
        criterion=nn.CrossEntropyLoss,
        max_epochs=5,
        lr=0.1,
        iterator_train__shuffle=True,
        verbose=0,
    )
    pipeline = make_pipeline(StandardScaler(), net)
    pipeline.fit(x, y)
    history = [row["valid_loss"] for row in net.history]
    probabilities = pipeline.predict_proba(x[:8])
    torch.manual_seed(0)
    search = GridSearchCV(
        net, {"lr": [0.05, 0.2], "module__width": [8, 16]}, cv=2, refit=False, scoring="accuracy"
    )
    search.fit(x, y)
    return {
        "history": history,
        "probabilities": torch.from_numpy(probabilities),
        "scores": torch.from_numpy(search.cv_results_["mean_test_score"]),
    }
