"""Copies of a module for several devices: under the module where PyTorch has it."""

from .data_parallel import replicate

__all__ = ["replicate"]
