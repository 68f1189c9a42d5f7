"""A call of PyTorch, CuPy or NumPy replaced by one of onepass, and the results compared.

    python replace.py torch|cupy|numpy [n [m]]

Needs the folder of onepass.py on PYTHONPATH. numpy is for machines without a GPU: its arrays are
reduced on the emulator, if ONEPASS_LIBRARY names libonepass_emulated.so, and not timed.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import onepass


def with_torch(n: int, m: int) -> bool:
    import torch

    labels = torch.randint(0, m, (n,), device="cuda", dtype=torch.int64)
    values = torch.randint(-8, 8, (n,), device="cuda").to(torch.float32)
    labels32 = labels.to(torch.int32)  # once: kept in the place of the labels of 64 bits
    sums, own_sums = (torch.empty(m, device="cuda") for _ in range(2))
    own_counts = torch.empty(m, device="cuda", dtype=torch.int32)

    def timed(call: Callable[[], Any]) -> float:
        """Microseconds of a call among many: of the GPU, or of its caller where that is more."""
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        calls, start = 20, time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / calls * 1e6

    before = timed(lambda: sums.zero_().scatter_add_(0, labels, values))
    after = timed(lambda: onepass.multireduce(values, labels32, out=own_sums))
    print(f"scatter_add_ {before:9.1f} us   onepass.multireduce {after:9.1f} us")
    counted = timed(lambda: torch.bincount(labels32, minlength=m))
    own_counted = timed(lambda: onepass.histogram(labels32, out=own_counts))
    print(f"bincount     {counted:9.1f} us   onepass.histogram   {own_counted:9.1f} us")
    counts = torch.bincount(labels32, minlength=m)
    return torch.equal(sums, own_sums) and torch.equal(counts, own_counts.to(torch.int64))


def with_cupy(n: int, m: int) -> bool:
    import cupy

    labels = cupy.random.randint(0, m, n, dtype=cupy.int32)
    values = cupy.random.randint(-8, 8, n).astype(cupy.float32)
    sums, own_sums = cupy.zeros(m, cupy.float32), cupy.empty(m, cupy.float32)
    own_counts = cupy.empty(m, cupy.uint32)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        cupy.add.at(sums, labels, values)
        onepass.multireduce(values, labels, out=own_sums)
        counts = cupy.bincount(labels, minlength=m)
        onepass.histogram(labels, out=own_counts)
        stream.synchronize()
    return bool((sums == own_sums).all() and (counts == own_counts).all())


def with_numpy(n: int, m: int) -> bool:
    import numpy as np

    random = np.random.default_rng()
    labels = random.integers(0, m, n).astype(np.int32)
    values = random.integers(-8, 8, n).astype(np.float32)
    sums, own_sums = np.zeros(m, np.float32), np.empty(m, np.float32)
    own_counts = np.empty(m, np.uint32)
    np.add.at(sums, labels, values)
    onepass.multireduce(values, labels, out=own_sums)
    onepass.histogram(labels, out=own_counts)
    counts = np.bincount(labels, minlength=m)
    return bool((sums == own_sums).all() and (counts == own_counts).all())


def main() -> None:
    frameworks = {"torch": with_torch, "cupy": with_cupy, "numpy": with_numpy}
    if len(sys.argv) < 2 or sys.argv[1] not in frameworks:
        sys.exit(__doc__)
    n, m = (int(given) for given in (*sys.argv[2:], *(str(1 << 20), "1000")[len(sys.argv) - 2 :]))
    if not frameworks[sys.argv[1]](n, m):
        sys.exit(f"{sys.argv[1]}: the results differ")
    print(f"{sys.argv[1]}: the results are equal, n = {n}, m = {m}")


if __name__ == "__main__":
    main()
