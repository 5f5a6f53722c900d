"""The C++ core under the compiler's sanitizers, as `tools/dev.py asan` runs it."""

import importlib
import os
import shutil
import subprocess
import sys

import pytest

from paths import ROOT


@pytest.mark.parametrize("text", ["-1", "0", "nan", "inf"])
def test_a_time_of_the_fuzz_targets_is_above_0(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    sanitize = importlib.import_module("sanitize")
    with pytest.raises(SystemExit, match="2"):
        sanitize.main(["--fuzz", text])
    assert f"argument --fuzz: {text}: expected" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(sys.platform != "linux", reason="the sanitizers are tried with GCC and Clang on Linux")
@pytest.mark.skipif(not (os.environ.get("CXX") or shutil.which("c++")), reason="needs a C++ compiler")
@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_the_sanitizers_find_no_fault(sanitizer: str) -> None:
    result = subprocess.run(
        [sys.executable, ROOT / "tools" / "sanitize.py", "--sanitizer", sanitizer, "--fuzz", "2"],
        capture_output=True,
        text=True,
        timeout=1700,
    )
    printed = result.stdout + result.stderr
    if "unexpected memory mapping" in printed:
        pytest.skip("ThreadSanitizer does not know the memory layout of this kernel (vm.mmap_rnd_bits > 28)")
    assert result.returncode == 0, printed[-4000:]
    assert printed.count(" 0 failures") == 3, printed[-4000:]
