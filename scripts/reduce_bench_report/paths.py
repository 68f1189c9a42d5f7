"""Where the files lie that the package reads: the one place that tells a checkout from an install.

`configs/` stands at the root of a checkout; the wheel holds a copy of it beside the modules
(`force-include` in pyproject.toml). All else that the package ships is beside the modules in both.
"""

from pathlib import Path

PACKAGE = Path(__file__).parent
IS_INSTALLED = (PACKAGE / "configs").is_dir()
SHIPPED = PACKAGE if IS_INSTALLED else PACKAGE.parents[1]
# Where results/ and build/ are looked for: the checkout, or where an installed copy runs.
ROOT = Path.cwd() if IS_INSTALLED else SHIPPED

SCHEMAS = SHIPPED / "configs" / "schema"
PUBLISHED = PACKAGE / "published"
PUBLISHED_SCHEMA = PACKAGE / "published.schema.json"
HARDWARE = PACKAGE / "hardware.json"
HARDWARE_SCHEMA = PACKAGE / "hardware.schema.json"
CLAIMS = PACKAGE / "claims.json"
CLAIMS_SCHEMA = PACKAGE / "claims.schema.json"
PAGE = PACKAGE / "page"

# The words that run this package's command line, in a checkout from its root once `make figures`
# has installed what it needs.
ENVIRONMENT, COMMAND = (
    ("", ["reduce-bench-report"])
    if IS_INSTALLED
    else ("PYTHONPATH=scripts ", [".venv/bin/python", "-m", "reduce_bench_report"])
)


def shipped(path: str | Path) -> Path:
    """The file that the project ships as `path`, such as `configs/papers/amp.json`."""
    return SHIPPED / path
