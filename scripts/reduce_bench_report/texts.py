"""How sizes and times are written, wherever they are shown."""

# multiples of a nanosecond, the largest first
TIME_SCALES = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1.0}


def size_text(n: int) -> str:
    """`2^20` for powers of two from 2^10, else digits in groups."""
    if n >= 1024 and n & (n - 1) == 0:
        return f"2^{n.bit_length() - 1}"
    return f"{n:,}"


def time_text(time_ns: float) -> str:
    """Four digits in the largest unit that leaves at least one before the point: `2.5 µs`."""
    fitting = (unit for unit, scale in TIME_SCALES.items() if time_ns >= scale)
    unit = next(fitting, "ns")
    return f"{time_ns / TIME_SCALES[unit]:.4g} {unit}"
