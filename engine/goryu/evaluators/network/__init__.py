"""Networks in ONNX files, run by onnxruntime or by our own kernel."""
