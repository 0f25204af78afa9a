"""The thread pool, and products by BLAS."""
