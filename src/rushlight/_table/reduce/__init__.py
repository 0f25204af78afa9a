"""Rows that go along an axis: sums, extremes, scans, sorting, softmax."""
