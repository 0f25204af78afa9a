"""Rows of arithmetic, comparison, activations and special functions."""
