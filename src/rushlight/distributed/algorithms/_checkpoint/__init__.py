"""Intermediate values that are computed again in backward, chosen by module."""
