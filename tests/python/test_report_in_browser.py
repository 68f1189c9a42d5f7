"""The report in a real browser: what it loads, and whether its charts, links and records work."""

import io
import itertools
import json
import os
import re
import shutil
import sys
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import made_up
import pytest
from made_up import known_wrong, point, unmeasured
from PIL import Image
from reduce_bench_report import report, styles
from reduce_bench_report.loader import load
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE_S = 60  # how long a busy machine may take; nothing waits that long when idle
DESKTOP, PHONE = (1280, 900), (390, 800)

Save = Callable[..., Path]

pytestmark = pytest.mark.slow


class Tab:
    """A browser window with helpers to read the report in it."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def resize(self, size: tuple[int, int]) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 600},
        )

    def open(self, path: Path, size: tuple[int, int] = DESKTOP) -> None:
        self.logs()
        self.resize(size)
        self.driver.get(path.as_uri())
        self.until(lambda: self.run("return performance.getEntriesByName('report-ready').length"))

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def until(self, condition: Callable[[], Any]) -> Any:
        return WebDriverWait(self.driver, PATIENCE_S, 0.05).until(lambda _: condition())

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def logs(self) -> tuple[list[str], list[str]]:
        """Messages on the console and addresses asked for since the last call."""
        console = [entry["message"] for entry in self.driver.get_log("browser")]
        events = [json.loads(entry["message"]) for entry in self.driver.get_log("performance")]
        asked = [
            event["message"]["params"]["request"]["url"]
            for event in events
            if event["message"]["method"] == "Network.requestWillBeSent"
        ]
        return console, asked

    def show(self, section: str) -> None:
        """Opens a tab of the page by its link."""
        self.one(f"nav a[href='#{section}']").send_keys(Keys.ENTER)
        self.until(lambda: self.one(f"#{section}").is_displayed())

    # ---- the main chart

    def chart(self) -> None:
        """Brings the chart into view, which draws it."""
        self.show("charts")
        self.until(lambda: self.all("#charts .chart .main-svg"))

    def traces(self, chart: str = "#charts .chart") -> dict[str, dict[str, Any]]:
        """The lines drawn, by name."""
        script = """return document.querySelector(arguments[0]).data.map(
            (t) => ({name: t.name, x: t.x, y: t.y, colour: t.line?.color}))"""
        return {trace["name"]: trace for trace in self.run(script, chart)}

    def choose(self, name: str, text: str) -> None:
        Select(self.one(f"#charts [data-choice='{name}']")).select_by_visible_text(text)

    def toggle(self, family: str) -> None:
        self.one(f"#charts [data-toggle='{family}']").click()

    # ---- the record

    def record(self) -> str | None:
        """The text of the record shown; None where none is."""
        shown = self.all("dialog[open]")
        return shown[0].text if shown else None

    def close_record(self) -> None:
        ActionChains(self.driver).send_keys(Keys.ESCAPE).perform()
        self.until(lambda: self.record() is None)


@pytest.fixture(scope="module")
def new_tab() -> Iterator[Callable[[], Tab]]:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver_path = shutil.which("chromedriver")
    if browser is None or driver_path is None:
        reason = "there is no Chromium with chromedriver (scripts/setup.sh browser says more)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses root a sandbox
    opened: list[webdriver.Chrome] = []

    def start() -> Tab:
        service = webdriver.ChromeService(executable_path=driver_path)
        opened.append(webdriver.Chrome(options=options, service=service))
        return Tab(opened[-1])

    yield start
    for each in opened:
        each.quit()


@pytest.fixture(scope="module")
def tab(new_tab: Callable[[], Tab]) -> Tab:
    return new_tab()


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Writes the page of one run with these points."""

    def write(points: list[made_up.Json], *, gpu: bool = True, **changes: Any) -> Path:
        document = made_up.results(points, gpu=gpu) | changes
        runs = [load(made_up.write(document, tmp_path / "run.json"))]
        output = tmp_path / "report.html"
        output.write_text(report.page(runs, DESCRIBED, FIGURES), encoding="utf-8")
        return output

    return write


DESCRIBED = {"b/y": {"id": "b/y", "title": "described", "description": "b/y: what it does"}}
FIGURES = [
    report.Figure(
        "square",
        "A square",
        [
            report.Panel(
                '<svg xmlns="http://www.w3.org/2000/svg" width="90pt" height="90pt" '
                'viewBox="0 0 90 90"><rect width="90" height="90" fill="#123456"/></svg>'
            )
        ],
    )
]
SIZES = (1 << 10, 1 << 14, 1 << 18)
POINTS = [
    *(point("a/x", n, n / 8, params={"block": block}, launch=launch)
      for n in SIZES
      for block, launch in (
          ("128", None),
          ("256", {"kernels": 1, "grid": 7, "block": 256, "shared_bytes": 0, "registers": 9}),
      )),
    *(point("b/y", n, n / 4) for n in SIZES),
    unmeasured("c/z", SIZES[0], "skipped", "n is too small for c/z"),
    *(point("c/z", n, n / 2, finish="host") for n in SIZES[1:]),
    known_wrong("d/w", SIZES[0], 1.0),
    point("b/y", SIZES[0], 300.0, type="f32",
          verification=made_up.verification() | {"error_ulp": 3.0}),
]  # fmt: skip


def test_opens_silently_and_loads_nothing(tab: Tab, save: Save) -> None:
    path = save(POINTS)
    tab.open(path)
    tab.chart()
    tab.show("figures")
    tab.run("document.querySelector('figure').scrollIntoView()")
    tab.until(lambda: tab.run("return document.querySelector('figure img').naturalWidth") > 0)
    tab.show("variants")
    for details in tab.all("#variants details"):
        tab.run("arguments[0].open = true; arguments[0].scrollIntoView()", details)
    tab.until(lambda: len(tab.all(".chart .main-svg")) > len(tab.all(".chart")))
    console, asked = tab.logs()
    assert console == []
    assert asked[0] == path.as_uri()
    assert all(address.startswith("data:image/") for address in asked[1:])


def test_policy_stops_other_programs(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    tab.run("""const script = document.createElement('script');
               script.textContent = 'window.hacked = 1';
               document.head.append(script);
               document.body.insertAdjacentHTML('beforeend', '<img src="http://127.0.0.1:9/">');""")
    assert tab.run("return window.hacked") is None
    console, _ = tab.logs()
    assert len([message for message in console if "Content Security Policy" in message]) == 2


def test_chart_draws_the_points(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    tab.chart()
    traces = tab.traces()
    assert list(traces) == [
        "read ceiling", "a/x block=128", "b/y", "c/z (host)", "no verified time",
    ]  # fmt: skip
    assert traces["b/y"]["x"] == list(SIZES)
    assert traces["b/y"]["y"] == pytest.approx([16 / made_up.CEILING_GB_PER_S] * 3)
    assert traces["read ceiling"]["y"] == pytest.approx([1] * 3)
    assert traces["b/y"]["colour"] == styles.COLOURS[styles.SHADES]
    assert "Without a verified time here: d" in tab.one("#charts p[role=status]").text


def test_measures(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    tab.chart()
    ceiling_ns = [n * 4 / made_up.CEILING_GB_PER_S for n in SIZES]
    for measure, line, ceiling in (
        ("bandwidth, GB/s", [16.0] * 3, [made_up.CEILING_GB_PER_S] * 3),
        ("median time per input, ns", [0.25] * 3, [4 / made_up.CEILING_GB_PER_S] * 3),
        ("median time, ns", [n / 4 for n in SIZES], ceiling_ns),
        ("share of read ceiling", [16 / made_up.CEILING_GB_PER_S] * 3, [1] * 3),
    ):
        tab.choose("y", measure)
        traces = tab.traces()
        assert traces["b/y"]["y"] == pytest.approx(line), measure
        assert traces["read ceiling"]["y"] == pytest.approx(ceiling), measure
        assert tab.run("return document.querySelector('#charts .ytitle').textContent") == measure


def test_families_and_lines_toggle(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    tab.chart()
    tab.toggle("b")
    assert list(tab.traces()) == [
        "read ceiling", "a/x block=128", "c/z (host)", "no verified time",
    ]  # fmt: skip
    tab.toggle("b")
    assert "b/y" in tab.traces()
    tab.choose("lines", "every variant")
    assert list(tab.traces()) == [
        "read ceiling", "a/x block=128", "a/x block=256", "b/y", "c/z (host)", "d/w",
        "no verified time",
    ]  # fmt: skip
    assert tab.traces()["no verified time"]["x"] == [SIZES[0]] * 2
    assert tab.traces()["c/z (host)"]["y"][0] is None
    tab.toggle("a/x block=128")
    assert "a/x block=128" not in tab.traces()
    assert tab.run("return document.querySelector(\"[data-toggle='a']\").indeterminate")
    tab.one("#charts .legend button:last-of-type").click()  # none
    assert list(tab.traces()) == ["read ceiling"]
    tab.one("#charts .legend button").click()
    assert len(tab.traces()) == 7


def test_axes_and_dimensions(tab: Tab, save: Save) -> None:
    labelled: dict[str, Any] = {
        "operation": "multireduce",
        "labels": {"name": "zipf", "exponent": 1.2},
    }
    points = [
        *POINTS,
        *(
            point("m/x", n, n / buckets, buckets=buckets, params={"F": str(f)}, **labelled)
            for n in SIZES[:2]
            for buckets in (16, 256)
            for f in (1, 2, 4)
        ),
    ]
    tab.open(save(points))
    tab.chart()
    tab.choose("x", "block")
    assert tab.traces()["a/x"]["x"] == [128, 256]
    assert "b/y" not in tab.traces()
    tab.choose("operation", "multireduce")
    assert tab.traces()["m/x F=1"]["x"] == list(SIZES[:2])
    tab.choose("lines", "every variant")
    tab.choose("y", "median time, ns")
    offered = [option.text for option in Select(tab.one("#charts [data-choice='x']")).options]
    assert offered == ["n", "buckets", "F"]
    tab.choose("x", "n")
    tab.choose("buckets", "16")
    assert tab.traces()["m/x F=4"]["y"] == pytest.approx([n / 16 for n in SIZES[:2]])
    tab.choose("x", "buckets")
    tab.choose("n", "2^10")
    assert tab.traces()["m/x F=4"]["x"] == [16, 256]
    assert tab.traces()["m/x F=4"]["y"] == pytest.approx([1024 / 16, 1024 / 256])
    tab.choose("x", "F")
    assert tab.traces()["m/x"]["x"] == [1, 2, 4]
    scale = "return document.querySelector('#charts .chart').layout.xaxis.type"
    assert tab.run(scale) == "log"
    tab.one("#charts [data-choice='log-x']").click()
    assert tab.run(scale) == "linear"
    tab.choose("operation", "reduce")
    tab.choose("type", "f32")
    assert list(tab.traces()["b/y"]["x"]) == [SIZES[0]]


def marker(tab: Tab, name: str, place: int) -> WebElement:
    """The element that draws one point of the main chart."""
    index = list(tab.traces()).index(name)
    lines = tab.all("#charts .scatterlayer .trace")
    drawn = [line.find_elements(By.CSS_SELECTOR, ".points path") for line in lines]
    tab.run("document.querySelector('#charts .chart').scrollIntoView({block: 'center'})")
    # the ceiling has a line and no markers
    return drawn[index][place]


def test_hover_shows_the_record_and_a_click_opens_it(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    tab.chart()
    tab.choose("y", "bandwidth, GB/s")  # where points are far enough apart to aim at one
    where = marker(tab, "a/x block=128", 2)
    ActionChains(tab.driver).move_to_element(where).perform()
    tab.until(lambda: tab.all("#charts .hovertext"))
    text = tab.one("#charts .hovertext").text
    for part in ("a/x", "block=128", "n = 2^18", "32.77 µs", "20 samples", "32 GB/s", "0.8 %",
                 "counted: 1 instructions"):  # fmt: skip
        assert part in text, text
    ActionChains(tab.driver).click(where).perform()
    record = tab.until(tab.record)
    assert record.startswith("Close\na/x block=128, n = 2^18\n")
    for part in ("median ns 32,768", "ci low ns 32,440.32", "samples 20", "passed before true",
                 "expected 42", "input checksum 00ff", "stopped by ci"):  # fmt: skip
        assert part in record, record
    tab.close_record()


def test_no_verified_time_says_why(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    tab.chart()
    ActionChains(tab.driver).move_to_element(marker(tab, "no verified time", 0)).perform()
    tab.until(lambda: tab.all("#charts .hovertext"))
    assert "skipped" in tab.one("#charts .hovertext").text
    assert "n is too small for c/z" in tab.one("#charts .hovertext").text


def test_outcomes_are_told_apart_without_colour(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    tab.chart()
    tab.choose("lines", "every variant")
    trace = tab.run(
        "return document.querySelector('#charts .chart').data.find(t => t.yaxis === 'y2')"
    )
    assert set(trace["marker"]["symbol"]) == {"line-ew", "y-down"}
    assert len(set(trace["text"])) == 2  # the lines' own markers
    assert "– skipped, Y wrong (known)" in tab.one("#charts .legend").text


def test_every_link_leads_somewhere(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    tab.run("for (const each of document.querySelectorAll('details')) each.open = true")
    tab.until(lambda: tab.all("#charts table a"))
    dead = tab.run(
        """return [...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))
        .filter((to) => !/^#/.test(to) || !(document.getElementById(to.slice(1)) ||
                (/^#point-\\d+$/.test(to) && Number(to.slice(7)) < arguments[0])))""",
        len(POINTS),
    )
    assert dead == []
    assert len(tab.all("a[href^='#point-']")) > len(POINTS)


def test_number_leads_to_its_record_again_and_again(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    link = next(each for each in tab.all("#summary a[href^='#point-']") if "128 ns" in each.text)
    for _ in range(2):
        tab.run("arguments[0].scrollIntoView({block: 'center'})", link)
        link.click()
        record = tab.until(tab.record)
        assert "a/x block=128, n = 2^10" in record
        assert "median ns 128" in record
        tab.close_record()
    link.click()
    tab.until(tab.record)
    tab.one("dialog a[href^='#variant-']").click()
    tab.until(lambda: tab.record() is None)
    assert tab.one("[id='variant-a/x']").get_attribute("open")


def test_address_with_a_record_or_a_variant_opens_it(tab: Tab, save: Save) -> None:
    path = save(POINTS)
    tab.open(path)
    for place, expected in ((0, "a/x block=128, n = 2^10"), (9, "n is too small for c/z")):
        tab.driver.get("about:blank")
        tab.driver.get(f"{path.as_uri()}#point-{place}")
        assert expected in tab.until(tab.record)
    tab.driver.get("about:blank")
    tab.driver.get(f"{path.as_uri()}#variant-b/y")
    variant = "[id='variant-b/y']"
    tab.until(lambda: tab.all(f"{variant} .chart .main-svg"))
    assert "b/y: what it does" in tab.one(variant).text
    assert list(tab.traces(f"{variant} .chart")) == ["read ceiling", "b/y"]
    tab.run("location.hash = 'variant-a/x'")
    other = "[id='variant-a/x'] .chart"
    tab.until(lambda: tab.all(f"{other} .main-svg"))
    lines = {name: trace["colour"] for name, trace in tab.traces(other).items()}
    assert lines["a/x block=128"] != lines["a/x block=256"]
    tab.driver.get("about:blank")
    tab.driver.get(f"{path.as_uri()}#point-99")  # of another report
    assert tab.record() is None


def test_keyboard(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    tab.chart()
    box = tab.one("#charts [data-toggle='b']")
    box.send_keys(Keys.SPACE)
    assert "b/y" not in tab.traces()
    focused = tab.driver.switch_to.active_element
    assert focused.get_attribute("data-toggle") == "b"
    focused.send_keys(Keys.SPACE)
    assert "b/y" in tab.traces()
    measure = tab.one("#charts [data-choice='y']")
    measure.send_keys("ba")
    assert tab.traces()["b/y"]["y"] == pytest.approx([16.0] * 3)
    assert tab.driver.switch_to.active_element.get_attribute("data-choice") == "y"
    tab.one("#charts details summary").send_keys(Keys.ENTER)
    link = tab.until(lambda: tab.all("#charts table a[href^='#point-']"))[0]
    link.send_keys(Keys.ENTER)
    tab.until(tab.record)
    assert tab.run("return document.activeElement.closest('dialog') !== null")
    tab.close_record()
    assert tab.run("return document.activeElement === arguments[0]", link)


def test_table_of_points_is_searched_and_sorted(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    tab.show("points")
    rows = "#points tbody tr"
    assert len(tab.all(rows)) == len(POINTS)
    search = tab.one("#points input")
    search.send_keys("C/z skipped")
    assert len(tab.all(rows)) == 1
    assert "n is too small for c/z" in tab.one(rows).text
    assert "1 of 14 points" in tab.one("#points p").text
    search.clear()
    search.send_keys("reduce i32 ok")
    heading = next(each for each in tab.all("#points thead button") if each.text == "median time")
    heading.click()
    heading.click()
    first = tab.one(rows).text
    assert "c/z" in first
    assert "131.1 µs" in first
    sorted_by = [each.text for each in tab.all("#points th[aria-sort='descending']")]
    assert sorted_by == ["median time"]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_fits_the_window_and_is_painted(
    tab: Tab, save: Save, tmp_path: Path, size: tuple[int, int]
) -> None:
    tab.open(save(POINTS), size)
    tab.run("for (const each of document.querySelectorAll('details')) each.open = true")
    tab.chart()
    assert tab.run("return document.documentElement.scrollWidth") <= size[0]
    for chart in tab.all("#charts .main-svg"):
        assert chart.rect["width"] <= size[0]
    tab.run("document.querySelector('#charts .chart').scrollIntoView({block: 'center'})")
    shot = tab.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    picture = Image.open(io.BytesIO(b64decode(shot["data"]))).convert("RGB")
    picture.save(tmp_path / "screenshot.png")
    assert picture.size == size
    painted = {colour for _, colour in picture.getcolors(1 << 24) or []}
    for family in (0, 1, 2):  # a, b, c
        assert tuple(bytes.fromhex(styles.COLOURS[family][1:])) in painted
    tab.show("figures")
    tab.run("document.querySelector('figure').scrollIntoView()")
    tab.until(lambda: tab.run("return document.querySelector('figure img').complete"))
    assert tab.one("figure img").rect["width"] == pytest.approx(1.6 * 120)  # 90 pt


def test_hostile_texts_stay_texts(tab: Tab, save: Save) -> None:
    hostile = "</script><img src=x onerror='window.hacked=1'><script>window.hacked=1</script><b>"
    points = [
        point("a/x", 1024, 10.0, title=hostile, paper=hostile, params={"block": hostile}),
        point("a/x", 1024, 20.0, params={"block": "2"}),
        unmeasured("a/x", 2048, "failed", hostile, params={"block": "2"}),
    ]
    tab.open(save(points))
    tab.chart()
    ActionChains(tab.driver).move_to_element(marker(tab, "no verified time", 0)).perform()
    tab.until(lambda: tab.all("#charts .hovertext"))
    assert "<b>" in tab.one("#charts .hovertext").text  # which Plotly would make bold
    tab.run("location.hash = 'point-2'")
    assert hostile in tab.until(tab.record)
    tab.close_record()
    assert hostile in tab.one("#charts .legend").text
    tab.show("points")
    assert hostile in tab.one("#points").text
    assert tab.run("return window.hacked") is None
    console, _ = tab.logs()
    assert console == []


@pytest.mark.parametrize(
    "points",
    [
        [],
        [unmeasured("cpu/x", 1024, "failed", "crashed", backend="cpu")],
        [point("cpu/x", 0, 10.0, backend="cpu", ceiling_share=None)],
        [point("cpu/x", 1024, 10.0, backend="cpu", primary_mode="hot", ceiling_share=None)],
    ],
    ids=["empty", "nothing-right", "zero-elements", "hot"],
)
def test_poor_runs(tab: Tab, save: Save, points: list[made_up.Json]) -> None:
    tab.open(save(points, gpu=False, interrupted=True))
    assert "run.json was interrupted" in tab.one("#summary .warning").text
    tab.show("charts")
    if points:
        tab.until(lambda: tab.all("#charts .chart .main-svg"))
    else:
        assert "There is no point to draw." in tab.one("#charts").text
    console, _ = tab.logs()
    assert console == []


def many_points() -> list[made_up.Json]:
    """5000 of 20 families, as a full run has them: several types, operators and operations."""
    sizes = [1 << exponent for exponent in range(10, 30)]
    scalar = itertools.product(range(20), ("i32", "f32"), ("sum", "min"), ("64", "256"), sizes)
    points = [
        point(f"family{family}/reduce", n, n / (family + 3), type=type_, op=op,
              params={"block": block})
        for family, type_, op, block, n in scalar
    ]  # fmt: skip
    labels = ("uniform", "degenerate", "sorted", "zipf", "runs", "ends")
    keyed = itertools.product(range(15), labels, [1 << exponent for exponent in range(20)])
    points += [
        point(f"family{family}/multireduce", 1 << 26, 1e5 + family * buckets,
              operation="multireduce", buckets=buckets, labels={"name": name})
        for family, name, buckets in keyed
    ]  # fmt: skip
    assert len(points) == 5000
    return points


@pytest.mark.alone
def test_opens_quickly_with_5000_points(new_tab: Callable[[], Tab], save: Save) -> None:
    """Processor time of the page, in a browser that has never seen it.

    Time on the clock depends on what else the machine does. Caches and cores that are shared make
    processor time vary too, so the best of several browsers counts. The chart takes most of its
    time to evaluate Plotly.
    """
    path = save(many_points())
    opened_s, drawn_s = [], []
    for _ in range(4):
        tab = new_tab()
        tab.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        tab.open(path)
        assert tab.run("return document.querySelectorAll('*').length") < 20_000
        assert tab.run("return typeof Plotly") == "undefined"  # until a chart is in view
        opened_s.append(processor_s(tab))
        tab.chart()
        drawn_s.append(processor_s(tab))
        assert len(tab.traces()) == 21
        tab.driver.quit()
        if opened_s[-1] < 1.5 and drawn_s[-1] < 6:
            break
    print(f"opened after {min(opened_s):.2f} s, first chart after {min(drawn_s):.2f} s")
    assert min(opened_s) < 1.5
    assert min(drawn_s) < 6


def processor_s(tab: Tab) -> float:
    metrics = tab.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "ThreadTime"))


# ---- the picker, the tabs, cards and the search

FASTEST, LIBRARY = "onepass/multireduce", "cub/sort-reduce-by-key"


def keyed(variant: str, buckets: int, time_ns: float, **changes: Any) -> made_up.Json:
    return point(variant, 1 << 26, time_ns, type="f32", operation="multireduce", buckets=buckets,
                 labels={"name": "uniform"}, **changes)  # fmt: skip


KEYED = [
    *(keyed(FASTEST, buckets, 135_800.0) for buckets in (16, 1024)),
    *(keyed(LIBRARY, buckets, 1_371_000.0) for buckets in (16, 256, 1024)),
    keyed("b/x", 1024, 136_000.0),
]


def pick(tab: Tab, name: str, text: str) -> None:
    chosen = tab.one(f"#picker [data-pick='{name}']")
    if chosen.tag_name == "select":
        Select(chosen).select_by_visible_text(text)
        return
    chosen.clear()
    chosen.send_keys(text, Keys.ENTER)


def answer(tab: Tab) -> str:
    return tab.one("#picker .answer").text


def test_stranger_picks_a_kernel(tab: Tab, save: Save) -> None:
    tab.open(save([*POINTS, *KEYED]))
    pick(tab, "operation", "multireduce")
    pick(tab, "n", "10^6")
    pick(tab, "buckets", "3000")
    said = answer(tab)
    assert "n = 1,000,000 was not measured: this is the nearest, 2^26." in said
    assert "m = 3,000 was not measured: this is the nearest, 2^10." in said
    assert "fastest of 3 measured" in said
    assert f"{FASTEST} takes 135.8 µs" in said
    assert "% of the measured read ceiling" in said
    assert "Runner-up: b/x, 136 µs, a tie within the noise." in said
    assert f"Library: {LIBRARY}, 1.371 ms, 10.1 × as long." in said
    assert FASTEST in tab.one("#picker svg").text
    address = tab.run("return location.href")
    assert "buckets=3000" in address
    tab.driver.get("about:blank")
    tab.driver.get(address)
    assert answer(tab) == said


def test_nothing_is_picked_where_a_contender_is_missing(tab: Tab, save: Save) -> None:
    tab.open(save(KEYED))
    pick(tab, "buckets", "256")
    said = answer(tab)
    assert "Not all contenders were measured here, so none is recommended." in said
    assert f"{FASTEST} is missing; at 2^26, 16 buckets it is the fastest" in said
    assert not tab.all("#picker .big")


def test_one_tab_is_shown_and_links_open_the_others(tab: Tab, save: Save) -> None:
    path = save(POINTS)
    tab.open(path)
    shown = """return [...document.querySelectorAll('main > section')]
        .filter((section) => !section.hidden).map((section) => section.id)"""
    assert tab.run(shown) == ["summary"]
    for section in tab.run(
        "return [...document.querySelectorAll('nav a')].map((a) => a.hash.slice(1))"
    ):
        tab.show(section)
        assert tab.run(shown) == [section]
        assert tab.one("nav a[aria-current]").get_attribute("hash") == f"#{section}"
        if section in ("summary", "points", "charts", "environment"):
            assert tab.run("return document.documentElement.scrollHeight") < 6000
    for address, section in (("figure-square", "figures"), ("variant-b/y", "variants")):
        tab.driver.get("about:blank")
        tab.driver.get(f"{path.as_uri()}#{address}")
        assert tab.run(shown) == [section]


def test_without_a_program_everything_is_shown(tab: Tab, save: Save) -> None:
    path = save(POINTS)
    tab.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        tab.driver.get(path.as_uri())
        for section in report.HEADINGS:
            assert tab.one(f"#{section} h2").is_displayed()
    finally:
        tab.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_search_finds_what_it_shows(tab: Tab, save: Save) -> None:
    tab.open(save([point("a/x", 1 << 26), point("a/x", 5_533_214), point("a/x", 64)]))
    tab.show("points")
    search = tab.one("#points input")
    for text in ("2^26", "67108864", "67,108,864", "5,533,214", "5533214"):
        search.clear()
        search.send_keys(text)
        assert len(tab.all("#points tbody tr")) == 1, text


def test_columns_of_points_fit_the_window(tab: Tab, save: Save) -> None:
    points = [
        *KEYED,
        keyed("eilers/shared-bank-multipass", 1 << 20, 1e6,
              params={"block": "256", "blocks_per_sm": "32", "form": "corrected"},
              verification=made_up.verification() | {"error_ulp": 3.0}),
        point("jradi/unrolled", 5_533_214, 1e6, ceiling_share=2.47,
              distribution={"name": "cancelling", "condition": 1e6},
              params={"block": "256", "predicate": "multiply", "tree": "barrier-free"}),
        keyed("cub/x", 64, 1e6) | {"labels": {"name": "runs", "length": 1 << 20}},
        unmeasured("eilers/global-atomic-sorted", 1 << 26, "skipped", "too many buckets " * 9),
    ]  # fmt: skip
    tab.open(save(points))
    tab.show("points")
    box = tab.run("return document.querySelector('#points table').getBoundingClientRect().right")
    assert box <= DESKTOP[0]
    assert "share of read ceiling" in tab.one("#points thead").text.replace("\n", " ")
    assert "too many buckets" in tab.one("#points tbody").text
    assert "run.json" not in tab.one("#points tbody").text
    tab.one("#points tbody").find_element(By.LINK_TEXT, "eilers/shared-bank-multipass").click()
    record = tab.until(tab.record)
    assert "From run.json" in record
    assert "error ulp 3" in record
    tab.close_record()


def test_figures_have_an_index(tab: Tab, save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = ["reduce-gbs", "keyed-multireduce", "jradi-T1", "eilers-T4.1", "eilers-F5.9"]
    figures = [report.Figure(each, f"About {each}", FIGURES[0].panels) for each in ids]
    monkeypatch.setattr(sys.modules[__name__], "FIGURES", figures)
    tab.open(save(POINTS), PHONE)
    tab.show("figures")
    assert [each.text for each in tab.all("#figures .index a")] == ids
    groups = [each.text for each in tab.all("#figures h3")[:3]]
    assert groups == ["All sources together (2)", "jradi (1)", "eilers (2)"]
    assert tab.run("return document.documentElement.scrollWidth") <= PHONE[0]
    top = "return document.getElementById(arguments[0]).getBoundingClientRect().top"
    assert tab.run(top, "figure-eilers-F5.9") > PHONE[1]
    tab.all("#figures .index a")[-1].click()
    tab.until(lambda: 0 <= tab.run(top, "figure-eilers-F5.9") < PHONE[1])
    tab.all("#figures h3.group a")[-1].click()
    tab.until(lambda: 0 <= tab.run(top, "figures-index-3") < PHONE[1])


def test_paper_has_the_figures_that_were_never_in_view(tab: Tab, save: Save) -> None:
    tab.open(save(POINTS))
    assert not tab.one("#figures img").get_attribute("src")
    printed = b64decode(tab.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", printed, re.S)
    drawn = b"".join(zlib.decompressobj().decompress(each) for each in streams if each[:1] == b"x")
    square = " ".join(f"{int(channel, 16) / 255:.4f}"[1:] for channel in ("12", "34", "56"))
    fills = re.findall(rb"([.0-9]+) ([.0-9]+) ([.0-9]+) rg", drawn)
    assert square in {" ".join(f"{float(each):.4f}"[1:] for each in fill) for fill in fills}


@pytest.mark.parametrize("section", ["summary", "points"])
def test_points_are_cards_on_a_phone(tab: Tab, save: Save, section: str) -> None:
    tab.open(save(POINTS), PHONE)
    tab.show(section)
    assert not tab.one(f"#{section} thead").is_displayed()
    for cell in tab.all(f"#{section} tbody tr:first-child td"):
        assert cell.rect["x"] + cell.rect["width"] <= PHONE[0]
    for caption in tab.all(f"#{section} caption"):
        assert caption.rect["width"] > PHONE[0] / 2
    tab.resize(DESKTOP)
    assert tab.one(f"#{section} thead").is_displayed()


def test_panels_stack_on_a_phone(tab: Tab, save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    doubled = [report.Figure("two", "Two squares", FIGURES[0].panels * 2)]
    monkeypatch.setattr(sys.modules[__name__], "FIGURES", doubled)
    path = save(POINTS)
    for size in (PHONE, DESKTOP):
        tab.open(path, size)
        tab.show("figures")
        first, second = (image.rect for image in tab.all("figure img"))
        stacked = size is PHONE
        assert (second["y"] >= first["y"] + first["height"]) is stacked
        assert (second["x"] >= first["x"] + first["width"]) is not stacked
        assert second["x"] + second["width"] <= size[0]


def test_shares_above_the_ceiling_are_marked(tab: Tab, save: Save) -> None:
    tab.open(save([point("a/x", 1 << 20, 100.0, ceiling_share=2.47)]))
    mark = "▲ ceiling measured too low, by 2.47 × or more"
    assert mark in answer(tab)
    assert mark in tab.one("#summary tbody").text
    assert "At 1 point a variant took less than" in tab.one("#summary .warning").text
    tab.show("points")
    assert mark in tab.one("#points tbody").text
