"""Takes the memory of a GPU until it is told to end: `python device_memory.py DEVICE LEFT_MB`.

It prints "taken N MB", and holds the memory until its input ends. It calls NVIDIA's driver itself, with plain
allocations, and needs no package. Source: the CUDA driver API.
"""

import ctypes
import sys

SMALLEST = 1 << 20


def take(device: int, left_mb: int) -> int:
    """Takes all but `left_mb` MB of a GPU's free memory; returns how many bytes. Raises OSError."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name: str, *arguments: object) -> None:
        status = getattr(cuda, name)(*arguments)
        if status:
            raise OSError(f"{name}: CUDA error {status}")

    handle, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(handle), device)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
    call("cuCtxSetCurrent", context)
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    wanted = max(0, free.value - (left_mb << 20))
    taken, size = 0, wanted
    while taken < wanted and size >= SMALLEST:
        address = ctypes.c_uint64()
        if cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(min(size, wanted - taken))) == 0:
            taken += min(size, wanted - taken)
        else:
            size //= 2
    return taken


if __name__ == "__main__":
    sys.stdout.write(f"taken {take(int(sys.argv[1]), int(sys.argv[2])) >> 20} MB\n")
    sys.stdout.flush()
    sys.stdin.read()
