"""Trains the shogi network on recorded games and exports it to ONNX.

From records to batches, the training run with its validation, and the way to ONNX and back.
"""
