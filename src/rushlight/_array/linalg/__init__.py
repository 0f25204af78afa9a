"""Products of matrices, decompositions, solvers and Fourier transforms."""
