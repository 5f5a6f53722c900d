"""Conversion of networks that are not ONNX files: they are read without the libraries that wrote them.

A file becomes named tensors (`numpy_archive.py`, `hdf5_file.py`, `torch_checkpoint.py`, `aobazero.py`), these
an `Architecture` (`first_book.py`, `second_book.py`, `dlshogi.py`, `aobazero.py`), and that an ONNX file
(`onnx_writer.py`), whose answers are compared with a forward pass in NumPy (`numpy_forward.py`).
"""
