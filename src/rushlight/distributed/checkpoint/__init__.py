"""`torch.distributed.checkpoint`: files written by many processes. Programs import the names."""
