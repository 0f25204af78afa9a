"""Tests of packages that pass on PyTorch and not on Rushlight, each with its reason."""

from __future__ import annotations

#: Under a package's name: what a test's name begins with, and why it does not pass.
NAMED: dict[str, dict[str, str]] = {
    "captum": {
        "tests/attr/test_deeplift_classification.py::Test::test_softmax_classification_batch_z": (
            "rounding errors of float32 against 0.003: PyTorch passes with every other seed"
        ),
    },
    "pytorch-ignite": {
        "tests/ignite/metrics/test_metric.py::test_arithmetics[True]": (
            "the last bit of a power in float64, which NumPy rounds in another way"
        ),
        "tests/ignite/handlers/test_checkpoint.py::test_disk_saver_atomic": (
            "expects the broken file of a save that failed; here a path is written whole or not"
        ),
    },
    "kornia": {
        "kornia/geometry/camera/distortion_kannala_brandt.py::": (
            "the seventh digit of a float32 result, which the example compares to eight"
        ),
    },
    "accelerate": {
        "tests/test_utils.py::UtilsTester::test_pad_across_processes": "nested tensors",
        "tests/test_utils.py::UtilsTester::test_send_to_device_compiles": (
            "compiles a step whole that calls a cached function: what a cache holds isn't watched"
        ),
    }
    | dict.fromkeys(
        (
            "tests/test_cpu.py::MultiCPUTester",
            "tests/test_grad_sync.py::SyncScheduler::test_gradient_sync_cpu_multi",
            "tests/test_scheduler.py::SchedulerTester::test_lambda_scheduler_",
            "tests/test_scheduler.py::SchedulerTester::test_one_cycle_scheduler_",
        ),
        "starts several processes, which need MPI (the extra `mpi`) to meet",
    ),
    "pyro-ppl": dict.fromkeys(
        (
            "pyro/distributions/torch.py::pyro.distributions.torch.Categorical",
            "pyro/distributions/torch.py::pyro.distributions.torch.Independent",
        ),
        "the examples of PyTorch's docstring, which pyro copies; Rushlight's has none",
    ),
}


def reason(package: str, test: str) -> str | None:
    """Why a test of a package does not pass here, if that is known."""
    known = NAMED.get(package, {})
    return next((why for start, why in known.items() if test.startswith(start)), None)
