"""The errors of damaged zip files."""

import lzma
import zipfile
import zlib

ZIP_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OverflowError, RuntimeError, UnicodeDecodeError,
)  # fmt: skip
"""What `zipfile` raises; RuntimeError if a member is encrypted or needs a later version of the format."""
