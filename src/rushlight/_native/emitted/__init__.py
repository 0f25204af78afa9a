"""Kernels that are emitted by hand: products, convolutions, pooling, draws."""
