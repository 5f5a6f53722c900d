"""Trains the shogi network on recorded games and exports it to ONNX.

`dataset.py` makes batches from records, `train.py` runs the training, `validation.py` measures it,
`export.py` and `import_onnx.py` write and read ONNX files.
"""
