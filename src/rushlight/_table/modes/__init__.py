"""Rows under modes: autocast, batches, meta tensors, dual numbers."""
