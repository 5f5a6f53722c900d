"""Trains a network on HCPE files and files of games, and exports it to ONNX.

The program is `goryu train`, in engine/goryu/commands/training/train.py.
"""

from goryu.commands.training.train import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
