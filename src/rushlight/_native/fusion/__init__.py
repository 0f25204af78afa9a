"""Loops made from formulas: rows, schedules, calls of kernels."""
