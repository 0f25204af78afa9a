"""`torch.distributed.elastic`: what programs that torchrun may start import of it."""
