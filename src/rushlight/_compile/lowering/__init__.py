"""From a program to machine code: plans, fusion, loops and calls of kernels."""
