"""The program of an installed copy, `reduce-bench-report`."""

from reduce_bench_report import interrupts


def main() -> int:
    interrupts.end_the_program()  # before the imports, which take the first second
    from reduce_bench_report.__main__ import main as command_line

    return command_line()
