"""Each room includes only what docs/adr/0013-rooms.md allows it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DRIVER, KERNELS = ROOT / "apps" / "reduce-bench", ROOT / "kernels"
KERNEL_ROOMS = {"api", "platform", "shared"}
OF_APPS = {"common", *(folder.name for folder in DRIVER.iterdir() if folder.is_dir())}
# They call CUDA, the emulator or MPI themselves.
PLATFORM_ROOMS = {"devices", "point", "worker"}
ROWS = re.findall(
    r"^\| `([a-z]+)` \|.*\|(.*)\|$",
    (ROOT / "docs" / "adr" / "0013-rooms.md").read_text(encoding="utf-8"),
    re.M,
)
ALLOWED = {room: set(re.findall(r"`([a-z]+)`", allowed)) for room, allowed in ROWS}


def included(folder: Path) -> dict[str, set[str]]:
    """The first two folders of each path that a file below `folder` includes: which files do so."""
    found: dict[str, set[str]] = {}
    for file in folder.rglob("*"):
        if file.suffix in (".cpp", ".hpp", ".cu", ".cuh"):
            for path in re.findall(r'^#include "([^"]+)"', file.read_text(encoding="utf-8"), re.M):
                found.setdefault(path, set()).add(str(file.relative_to(ROOT)))
    return found


def test_every_room_is_described() -> None:
    rooms = {folder.name for folder in DRIVER.iterdir() if folder.is_dir()}
    assert rooms | KERNEL_ROOMS == set(ALLOWED)


@pytest.mark.parametrize("room", sorted(set(ALLOWED) - KERNEL_ROOMS - {"commands"}))
def test_a_room_of_the_driver_includes_what_it_may(room: str) -> None:
    allowed = {room, "common", "kernels/api"} | ALLOWED[room]
    if room in PLATFORM_ROOMS:
        allowed.add("kernels/platform")
    for path, files in included(DRIVER / room).items():
        first, second, *_ = [*path.split("/"), ""]
        of_room = f"{first}/{second}" if first == "kernels" else first
        assert of_room in allowed, f"{path}, included by {sorted(files)}"


@pytest.mark.parametrize("room", sorted(each.name for each in KERNELS.iterdir() if each.is_dir()))
def test_kernels_include_no_other_operation(room: str) -> None:
    allowed = ALLOWED.get(room, KERNEL_ROOMS) | {room}
    for path, files in included(KERNELS / room).items():
        first, second, *_ = [*path.split("/"), ""]
        if first == "kernels":
            assert second in allowed, f"{path}, included by {sorted(files)}"
        else:
            assert first not in OF_APPS, f"{path}, included by {sorted(files)}"


def test_every_policy_is_chosen_by_compute_capability() -> None:
    """A card takes the newest row that is not newer than it, or the oldest."""
    found = 0
    for folder in (KERNELS, ROOT / "include"):
        for file in sorted(folder.rglob("*.*")):
            if file.suffix not in (".cu", ".hpp"):
                continue
            text = file.read_text(encoding="utf-8")
            for policy, capability in re.findall(r"^struct (\w*Policy)(\d*)\b", text, re.M):
                assert capability, f"{file}: {policy} does not say what it was chosen on"
                row = rf"\bRow<{capability}, {policy}{capability}\b"
                assert re.search(rf"^using {policy} =\s+ByCapability<[^;]*{row}", text, re.M), (
                    f"{file}: {policy}{capability} is no row of {policy}"
                )
                found += 1
    assert found > 20
