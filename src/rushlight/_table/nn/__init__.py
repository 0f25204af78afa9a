"""Rows of layers and losses."""
