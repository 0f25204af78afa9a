"""`torch.distributed.algorithms.model_averaging`: the means of parameters in the place of grads'."""
