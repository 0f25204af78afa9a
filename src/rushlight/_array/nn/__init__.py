"""Convolution, pooling, normalization, recurrent layers, attention and losses."""
