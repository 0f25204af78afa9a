"""Rows that draw."""
