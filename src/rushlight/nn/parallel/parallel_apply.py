"""Several modules at a time: under the module where PyTorch has it."""

from .data_parallel import parallel_apply

__all__ = ["parallel_apply"]
