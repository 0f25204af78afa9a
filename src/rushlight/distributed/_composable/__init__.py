"""`torch.distributed._composable`: what packages import from it."""
