"""Arithmetic, comparison, activations and special functions, element by element."""
