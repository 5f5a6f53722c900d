"""Supervised training of shogi networks, and their way to ONNX and back."""
