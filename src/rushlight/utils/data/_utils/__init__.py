"""The parts of a loader: how items become batches, and the processes that read them."""
