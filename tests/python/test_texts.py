"""How sizes and times are written."""

from reduce_bench_report.texts import number_text, size_text, time_text


def test_texts() -> None:
    assert [size_text(n) for n in (0, 8, 1024, 1025, 1 << 30)] == [
        "0", "8", "2^10", "1,025", "2^30",
    ]  # fmt: skip
    assert [time_text(t) for t in (12.5, 2500, 3.2e6, 1.5e9)] == [
        "12.5 ns", "2.5 µs", "3.2 ms", "1.5 s",
    ]  # fmt: skip
    assert [time_text(t) for t in (49.35e6, 12_345e9)] == ["49.35 ms", "12,340 s"]
    assert [number_text(x) for x in (0.5, 999.96, 49_350.0)] == ["0.5", "1,000", "49,350"]
