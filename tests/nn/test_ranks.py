"""What layers and samplers ask of other processes, which `distributed` answers."""

import subprocess
import sys

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.utils.data import DistributedSampler


def test_parallel_layers_are_loaded_when_they_are_asked_for() -> None:
    program = """
import sys
import rushlight.nn as nn, rushlight.utils.data
assert not [m for m in sys.modules if m.startswith("rushlight.distributed")]
x = nn.SyncBatchNorm(3)
from rushlight.nn.parallel import *
assert DistributedDataParallel.__module__ == "rushlight.nn.parallel.distributed"
assert nn.parallel.distributed.DistributedDataParallel is DistributedDataParallel
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_batch_norm_of_one_process_is_a_batch_norm() -> None:
    x = torch.randn(4, 3, 5)
    assert torch.equal(nn.SyncBatchNorm(3)(x), nn.BatchNorm1d(3)(x))


def test_a_sampler_without_a_group_says_so() -> None:
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        DistributedSampler(range(3))
