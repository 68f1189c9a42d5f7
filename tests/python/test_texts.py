"""How sizes and times are written."""

from reduce_bench_report.texts import size_text, time_text


def test_texts() -> None:
    assert [size_text(n) for n in (0, 8, 1024, 1025, 1 << 30)] == [
        "0", "8", "2^10", "1,025", "2^30",
    ]  # fmt: skip
    assert [time_text(t) for t in (12.5, 2500, 3.2e6, 1.5e9)] == [
        "12.5 ns", "2.5 µs", "3.2 ms", "1.5 s",
    ]  # fmt: skip
