"""Recording a step: what it does to arrays, which numbers it reads, what it can see."""
