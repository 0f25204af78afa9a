"""neurodiffeq: an oscillator and a heat-like equation solved by nets."""

NEEDS = [
    "neurodiffeq==0.7.0",
    "dill==0.4.1",
    "ordered-set==4.1.0",
    "pandas==3.1.1",
    "python-dateutil==4.0.0",
    "six==1.17.0",
    "pytz==2026.6",
    "seaborn==0.13.2",
    "tqdm==4.70.1",
    "requests==2.34.2",
    "packaging==26.3",
    "matplotlib==3.11.2",
    "tensorboard==2.21.0",
    "protobuf==7.36.2",
    "urllib3==2.7.0",
    "charset_normalizer==3.4.7",
    "idna==3.13",
    "certifi==2026.5.20",
    "typing_extensions==4.16.0",
]
RTOL = 5e-3


def main():
    import numpy
    import torch
    from neurodiffeq import diff
    from neurodiffeq.conditions import IVP, DirichletBVP2D
    from neurodiffeq.generators import Generator1D
    from neurodiffeq.networks import FCNN
    from neurodiffeq.solvers import Solver1D, Solver2D

    torch.manual_seed(0)
    numpy.random.seed(0)
    oscillator = Solver1D(
        lambda u, t: [diff(u, t, order=2) + u],
        [IVP(t_0=0.0, u_0=0.0, u_0_prime=1.0)],
        t_min=0.0,
        t_max=3.0,
        nets=[FCNN(n_input_units=1, n_output_units=1, hidden_units=(16,))],
        train_generator=Generator1D(24, 0.0, 3.0, method="uniform"),
        valid_generator=Generator1D(24, 0.0, 3.0, method="uniform"),
    )
    oscillator.fit(12, tqdm_file=None)
    edges = DirichletBVP2D(
        0.0, lambda y: torch.sin(numpy.pi * y), 1.0, lambda y: 0,
        0.0, lambda x: 0, 1.0, lambda x: 0,
    )  # fmt: skip
    plane = Solver2D(
        lambda u, x, y: [diff(u, x, order=2) + diff(u, y, order=2)],
        [edges],
        xy_min=(0, 0),
        xy_max=(1, 1),
        nets=[FCNN(n_input_units=2, hidden_units=(16,))],
    )  # fmt: skip
    plane.fit(4, tqdm_file=None)
    solution = oscillator.get_solution(best=False)
    return {
        "losses": oscillator.metrics_history["train_loss"],
        "solution": solution(numpy.linspace(0, 3, 7), to_numpy=True).tolist(),
        "plane": plane.metrics_history["train_loss"],
    }
