"""How sizes, times and messages are written, wherever they are shown."""

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
    return f"{number_text(time_ns / TIME_SCALES[unit])} {unit}"


def number_text(value: float) -> str:
    """Four digits, without an exponent unless the number is below 0.0001: `49,350`, `0.5`."""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:.4g}"


def share_text(share: float) -> str:
    return f"{100 * share:,.0f} %"


def message_text(message: str) -> str:
    """The message as one line of fewer than 300 characters, which loses its middle where it is
    long: its end is the advice."""
    line = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in message)
    return line if len(line) <= 280 else f"{line[:190]} ... {line[-85:]}"
