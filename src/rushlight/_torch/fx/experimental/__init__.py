"""`torch.fx.experimental`: what packages import from it."""
