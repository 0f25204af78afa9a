"""Sums, extremes, scans, sorting and what else goes along an axis."""
