"""`torch.ao.nn`: layers with weights of few bits, which aren't here."""
