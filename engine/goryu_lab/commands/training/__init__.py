"""The commands that train networks; they need the extra `train`."""
