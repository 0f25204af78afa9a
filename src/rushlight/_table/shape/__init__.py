"""Rows of views, creation, indexing, joining and copying."""
