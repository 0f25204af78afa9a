"""From lowered parts to one program for the machine: plans, call frames, the driver."""
