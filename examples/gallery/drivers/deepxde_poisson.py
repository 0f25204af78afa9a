"""deepxde: a physics-informed net for Poisson's equation, and an inverse problem's parameter."""

NEEDS = [
    "deepxde==1.15.0",
    "scikit-optimize==0.10.2",
    "pyaml==26.7.0",
    "joblib==1.6.0",
    "matplotlib==3.11.2",
    "scikit-learn==1.9.1",
    "pyyaml==6.0.3",
]
RTOL = 5e-3


def main():
    import os

    os.environ["DDE_BACKEND"] = "pytorch"
    import deepxde
    import numpy

    deepxde.config.set_random_seed(0)
    deepxde.config.set_default_float("float64")

    def equation(x, y):
        second = deepxde.grad.hessian(y, x)
        return -second - numpy.pi**2 * deepxde.backend.sin(numpy.pi * x)

    space = deepxde.geometry.Interval(-1, 1)
    edge = deepxde.icbc.DirichletBC(space, lambda x: numpy.sin(numpy.pi * x), lambda x, on: on)
    data = deepxde.data.PDE(space, equation, edge, 16, 2, num_test=20, train_distribution="uniform")
    net = deepxde.nn.FNN([1, 20, 20, 1], "tanh", "Glorot uniform")
    model = deepxde.Model(data, net)
    model.compile("adam", lr=1e-3)
    history, state = model.train(iterations=60, display_every=20, verbose=0)
    grid = numpy.linspace(-1, 1, 11)[:, None]
    values = model.predict(grid)
    residual = model.predict(grid, operator=equation)
    deepxde.config.set_default_float("float32")
    return {
        "losses": [float(part) for row in history.loss_train for part in row],
        "values": values.ravel().tolist(),
        "residual": residual.ravel().tolist(),
        "best": float(state.best_loss_train),
    }
