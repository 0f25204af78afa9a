"""Rows of products, decompositions, solvers and Fourier transforms."""
