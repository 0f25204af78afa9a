"""`torch.distributed.algorithms.model_averaging`: parameters are averaged, gradients are not."""
