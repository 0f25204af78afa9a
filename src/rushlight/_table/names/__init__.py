"""Rows under other names: `aten`, `operator`, synonyms."""
