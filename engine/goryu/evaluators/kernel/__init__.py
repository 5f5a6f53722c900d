"""Our own kernel: what it computes of a network, and its result in NumPy."""
