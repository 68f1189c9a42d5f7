// Shows what the page's data block holds: charts, the table of points, and one record at a time.
// What a chart has, how its lines look and what things are called is decided by report.py and
// charts.py. Every text from the data reaches the page as a text node, never as markup.
"use strict";

const page = JSON.parse(document.getElementById("data").textContent);
const ROWS_SHOWN = 50;
const MODES = page.modes;

// ---- the data: a column is a constant, an index into its distinct values, or one value each ----

function reader(column) {
  if ("constant" in column) return () => column.constant;
  if ("index" in column) return (i) => column.values[column.index[i]];
  return (i) => column.values[i];
}
const readers = Object.fromEntries(
  Object.entries(page.record).map(([path, column]) => [path, reader(column)]));
const nothing = () => null;
const field = (path) => readers[path] ?? nothing;
const derived = Object.fromEntries(
  Object.entries(page.derived).map(([name, column]) => [name, reader(column)]));
const everyPoint = Array.from({ length: page.count }, (_, i) => i);
const timePaths = Object.fromEntries(MODES.map((mode) => [mode, `timing.${mode}.median_ns`]));

const variantOf = field("variant"), sizeOf = field("n"), bucketsOf = field("buckets");
const right = derived.right;
const outcomeIn = (i, mode) => right(i) ? `not timed ${mode}` : derived.outcome(i);
const ranked = (i, mode) => right(i) && field(timePaths[mode])(i) !== null;

// ---- texts -------------------------------------------------------------------------------------

// Made once: toLocaleString makes one on every call, which took most of the time to open a page of many points.
const grouped = new Intl.NumberFormat("en").format;  // up to three digits after the point
const precise = new Intl.NumberFormat("en", { maximumFractionDigits: 9 }).format;
const fourDigits = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 }).format;
const digits = (value) => fourDigits(Number(value.toPrecision(4)));
function timeText(ns) {
  const [unit, scale] = page.time_scales.find(([, each]) => ns >= each) ?? page.time_scales.at(-1);
  return `${digits(ns / scale)} ${unit}`;
}
const sizeText = (n) => page.sizes[n] ?? grouped(n);
const tooHigh = (share) => share > page.highest_share;
const percent = (share) => `${digits(100 * share)} %` +
  (tooHigh(share) ? ` ▲ ceiling measured too low, by ${share.toFixed(2)} × or more` : "");

/** As the results' schema names a field; a ratio has no unit. */
const titleOf = (name) => page.fields[name].title;
const headingOf = (name) => page.fields[name].heading;

// What charts show, by field: of a point that takes so many ns in a mode, and how it is written.
const WRITERS = { number: digits, time: timeText, share: percent };
const MEASURES = Object.fromEntries(page.measures.map(({ field: name, scale, falls, text, modes }) => {
  const scaleOf = reader(scale);
  return [name, {
    name, label: headingOf(name), text: WRITERS[text],
    of: (i, ns, mode) => scaleOf(i) === null || !modes.includes(mode) ? null : falls ? scaleOf(i) / ns : scaleOf(i) * ns,
  }];
}));

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}
const outcomeMarker = (outcome) => page.styles.outcomes[outcome] ?? page.styles.other_outcome;
const recordLink = (i, text) => element("a", { href: `#point-${i}` }, text);

// ---- charts ------------------------------------------------------------------------------------

const NAMES = { op: "operator", distribution: "values", mode: "cache and launch" };

function distinct(things, read) {
  return [...new Set(things.map(read))].filter((value) => value !== null);
}
const byNumber = (a, b) => a - b;
/** Where a point lies on the axis: at its n, its buckets, or a parameter. */
const axisReader = (x) => x.startsWith("params.") ? (i) => Number(field(x)(i)) : field(x);

/** Evaluates Plotly, which takes longer than all the rest: not before a chart is near the view. */
function loadPlotly() {
  if (window.Plotly) return;
  document.head.append(element("script", {}, document.getElementById("plotly").textContent));
  document.getElementById("plotly").remove();
}

// Charts and figures are drawn when they come near the part in view.
const nearView = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    nearView.unobserve(target);
    target.dispatchEvent(new Event("near"));
  }
}, { rootMargin: "50%" });

class Explorer {
  constructor(root, variant) {
    this.charts = page.charts[variant] ?? [];
    const lines = this.charts.flatMap((chart) => chart.lines);
    this.chosen = { lines: distinct(lines, (line) => line.family).length > 1 ? "best" : "every", y: "ceiling_share" };
    this.logarithmic = { x: true, y: false };
    if (lines.every((line) => line.points.every((i) => field("ceiling_share")(i) === null))) this.setMeasure("gb_per_s");
    this.hidden = new Set();
    this.controls = element("div", { class: "controls" });
    this.chart = element("div", { class: "chart", role: "img" });
    this.legend = element("fieldset", { class: "legend" });
    this.table = element("div", { class: "wide" });
    this.details = element("details", { ontoggle: () => this.fillTable() },
                           element("summary", {}, "The numbers as a table, with links to the records"), this.table);
    this.note = element("p", { role: "status" });
    this.chart.addEventListener("near", () => {
      loadPlotly();
      this.near = true;
      this.draw();
    }, { once: true });
    nearView.observe(this.chart);
    root.replaceChildren(this.controls, this.note, this.chart, this.legend, this.details);
    this.update();
  }

  setMeasure(measure) {
    this.chosen.y = measure;
    this.logarithmic.y = measure !== "ceiling_share";  // the others span decades
  }

  /** Keeps the value chosen before if it is offered, else takes the preferred or first one. */
  choose(name, values, preferred) {
    if (!values.includes(this.chosen[name]))
      this.chosen[name] = values.includes(preferred) ? preferred : values[0];
    return this.chosen[name];
  }

  /** Narrows the charts to one, by one choice after the other; each offers what the ones before leave. */
  select() {
    const offered = {};
    let charts = this.charts;
    const narrow = (name, values, preferred, text = String) => {
      if (values.length === 0) return;
      offered[name] = values.map((value) => [value, text(value)]);
      const chosen = this.choose(name, values, preferred);
      charts = charts.filter((chart) => chart[name] === chosen);
    };
    const of = (name) => distinct(charts, (chart) => chart[name]);
    for (const name of page.dimensions) narrow(name, of(name));
    const points = charts.flatMap((chart) => chart.lines.flatMap((line) => line.points));
    const modes = MODES.filter((mode) => points.some((i) => field(timePaths[mode])(i) !== null));
    offered.mode = modes.map((mode) => [mode, mode]);
    const mode = this.choose("mode", modes.length ? modes : ["cold"]);
    narrow("x", of("x"), "n", (path) => path.replace("params.", ""));
    for (const name of ["n", "buckets"]) {
      const values = of(name).sort(byNumber);
      narrow(name, values, values.at(-1), sizeText);
    }
    offered.y = Object.values(MEASURES).map((measure) => [measure.name, measure.label]);
    return { chart: charts[0], offered, mode };
  }

  /** The lines of a chart, or those that stand for their families, ready to be drawn. */
  lines({ chart, mode }) {
    const readX = axisReader(chart.x);
    const shown = this.chosen.lines === "every" ? chart.lines
      : chart.best[mode].map(([place, style, own]) => ({ ...chart.lines[place], ...own, style }));
    return shown.map((line) => {
      const [colour, marker, dashes] = line.style;
      const [symbol, glyph] = page.styles.markers[marker], [dash, strokes] = page.styles.dashes[dashes];
      const x = line.points.map(readX);
      return {
        ...line, x, at: new Map(x.map((value, k) => [value, line.points[k]])),
        colour: page.styles.colours[colour], symbol, glyph, dash, strokes,
      };
    });
  }

  update() {
    if (this.charts.length === 0) {
      this.note.textContent = "There is no point to draw.";
      this.chart.hidden = this.details.hidden = true;
      return;
    }
    this.selection = this.select();
    this.drawn = this.lines(this.selection);
    this.fillControls();
    this.fillLegend();
    this.draw();
    this.fillTable();
  }

  fillControls() {
    const focused = document.activeElement?.dataset?.choice;
    const labels = { ...NAMES, x: "x axis", y: "y axis" };
    const select = (name, options) => element("label", {}, labels[name] ?? name,
      element("select", {
        "data-choice": name,
        disabled: options.length < 2,
        onchange: (event) => {
          // options carry their place, because a value need not be a string
          const value = options[event.target.selectedIndex][0];
          if (name === "y") this.setMeasure(value);
          else this.chosen[name] = value;
          this.update();
        },
      }, ...options.map(([value, text]) =>
        element("option", { selected: value === this.chosen[name] }, String(text)))));
    const check = (axis, text) => element("label", { class: "check" },
      element("input", {
        type: "checkbox", "data-choice": `log-${axis}`, checked: this.logarithmic[axis],
        onchange: (event) => { this.logarithmic[axis] = event.target.checked; this.update(); },
      }), text);
    this.controls.replaceChildren(
      ...Object.entries(this.selection.offered).filter(([, options]) => options.length)
        .map(([name, options]) => select(name, options)),
      select("lines", [["best", "fastest of each family"], ["every", "every variant"]]),
      check("x", "logarithmic x"), check("y", "logarithmic y"));
    if (focused) this.controls.querySelector(`[data-choice="${focused}"]`)?.focus();
  }

  fillLegend() {
    const toggle = (lines, show) => {
      for (const line of lines) show ? this.hidden.delete(line.key) : this.hidden.add(line.key);
      this.fillLegend();
      this.draw();
    };
    const check = (lines, name, ...label) => {
      const visible = lines.filter((line) => !this.hidden.has(line.key)).length;
      const box = element("input", {
        type: "checkbox", "data-toggle": name, checked: visible > 0,
        onchange: (event) => {
          toggle(lines, event.target.checked);
          this.legend.querySelector(`[data-toggle="${CSS.escape(name)}"]`)?.focus();
        },
      });
      box.indeterminate = visible > 0 && visible < lines.length;
      return element("label", {}, box, ...label);
    };
    const families = Map.groupBy(this.drawn, (line) => line.family);
    const items = [...families].map(([family, lines]) => lines.length === 1
      ? element("li", {}, check(lines, family, swatch(lines[0]), lines[0].label))
      : element("li", {}, check(lines, family, element("b", {}, family)),
                element("ul", {}, ...lines.map((line) =>
                  element("li", {}, check([line], line.key, swatch(line), line.label))))));
    const outcomes = [...new Set(this.marks(this.drawn, this.selection.mode)
      .map(({ i }) => outcomeIn(i, this.selection.mode)))].sort();
    this.legend.replaceChildren(
      element("legend", {}, "Families "),
      element("button", { type: "button", onclick: () => toggle(this.drawn, true) }, "all"), " ",
      element("button", { type: "button", onclick: () => toggle(this.drawn, false) }, "none"),
      element("ul", {}, ...items),
      outcomes.length === 0 ? "" : element("p", {}, "Without a verified time, on the bottom edge: " + outcomes
        .map((outcome) => `${outcomeMarker(outcome)[1]} ${outcome}`).join(", ")));
  }

  draw() {
    const { chart: { x, lines, ceiling }, mode } = this.selection;
    const measure = MEASURES[this.chosen.y];
    const visible = this.drawn.filter((line) => !this.hidden.has(line.key));
    const traces = visible.map((line) => this.trace(line, measure, mode));
    if (ceiling.x.length && mode === "cold") traces.unshift(this.ceiling(ceiling, measure));
    const crosses = this.crosses(visible, mode);
    if (crosses) traces.push(crosses);
    const drawn = traces.some((trace) => trace.y.some((value) => value !== null));
    const timed = (line) => line.points.some((i) => ranked(i, mode));
    const absent = distinct(lines, (line) => line.family)
      .filter((family) => !lines.some((line) => line.family === family && timed(line)));
    this.note.textContent = [
      drawn || visible.length === 0 ? "" : `No point here has ${measure.label} (${mode}).`,
      this.chosen.lines === "best" && absent.length ? `Without a verified time here: ${absent.join(", ")}.` : "",
    ].filter(Boolean).join(" ");
    const title = x === "n" ? "n, elements" : x.replace("params.", "");
    this.chart.setAttribute("aria-label", `${measure.label} against ${title} of ` +
      `${visible.map((line) => line.label).join(", ") || "nothing"}; the table below has the numbers`);
    if (!this.near) return;
    const narrow = this.chart.clientWidth < 600;
    const axis = { gridcolor: "#e6e6e6", linecolor: "#888", ticks: "outside", automargin: true, zeroline: false };
    Plotly.react(this.chart, traces, {
      font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 11 : 13, color: "#1a1a1a" },
      margin: { l: 55, r: 15, t: 15, b: 45 },
      showlegend: false, hovermode: "closest", hoverlabel: { align: "left", bgcolor: "#fff" },
      xaxis: { ...axis, title: { text: title }, ...this.ticks(lines.flatMap((line) => line.points).map(axisReader(x)), narrow) },
      yaxis: {
        ...axis, title: { text: measure.label }, type: this.logarithmic.y ? "log" : "linear",
        rangemode: "tozero", tickformat: this.chosen.y === "ceiling_share" ? "~%" : "", exponentformat: "power",
        ...(this.logarithmic.y ? { dtick: "D1" } : {}),
        ...(this.logarithmic.y && spansDecades(traces, 2) ? { dtick: 1 } : {}),
      },
      // points without a time have an axis of their own, so that they lie at the bottom on any scale
      yaxis2: { overlaying: "y", range: [0, 1], visible: false, fixedrange: true },
    }, { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["sendChartToCloud", "select2d", "lasso2d"] });
    this.chart.removeAllListeners("plotly_click");
    this.chart.on("plotly_click", ({ points: clicked }) => {
      const i = clicked[0].customdata;
      if (i !== undefined) location.hash = `point-${i}`;
    });
    performance.mark("chart-drawn");
  }

  trace(line, measure, mode) {
    const at = line.x.map((value) => line.at.get(value));
    const y = (statistic) => at.map((i) =>
      ranked(i, mode) ? measure.of(i, field(`timing.${mode}.${statistic}`)(i), mode) : null);
    const middle = y("median_ns"), ends = [y("p25_ns"), y("p75_ns")];
    const spread = (sign) => middle.map((value, k) => value === null ? 0
      : Math.max(0, ...ends.map((end) => sign * (end[k] - value))));
    return {
      type: "scatter", mode: "lines+markers", name: line.label, x: line.x, y: middle, customdata: at,
      connectgaps: false, text: at.map((i) => hoverText(i, mode)), hovertemplate: "%{text}<extra></extra>",
      error_y: { type: "data", symmetric: false, array: spread(1), arrayminus: spread(-1), thickness: 1, width: 2 },
      line: { color: line.colour, width: 1.6, dash: line.dash },
      marker: { color: line.colour, symbol: line.symbol, size: 7 },
    };
  }

  /** The points without a verified time. */
  marks(lines, mode) {
    return lines.flatMap((line) => line.x.filter((value) => !ranked(line.at.get(value), mode))
      .map((value) => ({ value, line, i: line.at.get(value) })));
  }

  crosses(lines, mode) {
    const marks = this.marks(lines, mode);
    if (marks.length === 0) return null;
    const stacked = new Map();
    return {
      type: "scatter", mode: "markers+text", name: "no verified time", yaxis: "y2",
      x: marks.map(({ value }) => value),
      y: marks.map(({ value }) => {
        stacked.set(value, (stacked.get(value) ?? -1) + 1);
        return 0.02 + 0.03 * stacked.get(value);
      }),
      customdata: marks.map(({ i }) => i),
      hovertext: marks.map(({ i }) => hoverText(i, mode)), hovertemplate: "%{hovertext}<extra></extra>",
      text: marks.map(({ line }) => line.glyph), textposition: "middle right",  // tells the line without colour
      textfont: { size: 8, color: marks.map(({ line }) => line.colour) },
      marker: {
        symbol: marks.map(({ i }) => outcomeMarker(outcomeIn(i, mode))[0]),
        size: 8, line: { width: 2, color: marks.map(({ line }) => line.colour) },
      },
    };
  }

  ceiling(ceiling, measure) {
    const { x } = ceiling, y = ceiling[measure.name];
    return {
      type: "scatter", mode: x.length > 1 ? "lines" : "markers", name: "read ceiling", x, y,
      line: { color: "#b3b3b3", width: 6 }, marker: { color: "#b3b3b3", symbol: "line-ew-open", size: 24 },
      text: y.map((value) => value === null ? "" : `read ceiling<br>${measure.text(value)}`),
      hovertemplate: "%{text}<extra></extra>",
    };
  }

  ticks(values, narrow) {
    if (!this.logarithmic.x) return { type: "linear", tickmode: "auto", exponentformat: "power" };
    const positive = values.filter((value) => value > 0);
    if (positive.length === 0) return { type: "log" };
    const low = Math.ceil(Math.log2(Math.min(...positive))), high = Math.floor(Math.log2(Math.max(...positive)));
    const step = Math.max(1, Math.ceil((high - low) / (narrow ? 6 : 11)));
    const exponents = [];
    for (let e = low; e <= high; e += step) exponents.push(e);
    return {
      type: "log", tickmode: "array", tickvals: exponents.map((e) => 2 ** e),
      ticktext: exponents.map((e) => e < 10 ? String(2 ** e) : `2<sup>${e}</sup>`),
    };
  }

  fillTable() {
    if (!this.details.open) return;
    const { chart: { x, lines }, mode } = this.selection;
    const measure = MEASURES[this.chosen.y];
    const values = distinct(lines.flatMap((line) => line.points), axisReader(x)).sort(byNumber);
    const cell = (i) => {
      if (i === undefined) return element("td", { class: "number" }, "–");
      if (!ranked(i, mode)) return element("td", { class: "bad" }, recordLink(i, derived.outcome(i)));
      const value = measure.of(i, field(timePaths[mode])(i), mode);
      return element("td", { class: "number" }, recordLink(i, value === null ? "no value" : measure.text(value)));
    };
    this.table.replaceChildren(element("table", {},
      element("caption", {}, `${measure.label}, ${mode}, by ${x.replace("params.", "")}`),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "variant"),
        ...values.map((value) => element("th", { scope: "col" }, sizeText(value))))),
      element("tbody", {}, ...this.drawn.map((line) => element("tr", {},
        element("td", {}, element("a", { href: `#variant-${line.variant}` }, line.label)),
        ...values.map((value) => cell(line.at.get(value))))))));
  }
}

function spansDecades(traces, decades) {
  const values = traces.filter((trace) => trace.yaxis !== "y2").flatMap((trace) => trace.y)
    .filter((value) => value > 0);
  return Math.max(...values) / Math.min(...values) >= 10 ** decades;
}

function swatch(line) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of [["width", 30], ["height", 14], ["aria-hidden", "true"]]) made.setAttribute(name, value);
  const part = (tag, attributes, text = "") => {
    const child = document.createElementNS(made.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) child.setAttribute(name, value);
    child.textContent = text;
    made.append(child);
  };
  part("line", { x1: 0, y1: 7, x2: 30, y2: 7, stroke: line.colour, "stroke-width": 1.6, "stroke-dasharray": line.strokes });
  part("text", { x: 15, y: 11, "text-anchor": "middle", "font-size": 11, fill: line.colour }, line.glyph);
  return made;
}

/** What Plotly shows when the pointer is over a point. It understands some markup, so escape. */
function hoverText(i, mode) {
  const escape = (text) => String(text).replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
  const lines = [`<b>${escape(variantOf(i))}</b> ${escape(derived.params(i))}`, `n = ${derived.size(i)}`];
  if (ranked(i, mode)) {
    const statistic = (name) => field(`timing.${mode}.${name}`)(i);
    const values = Object.entries(MEASURES).filter(([name]) => name !== "median_ns")
      .map(([name, measure]) => [name, measure.text, measure.of(i, statistic("median_ns"), mode)])
      .filter(([, , value]) => value !== null)
      .map(([name, text, value]) => [titleOf(name), text(value), page.fields[name].unit].filter(Boolean).join(" "));
    lines.push(`${timeText(statistic("median_ns"))} ${mode} (95 %: ${timeText(statistic("ci_low_ns"))} – ` +
               `${timeText(statistic("ci_high_ns"))}, ${statistic("samples")} samples)`, values.join(", "));
  } else {
    lines.push(escape(derived.outcome(i)), ...wrapped(escape(field("reason")(i) ?? "")));
  }
  if (field("launch.grid")(i) !== null)
    lines.push(`grid ${grouped(field("launch.grid")(i))}, block ${field("launch.block")(i)}, ` +
               `${field("launch.kernels")(i)} kernels`);
  if (derived.counted(i)) lines.push(escape(derived.counted(i)));
  if (field(`timing.${mode}.two_modes`)(i)) lines.push("its samples lie in two groups");
  return lines.join("<br>");
}
const wrapped = (text) => text.match(/.{1,60}(?:\s|$)|\S+/g) ?? [];

// ---- the picker --------------------------------------------------------------------------------

const { problems: PROBLEMS, fields: PROBLEM_FIELDS, families: FAMILIES } = page.picker;

/** `2^20`, `10^6`, `1e6`, `1,000,000` or `1 000 000`; null where it is none of them. */
function parsedSize(text) {
  const plain = text.replace(/[\s,_']/g, "");
  const power = /^(\d+)(?:\^|\*\*)(\d+)$/.exec(plain);
  const value = power ? Number(power[1]) ** Number(power[2]) : plain === "" ? NaN : Number(plain);
  return Number.isFinite(value) && value >= 1 ? Math.round(value) : null;
}

const timeOf = (i) => field(timePaths[field("primary_mode")(i)])(i);
const shareOf = field("ceiling_share");
const variantLink = (i) => element("a", { href: `#variant-${variantOf(i)}` }, derived.form(i));
const bigTime = (i) => element("a", { href: `#point-${i}`, class: "time" }, timeText(timeOf(i)));
const placeText = ({ n, buckets }) => `n = ${sizeText(n)}${buckets === null ? "" : `, ${sizeText(buckets)} buckets`}`;

class Picker {
  constructor(root) {
    this.chosen = {};
    this.asked = { n: null, buckets: null };
    this.controls = element("div", { class: "controls" });
    this.answer = element("div", { class: "answer", role: "status" });
    this.plot = element("div");
    root.replaceChildren(
      element("p", {}, "Say what you want computed; a size may be written 1000000, 10^6, 1e6 or 2^20."),
      this.controls, element("div", { class: "picked" }, this.answer, this.plot));
    this.update();
  }

  /** Takes over what an address says. */
  open(query) {
    const given = new URLSearchParams(query);
    for (const name of PROBLEM_FIELDS) if (given.has(name)) this.chosen[name] = given.get(name);
    for (const name of ["n", "buckets"]) this.asked[name] = parsedSize(given.get(name) ?? "");
    this.update();
  }

  /** One choice after the other; each offers what the ones before leave. */
  select() {
    let problems = PROBLEMS;
    this.offered = {};
    for (const name of PROBLEM_FIELDS) {
      const values = distinct(problems, (each) => each[name]);
      if (!values.includes(this.chosen[name])) this.chosen[name] = values[0];
      this.offered[name] = values;
      problems = problems.filter((each) => each[name] === this.chosen[name]);
    }
    this.problem = problems[0];
    const far = (asked, measured) => asked === null || !measured ? 0 : Math.abs(Math.log2(asked / measured));
    // without a size asked for, the largest
    const { sizes } = this.problem;
    this.at = sizes.reduce((best, each) => {
      const [there, here] = [best, each].map(({ n, buckets }) => far(this.asked.n, n) + far(this.asked.buckets, buckets));
      return here < there || (here === there && this.asked.n === null) ? each : best;
    });
  }

  update() {
    this.select();
    this.fillControls();
    this.fillAnswer();
    this.drawPlot();
  }

  remember() {
    const said = { ...this.chosen };
    for (const name of ["n", "buckets"]) if (this.asked[name] !== null) said[name] = this.asked[name];
    history.replaceState(null, "", `#pick?${new URLSearchParams(Object.entries(said).filter(([, value]) => value !== ""))}`);
  }

  fillControls() {
    const focused = document.activeElement?.dataset?.pick;
    const changed = () => { this.update(); this.remember(); };
    const labels = { ...NAMES, distribution: "values" };
    const select = (name) => element("label", {}, labels[name] ?? name, element("select", {
      "data-pick": name,
      onchange: (event) => { this.chosen[name] = event.target.value; changed(); },
    }, ...this.offered[name].map((value) =>
      element("option", { value, selected: value === this.chosen[name] }, value))));
    const size = (name, text) => {
      const list = `picker-${name}`;
      const measured = distinct(this.problem.sizes, (each) => each[name]).sort(byNumber);
      if (measured.length === 0) return null;
      return element("label", {}, text,
        element("input", {
          type: "text", list, "data-pick": name, size: 14, autocomplete: "off",
          value: sizeText(this.asked[name] ?? this.at[name]),
          onchange: (event) => {
            const value = parsedSize(event.target.value);
            event.target.setCustomValidity(value === null ? "a number such as 1000000, 10^6 or 2^20" : "");
            if (!event.target.reportValidity()) return;
            this.asked[name] = value;
            changed();
          },
        }),
        element("datalist", { id: list }, ...measured.map((value) => element("option", { value: sizeText(value) }))));
    };
    const shown = PROBLEM_FIELDS.filter((name) => this.offered[name].some((value) => value !== "") &&
      (["operation", "type", "op", "labels"].includes(name) || this.offered[name].length > 1));
    const choice = (names) => shown.filter((name) => names.includes(name)).map(select);
    this.controls.replaceChildren(...[
      ...choice(["operation", "type", "op"]), size("n", "n, inputs"), size("buckets", "m, buckets"),
      ...choice(["labels", "distribution", "scan", "backend", "mode"]),
    ].filter((each) => each !== null));
    if (focused) this.controls.querySelector(`[data-pick="${focused}"]`)?.focus();
  }

  fillAnswer() {
    const { n, buckets, ranked: places, library, tie, absent } = this.at;
    const [best, next] = places;
    const other = ["n", "buckets"].filter((name) => this.asked[name] !== null && this.at[name] !== null &&
                                          this.asked[name] !== this.at[name]);
    const say = (...parts) => element("p", {}, ...parts);
    const lines = [];
    if (other.length) {
      const far = Math.max(...other.map((name) => Math.abs(Math.log2(this.asked[name] / this.at[name])))) > 1;
      lines.push(element("p", { class: "bad" },
        other.map((name) => `${name === "n" ? "n" : "m"} = ${sizeText(this.asked[name])} was not measured: ` +
          `this is the nearest, ${sizeText(this.at[name])}.`).join(" "),
        far ? " It is far from yours, so measure yours before you rely on it." : ""));
    }
    lines.push(say(`At ${placeText({ n, buckets })}, fastest of ${places.length} measured:`));
    if (best === undefined) lines.push(say("No variant has a verified time here."));
    else {
      const share = shareOf(best);
      const limit = share === null ? "" : ` – ${percent(share)} of the measured read ceiling`;
      const against = (i) => `${digits(timeOf(i) / timeOf(best))}\u00a0× as long`;
      if (absent.length) {
        lines[lines.length - 1] = element("p", { class: "bad" },
          element("b", {}, "Not all contenders were measured here, so none is recommended."), " ",
          ...absent.flatMap(({ variant, nearest }) =>
            [element("a", { href: `#variant-${variant}` }, variant), " is missing; at ",
             recordLink(nearest, derived.size(nearest)), ` it is the fastest, with ${timeText(timeOf(nearest))}. `]));
        lines.push(say(`Of the ${places.length} that were measured at ${placeText({ n, buckets })}: `, variantLink(best),
                       " takes ", bigTime(best), limit, "."));
      } else {
        lines.push(element("p", { class: "big" },
          element("b", {}, element("a", { href: `#variant-${variantOf(best)}` }, variantOf(best))), " takes ",
          bigTime(best), limit, "."), derived.params(best) ? say(`With ${derived.params(best)}.`) : "");
      }
      if (next === undefined) lines.push(say("No other variant was measured here."));
      else lines.push(say("Runner-up: ", variantLink(next), ", ", bigTime(next), ", ",
                          tie ? element("b", {}, "a tie within the noise") : against(next), "."));
      if (library === null) lines.push(say("No library has a verified time here."));
      else if (library === best) lines.push(say("It is a library's."));
      else lines.push(say("Library: ", variantLink(library), ", ", bigTime(library), `, ${against(library)}.`));
    }
    this.answer.replaceChildren(...lines.filter((line) => line !== ""));
  }

  /** Times of the first ones and the library around this size, along the axis with more sizes. */
  drawPlot() {
    const { n, buckets } = this.at;
    const along = { n: this.problem.sizes.filter((each) => each.buckets === buckets),
                    buckets: this.problem.sizes.filter((each) => each.n === n) };
    const x = along.buckets.length > along.n.length && buckets !== null ? "buckets" : "n";
    const sizes = along[x].filter((each) => each[x] > 0);
    const of = (i) => variantOf(i);
    const names = new Set();
    for (const i of [this.at.ranked[0], this.at.ranked[1], this.at.library]) if (i !== undefined && i !== null) names.add(of(i));
    for (const { variant } of this.at.absent) names.add(variant);
    for (const each of sizes) if (names.size < 6 && each.ranked.length) names.add(of(each.ranked[0]));
    const ofFamily = new Map();  // a family keeps its colour; its next line has other dashes and another marker
    const lines = [...names].map((variant) => {
      const points = sizes.map((each) => ({ x: each[x], i: each.ranked.find((i) => of(i) === variant) }))
        .filter(({ i }) => i !== undefined).map(({ x: at, i }) => ({ x: at, y: timeOf(i) }));
      const family = variant.split("/")[0], nth = ofFamily.get(family) ?? 0;
      ofFamily.set(family, nth + 1);
      const [colour, marker] = FAMILIES[family], { colours, markers, dashes } = page.styles;
      return {
        variant, points, colour: colours[colour], strokes: dashes[nth % dashes.length][1],
        glyph: markers[(marker + 5 * nth) % markers.length][1],
      };
    }).filter(({ points }) => points.length);
    this.plot.replaceChildren();
    if (lines.length) this.plot.append(timesOver(x, lines, this.at[x]));
  }
}

/** A drawing of times over n or buckets, both logarithmic, with a line at the size shown. */
function timesOver(x, lines, at) {
  const [width, left, right, top, bottom] = [460, 62, 14, 12, 40];
  const height = 300 + 16 * lines.length;
  const base = height - bottom - 16 * lines.length;
  const namespace = "http://www.w3.org/2000/svg";
  const made = document.createElementNS(namespace, "svg");
  const text = lines.map(({ variant }) => variant).join(", ");
  for (const [name, value] of [["viewBox", `0 0 ${width} ${height}`], ["class", "plot"], ["role", "img"],
                               ["aria-label", `Times over ${x} of ${text}; the tables below have the numbers`]])
    made.setAttribute(name, value);
  const part = (tag, attributes, content = "") => {
    const child = document.createElementNS(namespace, tag);
    for (const [name, value] of Object.entries(attributes)) child.setAttribute(name, value);
    child.textContent = content;
    made.append(child);
  };
  const scale = (values, from, to) => {
    const low = Math.log(Math.min(...values)), high = Math.log(Math.max(...values));
    return (value) => high === low ? (from + to) / 2 : from + (to - from) * (Math.log(value) - low) / (high - low);
  };
  const xs = distinct(lines.flatMap(({ points }) => points), (each) => each.x).sort(byNumber);
  const ys = lines.flatMap(({ points }) => points.map((each) => each.y));
  const toX = scale([...xs, at || xs[0]], left + 8, width - right - 8), toY = scale(ys, base - 8, top + 8);
  part("rect", { x: left, y: top, width: width - left - right, height: base - top, fill: "none", stroke: "#bbb" });
  if (at) part("line", { x1: toX(at), x2: toX(at), y1: top, y2: base, stroke: "#888", "stroke-dasharray": "3 3" });
  let written = -Infinity;
  for (const each of xs) {
    if (toX(each) - written < 55) continue;
    written = toX(each);
    part("text", { x: written, y: base + 15, "text-anchor": "middle" }, sizeText(each));
  }
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const ticks = high / low < 1.05 ? [low] : [0, 1, 2, 3].map((k) => low * (high / low) ** (k / 3));
  for (const each of ticks) part("text", { x: left - 5, y: toY(each) + 4, "text-anchor": "end" }, shortTime(each));
  part("text", { x: (left + width) / 2, y: base + 31, "text-anchor": "middle" }, x === "n" ? "n, inputs" : "m, buckets");
  for (const [k, { variant, points, colour, strokes, glyph }] of lines.entries()) {
    part("polyline", { points: points.map((each) => `${toX(each.x)},${toY(each.y)}`).join(" "), fill: "none", stroke: colour, "stroke-width": 1.6, "stroke-dasharray": strokes });
    for (const each of points) part("text", { x: toX(each.x), y: toY(each.y) + 4, "text-anchor": "middle", fill: colour }, glyph);
    const y = base + bottom + 8 + 16 * k;
    part("text", { x: left, y, fill: colour }, glyph);
    part("text", { x: left + 16, y }, variant);
  }
  return made;
}
const shortTime = (ns) => timeText(Number(ns.toPrecision(2)));

// ---- the table of points -----------------------------------------------------------------------

const RARE = true;  // left to the record where rows are as wide as the window
const LONG = 12;  // characters, beyond which a number's cell wraps
const COLUMNS = [
  ["variant", variantOf], ["params", derived.params], ["operation", field("operation")], ["backend", field("backend")],
  ["n", sizeOf, sizeText], ["buckets", bucketsOf, sizeText], ["type", field("type")], ["operator", field("op")],
  ["values", derived.distribution], ["labels", derived.labels], ["mode", field("primary_mode")],
  ["outcome", (i) => [derived.outcome(i), field("reason")(i)].filter(Boolean).join(": ")],
  [titleOf("median_ns"), (i) => field(timePaths[field("primary_mode")(i)])(i), timeText],
  [headingOf("gb_per_s"), field("gb_per_s"), digits], [headingOf("ceiling_share"), field("ceiling_share"), percent],
  [headingOf("error_ulp"), field("verification.error_ulp"), digits, RARE], ["run", (i) => page.runs[derived.run(i)], String, RARE],
];

function mountPoints(root) {
  const columns = COLUMNS.filter(([, read]) => everyPoint.some((i) => read(i) !== null && read(i) !== ""));
  // what a row shows, and its numbers as digits with and without groups
  const written = (value, text) => value === null ? [] : typeof value !== "number" ? [value]
    : [value, grouped(value), (text ?? String)(value)];
  const texts = everyPoint.map((i) =>
    columns.flatMap(([, read, text]) => written(read(i), text)).join(" ").toLowerCase());
  let limit = ROWS_SHOWN, order = null;
  const head = element("tr"), body = element("tbody");
  const found = element("p", { role: "status" });
  const more = element("button", { type: "button", onclick: () => { limit *= 4; fill(); } }, "Show more");
  const search = element("input", { type: "search", id: "search", oninput: () => { limit = ROWS_SHOWN; fill(); } });
  const sortBy = (read) => {
    order = { read, descending: order?.read === read && !order.descending };
    fill();
  };
  const compare = (a, b) => {
    const [left, right] = [order.read(a), order.read(b)];
    if (left === null || right === null) return (left === null) - (right === null);
    const difference = typeof left === "number" ? left - right : String(left).localeCompare(right, "en", { numeric: true });
    return order.descending ? -difference : difference;
  };
  const headers = columns.map(([name, read, , rare]) => element("th", { scope: "col", class: rare ? "rare" : "" },
    element("button", { type: "button", onclick: () => sortBy(read) }, name)));
  head.append(...headers);
  function fill() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const points = everyPoint.filter((i) => words.every((word) => texts[i].includes(word)));
    if (order) points.sort(compare);
    headers.forEach((header, column) => header.setAttribute("aria-sort",
      order?.read !== columns[column][1] ? "none" : order.descending ? "descending" : "ascending"));
    body.replaceChildren(...points.slice(0, limit).map((i) => element("tr", { class: right(i) ? "" : "bad" },
      ...columns.map(([name, read, text, rare], column) => {
        const value = read(i);
        const shown = value === null ? "" : (text ?? String)(value);
        const kinds = [typeof value === "number" ? "number" : "", shown.length > LONG ? "long" : "", rare ? "rare" : ""];
        const parts = shown.split(/(?<=[(=])/).flatMap((part) => [element("wbr"), part]);  // where it may wrap
        return element("td", { class: kinds.join(" ").trim(), "data-label": name },
                       ...(column === 0 ? [recordLink(i, shown)] : parts.slice(1)));
      }))));
    found.textContent = `${grouped(points.length)} of ${grouped(page.count)} points` +
      (points.length > limit ? `, the first ${limit} shown` : "");
    more.hidden = points.length <= limit;
  }
  fill();
  root.replaceChildren(
    element("div", { class: "controls" }, element("label", { for: "search" }, "words that a row must have", search)),
    found, element("div", { class: "wide" }, element("table", { class: "cards dense" },
      element("caption", {}, "The name of a variant opens the record of the point, with all that the run has of it."),
      element("thead", {}, head), body)), more);
}

// ---- one record --------------------------------------------------------------------------------

function valueText(value) {
  if (typeof value !== "number") return value === null ? "" : String(value);
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential();
  return precise(value);
}
function recordTable(caption, headings, rows) {
  return element("div", { class: "wide" }, element("table", {}, element("caption", {}, caption),
    headings.length ? element("thead", {}, element("tr", {}, ...headings.map((text) => element("th", { scope: "col" }, text)))) : null,
    element("tbody", {}, ...rows.map(([name, ...values]) => element("tr", {},
      element("th", { scope: "row" }, name.replaceAll("_", " ").replaceAll(".", ", ")),
      ...values.map((value) => element("td", {}, valueText(value))))))));
}

function showRecord(i) {
  const present = Object.keys(readers).filter((path) => field(path)(i) !== null);
  const part = (prefix) => present.filter((path) => path.startsWith(prefix))
    .map((path) => [path.slice(prefix.length), field(path)(i)]);
  const parts = { Verification: "verification.", Launch: "launch.", Counters: "counters.", Parameters: "params." };
  const modes = MODES.filter((mode) => field(timePaths[mode])(i) !== null);
  const statistics = distinct(present.filter((path) => path.startsWith("timing.")),
                              (path) => path.split(".").slice(2).join("."));
  const content = [
    element("p", {}, element("a", { href: `#variant-${variantOf(i)}` }, "About this variant"),
            `. From ${page.runs[derived.run(i)]}, point ${field("index")(i)}.`),
    field("reason")(i) === null ? null
      : element("p", { class: "bad" }, `${derived.outcome(i)}: ${field("reason")(i)}`),
    modes.length === 0 ? null : recordTable("Timing", ["", ...modes], statistics.map((name) =>
      [name, ...modes.map((mode) => field(`timing.${mode}.${name}`)(i))])),
    ...Object.entries(parts).map(([caption, prefix]) =>
      part(prefix).length ? recordTable(caption, [], part(prefix)) : null),
    recordTable("Point", [], part("").filter(([path]) =>
      !["timing.", ...Object.values(parts)].some((prefix) => path.startsWith(prefix)))),
  ];
  document.getElementById("record-title").textContent = `${derived.form(i)}, n = ${derived.size(i)}`;
  document.getElementById("record-content").replaceChildren(...content.filter((each) => each !== null));
  const dialog = document.getElementById("record");
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

// ---- tabs --------------------------------------------------------------------------------------

const sections = [...document.querySelectorAll("main > section")];
const tabs = [...document.querySelectorAll("nav a")];

/** Shows one section of the page. Without this program all of them are shown. */
function showTab(section) {
  for (const each of sections) each.hidden = each !== section;
  for (const tab of tabs) {
    if (tab.hash === `#${section.id}`) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
}

/** Opens what the address names: a record, what is picked, or a part of the page inside closed ones. */
function follow() {
  const target = decodeURIComponent(location.hash.slice(1));
  const point = /^point-(\d+)$/.exec(target);
  const dialog = document.getElementById("record");
  if (point && Number(point[1]) < page.count) return showRecord(Number(point[1]));
  dialog.close();
  if (target.startsWith("pick?")) picker?.open(target.slice("pick?".length));
  const named = document.getElementById(target.startsWith("pick?") ? "picker" : target);
  const section = named?.closest("main > section");
  if (section) showTab(section);
  for (let outer = named; outer; outer = outer.parentElement) if (outer.tagName === "DETAILS") outer.open = true;
  if (named === section) scrollTo(0, 0);
  else named?.scrollIntoView();
}

document.getElementById("record").addEventListener("close", () => {
  // so that the same link opens the record again
  if (location.hash.startsWith("#point-")) history.replaceState(null, "", location.pathname + location.search);
});
addEventListener("hashchange", follow);

for (const image of document.querySelectorAll("img[data-source]")) {
  image.addEventListener("near", () => { image.src = image.dataset.source; }, { once: true });
  nearView.observe(image);
}
// paper shows what was never scrolled to
addEventListener("beforeprint", () => {
  for (const image of document.querySelectorAll("img[data-source]:not([src])")) image.dispatchEvent(new Event("near"));
});
for (const root of document.querySelectorAll("[data-explorer]")) {
  const variant = root.dataset.explorer, details = root.closest("details");
  if (!details) new Explorer(root, variant);
  else details.addEventListener("toggle", () => { if (!root.hasChildNodes()) new Explorer(root, variant); });
}
mountPoints(document.querySelector("[data-points]"));
const picker = page.picker.problems.length ? new Picker(document.querySelector("[data-picker]")) : null;
showTab(sections[0]);
follow();
performance.mark("report-ready");
