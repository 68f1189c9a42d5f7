"""Writes files that are whole or as they were, where the disk is full or Ctrl-C comes, too."""

import os
from contextlib import suppress
from pathlib import Path

from reduce_bench_report import interrupts
from reduce_bench_report.loader import InputError


def write(path: Path, content: str | bytes) -> None:
    """Writes it beside its place, in a folder that is made where there is none, and moves it there.

    What is no file, such as a pipe, is written to as it is. `InputError` where that fails.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            with interrupts.put_off():
                _replace(path.resolve(), data)  # so that a link stays one
    except OSError as error:
        raise InputError(
            f"cannot write '{path}': {error.strerror}; choose another place, or free space there "
            "and make it writable"
        ) from error


def _replace(place: Path, data: bytes) -> None:
    if not place.parent.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f"{place.name}.tmp")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def remove(path: Path) -> None:
    """Removes the file where there is one. `InputError` where that fails."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot remove '{path}': {error.strerror}; make its folder writable"
        ) from error
