"""The driver's descriptions of its variants: the output of `reduce-bench list --json`."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from reduce_bench_report import paths
from reduce_bench_report.loader import InputError

TIMEOUT_S = 60

Variants = dict[str, dict[str, Any]]  # by id


def from_file(path: Path) -> Variants:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read '{path}': {error}") from error
    return _parsed(text, f"'{path}'")


def from_driver(driver: Path | None = None) -> Variants:
    """What `driver` says, by default the one that stands beside this package.

    `InputError` where there is no driver or it does not answer.
    """
    driver = driver or _found()
    if driver is None or not driver.exists():
        raise InputError("the driver is not built; run make build")
    try:
        ended = subprocess.run(
            [driver, "list", "--json"],
            capture_output=True,
            check=True,
            encoding="utf-8",
            timeout=TIMEOUT_S,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as error:
        raise InputError(f"`{driver} list --json` failed ({error}); run make build") from error
    return _parsed(ended.stdout, f"the output of `{driver} list --json`")


def _found() -> Path | None:
    """The driver that a checkout built, or that is installed on the PATH."""
    if not paths.IS_INSTALLED:
        return paths.ROOT / "build" / "bin" / "reduce-bench"
    installed = shutil.which("reduce-bench")
    return Path(installed) if installed else None


def _parsed(text: str, source: str) -> Variants:
    try:
        entries = json.loads(text)
        return {str(entry["id"]): dict(entry) for entry in entries}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(
            f"{source} is not what `reduce-bench list --json` writes; save its output to a file"
        ) from error
