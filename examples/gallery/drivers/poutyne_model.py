"""poutyne: a Keras-like model fitted and evaluated, with its metrics and callbacks."""

NEEDS = [
    "poutyne==1.19.0",
    "torchmetrics==1.9.0",
    "lightning-utilities==0.15.3",
    "packaging==26.3",
    "typing_extensions==4.16.0",
]
RTOL = 1e-3


def main():
    import numpy
    import torch
    from poutyne import Callback, ExponentialLR, Model
    from torch import nn

    class Rates(Callback):
        def on_train_begin(self, logs):
            self.seen = []

        def on_epoch_end(self, epoch_number, logs):
            self.seen.append(self.model.optimizer.param_groups[0]["lr"])

    torch.manual_seed(0)
    numpy.random.seed(0)
    x = numpy.random.randn(90, 5).astype("float32")
    y = (x[:, 0] > 0).astype("int64") + (x[:, 1] > 0)
    net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    model = Model(net, optimizer, "cross_entropy", batch_metrics=["accuracy"], epoch_metrics=["f1"])
    rates = Rates()
    logs = model.fit(
        x, y, validation_data=(x, y), epochs=4, batch_size=15, verbose=False,
        callbacks=[ExponentialLR(gamma=0.8), rates],
    )  # fmt: skip
    loss, metrics = model.evaluate(x, y, verbose=False)
    return {
        "losses": [row["loss"] for row in logs],
        "accuracy": [row["val_acc"] for row in logs],
        "f1": [row["val_fscore_macro"] for row in logs],
        "rates": rates.seen,
        "loss": loss,
        "metrics": [float(value) for value in metrics],
        "scores": torch.tensor(model.predict(x[:4], verbose=False)),
    }
