// Tables: the jobs, with only the rows on screen as elements; groups of jobs; the metrics of the runs.

import { csvField, duration, grouped, shortNumber } from "./format.js";
import { element, named, shownValue, title } from "./panels.js";
import { jobName } from "./model.js";

/** @typedef {import("./main.js").App} TableApp */

const ROW = 26, SPARE = 8;

export class JobTable {
  /** @param {HTMLElement} box @param {TableApp} app */
  constructor(box, app) {
    this.app = app;
    this.box = box;
    this.head = element("div", { className: "row head", role: "row" });
    this.space = element("div", { className: "space", role: "rowgroup" });
    this.box.append(this.head, this.space);
    this.box.addEventListener("scroll", () => this.fill());
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.first = -1;
  }

  /** Draws the head and the rows. */
  draw() {
    const { app } = this, { view } = app;
    const widths = app.columns.map(({ name, time, unit }) => (time ? (app.model.epoch === null ? 146 : 170) : Math.max(unit === "s" ? 104 : 88, title(name).length * 8 + 22)));
    const width = widths.reduce((sum, one) => sum + one, 0);
    const grid = `grid-template-columns:${widths.map((one) => `minmax(${one}px,${one}fr)`).join(" ")};min-width:${width}px`;
    this.head.setAttribute("style", grid);
    this.head.replaceChildren(...app.columns.map((column) => {
      const sorted = column.name === view.sort;
      return element("button", { type: "button", role: "columnheader", title: column.meaning,
        "aria-sort": sorted ? (view.down ? "descending" : "ascending") : "none",
        onclick: () => app.sortBy(column.name) }, title(column.name), sorted ? (view.down ? " ▾" : " ▴") : "");
    }));
    this.space.setAttribute("style", `height:${app.order().length * ROW}px;min-width:${width}px`);
    this.grid = grid;
    this.box.setAttribute("aria-rowcount", `${app.order().length + 1}`);
    this.fill();
  }

  /** Makes the rows on screen. */
  fill() {
    const { app } = this, order = app.order();
    const height = Math.max(this.box.clientHeight, 120);
    const first = Math.max(Math.floor(this.box.scrollTop / ROW) - SPARE, 0);
    const last = Math.min(first + Math.ceil(height / ROW) + 2 * SPARE, order.length);
    const rows = [];
    for (let place = first; place < last; place++) {
      const job = order[place];
      const row = element("div", { className: job === app.view.job ? "row current" : "row", role: "row", "aria-rowindex": `${place + 2}`,
        style: `${this.grid};top:${place * ROW}px`, onclick: () => app.select(job, true) });
      app.columns.forEach((column, i) => row.append(element("span", { role: "gridcell", "data-value": `${column.values[job]}` },
        i === 0 ? named(jobName(app.model, job)) : shownValue(column, column.values[job], app.model.epoch))));
      rows.push(row);
    }
    this.space.replaceChildren(...rows);
  }

  /** Scrolls a job into view. @param {number} job */
  show(job) {
    const place = this.app.order().indexOf(job);
    if (place < 0) return;
    const top = place * ROW, bottom = top + ROW - this.box.clientHeight + 34;
    if (this.box.scrollTop > top) this.box.scrollTop = top;
    else if (this.box.scrollTop < bottom) this.box.scrollTop = bottom;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12 }[event.key];
    if (step === undefined) return;
    const order = this.app.order();
    const place = order.indexOf(this.app.view.job);
    const next = order[Math.min(Math.max(place + step, 0), order.length - 1)];
    if (next !== undefined) this.app.select(next, true);
    event.preventDefault();
    event.stopPropagation();
  }

  /** The jobs that pass the filter, in order, as CSV with plain numbers. */
  csv() {
    const { app } = this;
    const names = app.columns.map((column) => column.name);
    const ids = app.model.ids;
    const lines = [(ids ? [...names, "id"] : names).join(",")];
    app.order().forEach((job) => {
      const values = app.columns.map(({ values }) => (values[job] === values[job] ? `${values[job]}` : ""));
      lines.push((ids ? [...values, csvField(ids[job] ?? "")] : values).join(","));
    });
    return `${lines.join("\n")}\n`;
  }
}

/** @typedef {{head: string[], rows: (string | number)[][]}} Sheet */

/** The jobs that pass the filter in groups. @param {TableApp} app @param {"size" | "user"} by @returns {Sheet} */
export function groupSheet(app, by) {
  const run = app.run();
  const keys = by === "size" ? app.model.size : app.model.columns.get("user");
  const head = [by, "jobs", "mean_wait", "mean_run_time", "mean_bounded_slowdown", "processor_hours"];
  if (!keys) return { head, rows: [] };
  /** @type {Map<number, number[]>} */
  const groups = new Map();
  app.order().forEach((job) => {
    if (run.wait[job] !== run.wait[job] || keys[job] !== keys[job]) return;
    let sums = groups.get(keys[job]);
    if (!sums) groups.set(keys[job], (sums = [0, 0, 0, 0, 0]));
    sums[0] += 1;
    sums[1] += run.wait[job];
    sums[2] += run.run[job];
    sums[3] += run.slowdown[job];
    sums[4] += (run.run[job] * run.held[job]) / 3600;
  });
  const rows = [...groups].map(([key, [jobs, wait, time, slowdown, hours]]) => [key, jobs, wait / jobs, time / jobs, slowdown / jobs, hours]);
  return { head, rows };
}

/** The metrics of the runs, a column for each run. @param {TableApp} app @returns {Sheet} */
export function runSheet(app) {
  const { runs } = app.model;
  /** @type {Map<string, (string | number)[]>} */
  const rows = new Map();
  runs.forEach((run, at) => {
    for (const [name, unit, , value] of run.info.metrics) {
      let row = rows.get(name);
      if (!row) rows.set(name, (row = [name, unit, ...runs.map(() => NaN)]));
      row[at + 2] = value;
    }
  });
  return { head: ["metric", "unit", ...runs.map((run) => `${run.index + 1} ${run.label}`)], rows: [...rows.values()] };
}

/** @param {Sheet} sheet */
export function sheetCsv({ head, rows }) {
  const line = (/** @type {(string | number)[]} */ row) =>
    row.map((value) => csvField(typeof value === "number" && value !== value ? "" : `${value}`)).join(",");
  return `${[head, ...rows].map(line).join("\n")}\n`;
}

/**
 * Draws a small table whose columns sort. @param {Sheet} sheet @param {HTMLElement} into
 * @param {{column: number, down: boolean}} sort @param {(column: number) => void} sortBy @param {(row: (string | number)[]) => void} [choose]
 */
export function drawSheet(sheet, into, sort, sortBy, choose) {
  const compare = (/** @type {string | number} */ a, /** @type {string | number} */ b) =>
    typeof a === "number" && typeof b === "number" ? (a === a ? 0 : 1) - (b === b ? 0 : 1) || a - b : `${a}`.localeCompare(`${b}`);
  const rows = sort.column < 0 ? sheet.rows : [...sheet.rows].sort((a, b) => (sort.down ? -1 : 1) * compare(a[sort.column], b[sort.column]));
  const head = sheet.head.map((name, i) => element("th", { scope: "col", "aria-sort": i === sort.column ? (sort.down ? "descending" : "ascending") : "none" },
    element("button", { type: "button", onclick: () => sortBy(i) }, named(title(name)), i === sort.column ? (sort.down ? " ▾" : " ▴") : "")));
  const body = rows.map((row) => element("tr", { className: choose ? "choose" : "", onclick: () => choose?.(row) }, ...row.map((value, i) =>
    typeof value === "number" ? element("td", { className: "number", "data-value": `${value}` }, i === 0 ? `${value}` : /(wait|run_time)$/.test(sheet.head[i]) ? duration(value) : shortNumber(value))
      : element("td", {}, named(i === 0 ? title(value) : value)))));
  into.replaceChildren(element("table", { className: "sheet" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)),
    element("p", { className: "soft" }, `${grouped(rows.length)} rows`));
}
