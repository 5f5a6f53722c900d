"""Lets the tests of conversions import `foreign_networks`."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
