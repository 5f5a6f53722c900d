"""Makes networks smaller: 8-bit integers for CPUs, 16-bit floats for GPUs.

Quantizes a float network on real positions and compares the result with it; `goryu quantize` runs it.
"""
