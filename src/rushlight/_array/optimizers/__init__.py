"""The updates of optimizers, over many parameters at once."""
