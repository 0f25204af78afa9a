"""Where arrays lie: the allocator, sharing, mapped files, aliasing, arrays without memory."""
