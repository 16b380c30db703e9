// The page: state, controls and what happens when.

import { ALIASES, buildModel, jobColumns, jobName, orderBy } from "./model.js";
import { base64Bytes, readColumns } from "./codec.js";
import { colouring } from "./palette.js";
import { compileFilter } from "./filter.js";
import { drawCompare, drawJob, drawLegend, element, named, shownValue, title } from "./panels.js";
import { drawSheet, groupSheet, JobTable, runSheet, sheetCsv } from "./table.js";
import { eventBeside, GUTTER, TimeLine } from "./timeline.js";
import { fittingLevel, fragment, parseFragment, secondsPerPixel, STEPS_PER_OCTAVE } from "./view.js";
import { duration, grouped, instant } from "./format.js";
import { MachineMap } from "./machine.js";
import { freedFor, neighbours } from "./reasons.js";

/** @typedef {import("./model.js").Model} AppModel @typedef {import("./model.js").Run} AppRun @typedef {import("./view.js").View} View */
/** @typedef {import("./palette.js").Colouring} AppColouring @typedef {import("./palette.js").ColourChoice} AppChoice */

/** @param {string} id @returns {any} */
function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}

const CATEGORY_COLUMNS = ["user", "group", "queue", "partition"];
const TABS = ["jobs", "size", "user", "runs", "compare"];
const PLAY_SECONDS = 20;

export class App {
  /** @param {AppModel} model */
  constructor(model) {
    this.model = model;
    /** @type {View} */
    this.view = { level: 0, left: model.from, top: 0, bottom: Infinity, run: 0, base: -1, colour: "size", filter: "", tab: "jobs",
      sort: "submit", down: false, job: -1, cursor: model.from, theme: "" };
    /** @type {Record<string, string>} */
    this.colours = {};
    /** @type {{run: AppRun, allocation: number} | null} */
    this.hover = null;
    /** @type {[number, number] | null} */
    this.brush = null;
    /** @type {Uint8Array | null} */
    this.mask = null;
    this.version = 0;
    /** @type {Map<string, AppColouring>} */
    this.colourings = new Map();
    /** @type {Map<number, Float64Array>} */
    this.sortedDurations = new Map();
    /** @type {Int32Array | null} */
    this.sorted = null;
    /** @type {import("./model.js").JobColumn[]} */
    this.columns = [];
    /** @type {Map<number, import("./model.js").JobColumn[]>} */
    this.runColumns = new Map();
    /** @type {Map<string, ReturnType<typeof freedFor>>} */
    this.freedOf = new Map();
    /** @type {Map<string, {column: number, down: boolean}>} */
    this.sheetSorts = new Map();
    this.dirty = new Set();
    this.playing = 0;
    this.frames = { count: 0, worst: 0 };
    /** @type {{key: string, found: Set<number>} | null} */
    this.beside = null;
    this.line = new TimeLine(byId("line"), byId("over"), this);
    this.map = new MachineMap(byId("map"), this);
    this.table = new JobTable(byId("jobs"), this);
  }

  run() {
    return this.model.runs[this.view.run];
  }

  base() {
    return this.view.base >= 0 ? this.model.runs[this.view.base] : null;
  }

  /** Run times in ascending order. @param {AppRun} run */
  durations(run) {
    let found = this.sortedDurations.get(run.index);
    if (!found) {
      found = run.all.end.map((end, i) => end - run.all.start[i]).sort();
      this.sortedDurations.set(run.index, found);
    }
    return found;
  }

  /** @returns {AppChoice[]} */
  choices() {
    const numbers = ["size", "wait", "wait_change", "bounded_slowdown", "run_time", "estimate", "pairwise_l1", "pairwise_l1_change", "distance", "components", "leaves"];
    /** @type {AppChoice[]} */
    const all = [];
    for (const name of ["size", ...CATEGORY_COLUMNS, ...numbers.slice(1)]) {
      const column = this.columns.find((one) => one.name === name);
      const kind = CATEGORY_COLUMNS.includes(name) ? "category" : "number";
      if (column) all.push({ name, label: title(name), kind, unit: column.unit });
    }
    all.push({ name: "job", label: "job", kind: "category", unit: "" });
    return all;
  }

  /** The colours of the jobs in a run. @param {AppRun} run @returns {AppColouring} */
  colouringOf(run) {
    const choice = this.choices().find((one) => one.name === this.view.colour) ?? this.choices()[0];
    const key = `${run.index} ${choice.name}`;
    let found = this.colourings.get(key);
    if (!found) {
      const columns = this.columnsOf(run);
      const values = choice.name === "job" ? this.model.job.map((_, i) => i % 8) : columns.find((one) => one.name === choice.name)?.values;
      const shown = choice.name.endsWith("_change") ? values?.map(Math.abs) : values;
      found = colouring(choice, shown ?? new Float64Array(this.model.jobs), this.mask, this.isDark());
      if (choice.name === "job") [found.categories, found.shared] = [[], true];
      this.colourings.set(key, found);
    }
    return found;
  }

  isDark() {
    return this.view.theme ? this.view.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  /** The allocation that is lit: under the pointer, or selected. */
  litAllocation() {
    const run = this.run();
    if (this.hover && this.hover.allocation >= 0) {
      return this.hover.run === run ? this.hover.allocation : run.ofJob[this.hover.run.all.job[this.hover.allocation]];
    }
    return this.view.job >= 0 ? run.ofJob[this.view.job] : -1;
  }

  /** The lit allocation if it holds processors at the cursor, else -1. */
  litNow() {
    const lit = this.litAllocation(), { all } = this.run(), { cursor } = this.view;
    return lit >= 0 && all.start[lit] <= cursor && cursor < all.end[lit] ? lit : -1;
  }

  /** Jobs beside the lit job at the cursor. */
  neighbours() {
    const lit = this.litNow();
    const key = `${lit} ${this.view.run} ${this.view.cursor}`;
    if (this.beside?.key !== key) this.beside = { key, found: neighbours(this.model, this.run(), lit, this.view.cursor) };
    return this.beside.found;
  }

  /** Jobs that pass the filter, in the order of the table. */
  order() {
    if (!this.sorted) {
      const column = this.columns.find((one) => one.name === this.view.sort) ?? this.columns[0];
      const sorted = orderBy(Float64Array.from(column.values));
      const kept = this.mask ? sorted.filter((job) => /** @type {Uint8Array} */ (this.mask)[job]) : sorted;
      this.sorted = this.view.down ? kept.reverse() : kept;
    }
    return this.sorted;
  }

  /** Changes the view and draws what depends on it. @param {Partial<View>} patch */
  set(patch) {
    const before = this.view;
    this.view = { ...before, ...patch };
    const changed = (/** @type {(keyof View)[]} */ ...names) => names.some((name) => this.view[name] !== before[name]);
    if (changed("run", "base")) this.updateColumns();
    if (changed("run", "base", "colour", "filter", "theme")) {
      this.updateFilter();
      this.colourings.clear();
      this.version += 1;
      this.mark("line", "map", "job", "table", "legend", "controls");
    }
    if (changed("sort", "down")) this.sorted = null;
    if (changed("sort", "down", "tab")) this.mark("table", "controls");
    if (changed("level", "left", "top", "bottom")) this.mark("line");
    if (changed("cursor")) this.mark("over", "map");
    if (changed("job")) this.mark("over", "map", "job", "rows");
    this.mark("address");
  }

  /** @param {...string} parts */
  mark(...parts) {
    if (this.dirty.size === 0) requestAnimationFrame(() => this.frame());
    parts.forEach((part) => this.dirty.add(part));
  }

  /** The columns of a run; with the changes from the other run if two are compared. @param {AppRun} run */
  columnsOf(run) {
    let found = this.runColumns.get(run.index);
    if (!found) {
      found = jobColumns(this.model, run, run === this.run() ? this.base() : this.base() && this.run());
      this.runColumns.set(run.index, found);
    }
    return found;
  }

  /** The column that is compared: the change of the wait, or of pairwise L1 if no wait differs. */
  change() {
    const find = (/** @type {string} */ name) => this.columns.find((column) => column.name === name);
    const wait = find("wait_change");
    return wait?.values.some((change) => change !== 0 && change === change) ? wait : find("pairwise_l1_change") ?? wait;
  }

  /** The allocations that freed the processors of a job. @param {AppRun} run @param {number} job */
  freed(run, job) {
    const key = `${run.index} ${job}`;
    let found = this.freedOf.get(key);
    if (!found) {
      if (this.freedOf.size > 20) this.freedOf.clear();
      found = freedFor(run, job);
      this.freedOf.set(key, found);
    }
    return found;
  }

  updateColumns() {
    this.runColumns.clear();
    this.columns = this.columnsOf(this.run());
    this.sorted = null;
  }

  updateFilter() {
    this.sorted = null;
    this.mask = null;
    const names = this.columns.map((column) => column.name);
    const find = (/** @type {string} */ name) => {
      const values = this.columns.find((column) => column.name === (ALIASES[name] ?? name))?.values;
      return values && ((/** @type {number} */ row) => values[row]);
    };
    const problem = byId("problem");
    problem.textContent = "";
    byId("filter").removeAttribute("aria-invalid");
    if (!this.view.filter.trim()) return;
    try {
      const passes = compileFilter(this.view.filter, find, names);
      this.mask = Uint8Array.from({ length: this.model.jobs }, (_, row) => (passes(row) ? 1 : 0));
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : `${error}`;
      byId("filter").setAttribute("aria-invalid", "true");
    }
  }

  /** Draws what has changed. */
  frame() {
    const begin = performance.now();
    const dirty = this.dirty;
    this.dirty = new Set();
    if (dirty.has("theme") || dirty.has("controls")) this.readColours();
    if (dirty.has("controls")) this.drawControls();
    if (dirty.has("size") || dirty.has("controls")) {
      this.map.layout();
      dirty.add("line").add("map").add("rows").add("size");
    }
    if (dirty.has("size") || dirty.has("controls")) this.line.layout();
    if (dirty.has("line")) {
      this.clampView();
      this.line.draw();
      byId("notes").textContent = `${this.line.notes().join("; ")}.`;
      dirty.add("over");
    }
    if (dirty.has("over")) this.line.drawOverlay();
    if (dirty.has("map")) this.drawMap();
    if (dirty.has("legend")) drawLegend(this, byId("legend"));
    if (dirty.has("job")) drawJob(this, byId("job"));
    if (dirty.has("table")) this.drawTable();
    else if (dirty.has("rows")) this.table.fill();
    if (dirty.has("address")) this.writeAddress();
    // Tiles that are missing are drawn in the rest of the frame.
    if (this.line.tiles.tasks.size > 0) {
      const finished = this.line.tiles.work(Math.max(12 - (performance.now() - begin), 4));
      this.mark(finished ? "line" : "tiles");
    }
    const spent = performance.now() - begin;
    this.frames.count += 1;
    this.frames.worst = Math.max(this.frames.worst, spent);
  }

  clampView() {
    const { view, model } = this;
    const plot = this.line.plot();
    const most = fittingLevel((model.until - model.from) * 1.25, plot);
    view.level = Math.min(Math.max(view.level, -3 * STEPS_PER_OCTAVE), most);
    const seconds = secondsPerPixel(view.level) * plot, margin = seconds / 2;
    view.left = Math.min(Math.max(view.left, model.from - margin), model.until - seconds + margin);
    const rows = this.run().all.rows;
    view.bottom = Math.min(view.bottom, rows);
    view.top = Math.max(Math.min(view.top, view.bottom - 1), 0);
    if (view.top === 0 && view.bottom === rows) view.bottom = Infinity;
  }

  drawMap() {
    this.map.draw();
    byId("instant").textContent = instant(this.view.cursor, this.model.epoch);
    const run = this.run(), { machine } = this.model;
    const busy = run.busy.at(this.view.cursor);
    const out = run.out.at(this.view.cursor);
    byId("state").textContent = `${grouped(busy)} of ${grouped(machine.points)} ${machine.unit} busy, ${out > 0 ? `${grouped(out)} out of service, ` : ""}${grouped(run.waiting.at(this.view.cursor))} waiting${machine.layout ? `; ${machine.layout}` : ""}`;
  }

  drawTable() {
    const { tab } = this.view;
    const count = this.order().length;
    byId("count").textContent = this.mask ? `${grouped(count)} of ${grouped(this.model.jobs)} jobs` : `${grouped(count)} jobs`;
    byId("jobs").hidden = tab !== "jobs";
    const sheet = byId("sheet");
    sheet.hidden = tab === "jobs";
    byId("copy").hidden = tab === "compare";
    if (tab === "jobs") this.table.draw();
    else if (tab === "compare") drawCompare(this, sheet);
    else {
      const sort = this.sheetSorts.get(tab) ?? { column: tab === "runs" ? -1 : 0, down: false };
      const by = (/** @type {number} */ column) => {
        this.sheetSorts.set(tab, { column, down: sort.column === column && !sort.down });
        this.mark("table");
      };
      const choose = tab === "runs" ? undefined : (/** @type {(string | number)[]} */ row) => this.filter(`${tab} = ${row[0]}`);
      drawSheet(this.sheet(), sheet, sort, by, choose);
    }
  }

  sheet() {
    return this.view.tab === "runs" ? runSheet(this) : groupSheet(this, this.view.tab === "user" ? "user" : "size");
  }

  drawControls() {
    const { model, view } = this;
    const option = (/** @type {string} */ value, /** @type {string} */ text, /** @type {boolean} */ selected) => element("option", { value, selected }, text);
    const label = (/** @type {AppRun} */ run) => `${run.index + 1}  ${run.label}`;
    byId("run").replaceChildren(...model.runs.map((run) => option(`${run.index}`, label(run), run.index === view.run)));
    byId("base").replaceChildren(option("-1", "none", view.base < 0),
      ...model.runs.filter((run) => run.index !== view.run).map((run) => option(`${run.index}`, label(run), run.index === view.base)));
    byId("base").disabled = model.runs.length < 2;
    byId("colour").replaceChildren(...this.choices().map((one) => option(one.name, one.label, one.name === view.colour)));
    if (document.activeElement !== byId("filter")) byId("filter").value = view.filter;
    for (const tab of TABS) {
      const button = byId(`tab-${tab}`);
      button.setAttribute("aria-selected", `${tab === view.tab}`);
      button.tabIndex = tab === view.tab ? 0 : -1;
    }
    if (view.theme) document.documentElement.dataset.theme = view.theme;
    else delete document.documentElement.dataset.theme;
    byId("line-box").classList.toggle("compared", view.base >= 0);
    this.readColours();
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["plot", "bars", "grid", "line", "ink", "soft", "load", "queue", "accent", "on-accent", "waited", "free", "better", "worse", "brush", "out"]) {
      this.colours[name.replace("-a", "A")] = style.getPropertyValue(`--${name}`).trim();
    }
  }

  writeAddress() {
    clearTimeout(this.addressTimer);
    this.addressTimer = setTimeout(() => {
      const text = fragment(this.view, (job) => this.model.job[job]);
      try {
        history.replaceState(null, "", `#${text}`);
      } catch {
        // A frame without an origin has no address; the page works without it.
      }
    }, 250);
  }

  /** Shows all of the trace. */
  fit() {
    const level = fittingLevel((this.model.until - this.model.from) * 1.02, this.line.plot());
    const shown = secondsPerPixel(level) * this.line.plot();
    this.set({ level, left: (this.model.from + this.model.until - shown) / 2, top: 0, bottom: Infinity });
  }

  /** Zooms around a position. @param {number} steps @param {number} [x] */
  zoom(steps, x = GUTTER + this.line.plot() / 2) {
    const time = this.line.time(x);
    const most = fittingLevel((this.model.until - this.model.from) * 1.25, this.line.plot());
    const level = Math.min(Math.max(this.view.level + steps, -3 * STEPS_PER_OCTAVE), most);
    this.set({ level, left: time - (x - GUTTER) * secondsPerPixel(level) });
  }

  /** Zooms the rows around a row. @param {number} factor @param {number} [place] from 0 at the top to 1 */
  zoomRows(factor, place = 0.5) {
    const rows = this.run().all.rows;
    const [top, bottom] = [this.view.top, Math.min(this.view.bottom, rows)];
    const size = Math.min(Math.max(Math.round((bottom - top) * factor), Math.min(4, rows)), rows);
    const first = Math.min(Math.max(Math.round(top + (bottom - top) * place - size * place), 0), rows - size);
    this.set({ top: first, bottom: first + size });
  }

  /** @param {number} pixels */
  pan(pixels) {
    this.set({ left: this.view.left + pixels * secondsPerPixel(this.view.level) });
  }

  /** Moves the cursor, and the window if the cursor is outside. @param {number} cursor */
  moveCursor(cursor) {
    const shown = secondsPerPixel(this.view.level) * this.line.plot();
    const { left } = this.view;
    this.set(cursor < left || cursor > left + shown ? { cursor, left: cursor - shown / 3 } : { cursor });
  }

  /** Selects a job; `show` brings it into view. @param {number} job @param {boolean} show */
  select(job, show) {
    this.set({ job });
    if (job < 0) return;
    const run = this.run();
    if (show && run.start[job] === run.start[job]) {
      const shown = secondsPerPixel(this.view.level) * this.line.plot();
      const [from, until] = [run.arrival[job], run.end[job]];
      const isThin = (until - run.start[job]) / secondsPerPixel(this.view.level) < 3 && this.view.level > 0;
      if (isThin || run.start[job] < this.view.left || run.start[job] > this.view.left + shown) {
        const level = Math.min(this.view.level, fittingLevel(Math.max(until - run.start[job], 1) * (isThin ? 12 : 1.6), this.line.plot()));
        const span = secondsPerPixel(level) * this.line.plot();
        this.set({ level, left: Math.max((from + until - span) / 2, run.start[job] - span * 0.7) });
      }
      this.set({ cursor: run.start[job] });
    }
    this.table.show(job);
    byId("live").textContent = `Job ${jobName(this.model, job)}, wait ${duration(run.wait[job])}`;
  }

  /** @param {string} filter */
  filter(filter) {
    byId("filter").value = filter;
    this.set({ filter });
  }

  /** @param {string} name */
  sortBy(name) {
    this.set({ sort: name, down: this.view.sort === name && !this.view.down });
    byId("jobs").scrollTop = 0;
  }

  /** Finds a job by its number or id, or the jobs of a user. @param {string} text */
  find(text) {
    const wanted = text.trim();
    const user = /^user\s*=?\s*(-?\d+)$/i.exec(wanted);
    if (user) return this.filter(`user = ${user[1]}`);
    let job = this.indexOf(Number(wanted));
    if (job < 0 || wanted === "") job = this.model.ids?.indexOf(wanted) ?? -1;
    byId("problem").textContent = job < 0 ? `no job ${wanted}; write a number of the trace, or: user 7` : "";
    if (job >= 0) this.select(job, true);
  }

  /** @param {number} number */
  indexOf(number) {
    return this.model.job.indexOf(number);
  }

  play() {
    this.playing = this.playing ? 0 : performance.now();
    byId("play").textContent = this.playing ? "Pause" : "Play";
    const step = (/** @type {number} */ now) => {
      if (!this.playing) return;
      const span = secondsPerPixel(this.view.level) * this.line.plot();
      const cursor = this.view.cursor + (Math.min(now - this.playing, 100) / 1000 / PLAY_SECONDS) * span;
      this.playing = Math.max(now, 1);
      if (cursor >= this.model.until) this.play();
      this.moveCursor(Math.min(cursor, this.model.until));
      requestAnimationFrame(step);
    };
    if (this.playing) requestAnimationFrame(step);
  }

  async copy() {
    const text = this.view.tab === "jobs" ? this.table.csv() : sheetCsv(this.sheet());
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = /** @type {HTMLTextAreaElement} */ (element("textarea", { value: text }));
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    byId("live").textContent = byId("copied").textContent = `copied ${grouped(text.split("\n").length - 2)} rows`;
    setTimeout(() => (byId("copied").textContent = ""), 2500);
  }

  /** @param {MouseEvent} event @param {{run: AppRun, allocation: number} | null} hover */
  tip(event, hover) {
    const tip = byId("tip");
    if (this.hover?.allocation !== hover?.allocation || this.hover?.run !== hover?.run) {
      this.hover = hover;
      this.mark("over", "map");
      if (hover && hover.allocation >= 0) {
        const job = hover.run.all.job[hover.allocation];
        const run = hover.run;
        const lines = ["size", "user", "wait", "run_time", "bounded_slowdown", "pairwise_l1"].map((name) => {
          const column = this.columnsOf(run).find((one) => one.name === name);
          return column && column.values[job] === column.values[job] && element("div", {}, `${title(name)} ${shownValue(column, column.values[job], this.model.epoch)}`);
        });
        tip.replaceChildren(element("b", {}, "job ", named(jobName(this.model, job))), ...lines.filter((line) => line));
      }
    }
    tip.hidden = !hover || hover.allocation < 0;
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
  }

  listen() {
    const box = byId("line-box");
    /** @type {Map<number, PointerEvent>} */
    const pointers = new Map();
    let moved = 0, pinch = 0, rows = 0;
    const at = (/** @type {MouseEvent} */ event) => {
      const rect = box.getBoundingClientRect();
      return [event.clientX - rect.left, event.clientY - rect.top];
    };
    box.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      if (event.button !== 0) return;
      box.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, event);
      moved = pinch = rows = 0;
      if (event.shiftKey) this.brush = [at(event)[0], at(event)[0]];
    });
    box.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      const before = pointers.get(event.pointerId);
      const [x, y] = at(event);
      if (!before) {
        this.tip(event, this.line.hit(x, y));
        return;
      }
      const step = event.clientX - before.clientX;
      moved += Math.abs(step) + Math.abs(event.clientY - before.clientY);
      if (this.brush) {
        this.brush[1] = x;
        this.mark("over");
      } else if (pointers.size === 2) {
        const [a, b] = [...pointers.values()];
        const width = Math.abs(a.clientX - b.clientX);
        pointers.set(event.pointerId, event);
        const [c, d] = [...pointers.values()];
        pinch += Math.log2(Math.max(Math.abs(c.clientX - d.clientX), 10) / Math.max(width, 10)) * STEPS_PER_OCTAVE;
        if (Math.abs(pinch) >= 1) {
          this.zoom(-Math.trunc(pinch), (at(c)[0] + at(d)[0]) / 2);
          pinch -= Math.trunc(pinch);
        }
      } else if (moved > 3) {
        this.pan(-step);
        const run = this.run(), shown = Math.min(this.view.bottom, run.all.rows) - this.view.top;
        if (shown < run.all.rows) {
          rows -= ((event.clientY - before.clientY) / box.clientHeight) * shown;
          const whole = Math.min(Math.max(Math.trunc(rows), -this.view.top), run.all.rows - shown - this.view.top);
          rows -= Math.trunc(rows);
          if (whole) this.set({ top: this.view.top + whole, bottom: this.view.top + whole + shown });
        }
      }
      pointers.set(event.pointerId, event);
    });
    const up = (/** @type {PointerEvent} */ event) => {
      if (!pointers.delete(event.pointerId)) return;
      const [x, y] = at(event);
      if (this.brush) {
        const [from, until] = this.brush.map((edge) => Math.round(this.line.time(edge))).sort((a, b) => a - b);
        this.brush = null;
        this.mark("over");
        if (until > from) this.filter(`submit >= ${from} and submit < ${until}`);
      } else if (moved <= 3 && event.type === "pointerup" && x >= GUTTER) {
        const hit = this.line.hit(x, y);
        this.set({ cursor: Math.round(this.line.time(x)) });
        if (hit) this.select(hit.allocation >= 0 ? hit.run.all.job[hit.allocation] : -1, false);
      }
    };
    box.addEventListener("pointerup", up);
    box.addEventListener("pointercancel", up);
    box.addEventListener("pointerleave", (/** @type {PointerEvent} */ event) => this.tip(event, null));
    box.addEventListener("dblclick", (/** @type {MouseEvent} */ event) => this.zoom(-2 * STEPS_PER_OCTAVE, at(event)[0]));
    let turned = 0;
    box.addEventListener("wheel", (/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      const [x, y] = at(event);
      const lines = event.deltaMode === 1 ? 20 : 1;
      if (event.altKey) this.zoomRows(event.deltaY > 0 ? 1.25 : 0.8, Math.min(Math.max(y / box.clientHeight, 0), 1));
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) * lines);
      else {
        turned += (event.deltaY * lines) / 60;
        if (Math.abs(turned) >= 1) this.zoom(Math.trunc(Math.min(Math.max(turned, -4), 4)), x);
        if (Math.abs(turned) >= 1) turned = 0;
      }
    }, { passive: false });

    const map = byId("map");
    const onMap = (/** @type {MouseEvent} */ event) => {
      const rect = map.getBoundingClientRect();
      return this.map.hit(event.clientX - rect.left, event.clientY - rect.top);
    };
    map.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      const hit = onMap(event);
      this.tip(event, hit && { run: this.run(), allocation: hit.allocation });
      byId("cell").textContent = hit ? `${this.model.machine.unit.replace(/s$/, "")} ${hit.processor}${hit.allocation === -2 ? ", out of service" : ""}` : "";
    });
    map.addEventListener("pointerleave", (/** @type {PointerEvent} */ event) => this.tip(event, null));
    map.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      const hit = onMap(event);
      this.select(hit && hit.allocation >= 0 ? this.run().all.job[hit.allocation] : -1, false);
    });

    byId("run").addEventListener("change", () => {
      const run = Number(byId("run").value);
      this.set({ run, base: this.view.base === run ? this.view.run : this.view.base });
    });
    byId("base").addEventListener("change", () => this.compare(Number(byId("base").value)));
    byId("colour").addEventListener("change", () => this.set({ colour: byId("colour").value }));
    byId("filter").addEventListener("input", () => this.set({ filter: byId("filter").value }));
    byId("find").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") this.find(byId("find").value);
    });
    byId("play").addEventListener("click", () => this.play());
    byId("back").addEventListener("click", () => this.step(-1));
    byId("next").addEventListener("click", () => this.step(1));
    byId("in").addEventListener("click", () => this.zoom(-2));
    byId("out").addEventListener("click", () => this.zoom(2));
    byId("fit").addEventListener("click", () => this.fit());
    byId("theme").addEventListener("click", () => this.set({ theme: this.isDark() ? "light" : "dark" }));
    byId("copy").addEventListener("click", () => this.copy());
    byId("keys").addEventListener("click", () => byId("help").showModal());
    byId("close").addEventListener("click", () => byId("help").close());
    TABS.forEach((tab, i) => {
      const button = byId(`tab-${tab}`);
      button.addEventListener("click", () => this.set({ tab }));
      button.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.stopPropagation();
        const next = TABS[(i + step + TABS.length) % TABS.length];
        this.set({ tab: next });
        byId(`tab-${next}`).focus();
      });
    });
    document.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.mark("size")).observe(box);
    addEventListener("resize", () => this.mark("size"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    addEventListener("beforeprint", () => this.print("light"));
    addEventListener("afterprint", () => this.print(this.printed ?? ""));
    addEventListener("hashchange", () => this.readAddress());
  }

  /** Draws everything at once in a theme, because a printed page does not wait for frames. @param {string} theme */
  print(theme) {
    this.printed = this.view.theme;
    this.set({ theme });
    this.drawControls();
    this.line.layout();
    this.line.draw();
    while (this.line.tiles.tasks.size > 0) this.line.tiles.work(1000);
    this.line.draw();
    this.frame();
  }

  redraw() {
    this.colourings.clear();
    this.version += 1;
    this.mark("line", "map", "legend", "controls", "table", "job");
  }

  /** @param {number} base */
  compare(base) {
    this.set({ base, tab: base >= 0 ? "compare" : this.view.tab === "compare" ? "jobs" : this.view.tab });
  }

  /** @param {number} direction */
  step(direction) {
    this.moveCursor(eventBeside(this.run(), this.view.cursor, direction));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === "Escape") {
      if (target.closest("input, select")) target.blur();
      else this.select(-1, false);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, textarea, dialog")) return;
    const page = this.line.plot();
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.pan(event.shiftKey ? -page * 0.8 : -80), ArrowRight: () => this.pan(event.shiftKey ? page * 0.8 : 80),
      ArrowUp: () => this.panRows(-0.2), ArrowDown: () => this.panRows(0.2),
      "+": () => this.zoom(-1), "=": () => this.zoom(-1), "-": () => this.zoom(1), "0": () => this.fit(),
      "[": () => this.zoomRows(1.5), "]": () => this.zoomRows(1 / 1.5),
      ",": () => this.step(-1), ".": () => this.step(1), " ": () => this.play(),
      Home: () => this.moveCursor(this.model.from), End: () => this.moveCursor(this.model.until),
      n: () => this.beside_(1), p: () => this.beside_(-1),
      "/": () => byId("find").focus(), f: () => byId("filter").focus(), t: () => this.set({ theme: this.isDark() ? "light" : "dark" }),
      c: () => this.compare(this.view.base >= 0 ? -1 : this.model.runs.findIndex((run) => run.index !== this.view.run)),
      "?": () => byId("help").showModal(),
    };
    const isButton = target.closest("button");
    if (isButton && event.key === " ") return;
    if (target.closest(".scroll") && event.key.startsWith("Arrow")) return;
    const run = Number(event.key) - 1;
    const action = keys[event.key] ?? (run >= 0 && run < this.model.runs.length ? () => this.set({ run, base: this.view.base === run ? this.view.run : this.view.base }) : undefined);
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** @param {number} share */
  panRows(share) {
    const rows = this.run().all.rows, bottom = Math.min(this.view.bottom, rows);
    const shown = bottom - this.view.top;
    const top = Math.min(Math.max(this.view.top + Math.round(shown * share), 0), rows - shown);
    if (shown < rows) this.set({ top, bottom: top + shown });
  }

  /** Selects the next job of the table, or the one before. @param {number} direction */
  beside_(direction) {
    const order = this.order();
    const next = order[Math.min(Math.max(order.indexOf(this.view.job) + direction, 0), order.length - 1)];
    if (next !== undefined) this.select(next, true);
  }

  readAddress() {
    const initial = { ...this.view };
    const read = parseFragment(location.hash, initial, this.model.runs.length, (number) => this.indexOf(number));
    // Names that this page does not have count as not given.
    if (!TABS.includes(read.tab) || byId(`tab-${read.tab}`).hidden) read.tab = "jobs";
    this.set(read);
    if (!this.choices().some((one) => one.name === read.colour)) this.set({ colour: initial.colour });
    if (!this.columns.some((one) => one.name === read.sort)) this.set({ sort: initial.sort, down: initial.down });
    // The row of the job exists after the next frame.
    if (read.job >= 0) requestAnimationFrame(() => requestAnimationFrame(() => this.table.show(read.job)));
  }

  start() {
    byId("title").replaceChildren(named(this.model.trace), " on ", named(this.model.machine.name));
    if (!this.model.columns.get("user")) byId("tab-user").hidden = true;
    if (this.model.runs.length < 2) byId("tab-compare").hidden = true;
    this.updateColumns();
    this.drawControls();
    this.line.layout();
    this.map.layout();
    this.fit();
    this.clampView();
    // The first instant to look at is that with the longest queue.
    const { times, values, largest } = this.run().waiting;
    this.set({ cursor: times[values.indexOf(largest)] ?? this.model.from });
    if (location.hash) this.readAddress();
    this.updateFilter();
    this.listen();
    this.mark("line", "map", "job", "table", "legend", "controls");
  }
}

/** Reads the data and starts the page. */
export async function start() {
  const begin = performance.now();
  try {
    const header = JSON.parse(byId("header").textContent);
    const { numbers, values } = await readColumns(header.columns, base64Bytes(byId("data").textContent));
    byId("data").remove();
    const app = new App(buildModel(header, numbers, values));
    app.start();
    byId("loading").remove();
    Object.assign(window, { replay: app, replayLoaded: performance.now() - begin });
  } catch (error) {
    byId("loading").textContent = `The page cannot be shown: ${error instanceof Error ? error.message : error}. It needs a browser with DecompressionStream (2023 or later).`;
    throw error;
  }
}

if (typeof document !== "undefined" && document.getElementById("header")) start();
