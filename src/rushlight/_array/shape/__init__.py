"""Views, creation, indexing, joining and rearranging."""
