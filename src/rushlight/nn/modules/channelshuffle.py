"""`ChannelShuffle` under the module where PyTorch has it."""

from .pixelshuffle import ChannelShuffle

__all__ = ["ChannelShuffle"]
