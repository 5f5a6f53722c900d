"""Trains a network on HCPE files and files of games, and exports it to ONNX.

The program is `goryu train`, in engine/goryu/programs/train.py.
"""

from goryu.programs.train import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
