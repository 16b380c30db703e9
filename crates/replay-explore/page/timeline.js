// The time line: load, queue, jobs as bars, and the change of the wait between two runs.

import { css, inkOn } from "./palette.js";
import { duration, grouped, instant, isolated, ticks } from "./format.js";
import { jobName } from "./model.js";
import { lowerBound, upperBound } from "./intervals.js";
import { secondsPerPixel } from "./view.js";
import { Tiles } from "./tiles.js";

/** @typedef {import("./model.js").Run} LineRun @typedef {import("./main.js").App} LineApp */
/** @typedef {{kind: "load" | "queue" | "bars" | "change", y: number, height: number, run: LineRun}} Strip */

export const GUTTER = 68;
const AXIS = 24, LOAD = 58, QUEUE = 46, CHANGE = 74, GAP = 6;
const MOST_LABELS = 20000;

export class TimeLine {
  /** @param {HTMLCanvasElement} canvas @param {HTMLCanvasElement} overlay @param {LineApp} app */
  constructor(canvas, overlay, app) {
    this.canvas = canvas;
    this.overlay = overlay;
    this.app = app;
    this.tiles = new Tiles();
    this.width = this.height = 0;
    /** @type {Strip[]} */
    this.strips = [];
    /** @type {{key: string, submits: Float64Array, sums: Float64Array} | null} */
    this.changes = null;
    this.complete = false;
  }

  /** Adapts to the size of the element. */
  layout() {
    const box = this.canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.floor(box.width), Math.floor(box.height)];
    if (width < 1 || height < 1) return;
    if (width !== this.width || height !== this.height || this.canvas.width !== Math.round(width * ratio)) {
      for (const canvas of [this.canvas, this.overlay]) [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    [this.width, this.height] = [width, height];
    const run = this.app.run(), base = this.app.base();
    const rest = height - AXIS - LOAD - QUEUE - GAP * 3 - (base ? CHANGE + GAP * 2 : 0);
    const bars = Math.max(base ? Math.floor(rest / 2) : rest, 20);
    let y = AXIS;
    /** @param {Strip["kind"]} kind @param {number} size @param {LineRun} of */
    const strip = (kind, size, of) => {
      this.strips.push({ kind, y, height: size, run: of });
      y += size + GAP;
    };
    this.strips = [];
    strip("load", LOAD, run);
    strip("queue", QUEUE, run);
    strip("bars", bars, run);
    if (base) {
      strip("change", CHANGE, run);
      strip("bars", bars, base);
    }
  }

  /** Width of the plot in pixels. */
  plot() {
    return Math.max(this.width - GUTTER - 1, 1);
  }

  /** @param {number} time */
  x(time) {
    return GUTTER + (time - this.app.view.left) / secondsPerPixel(this.app.view.level);
  }

  /** @param {number} x */
  time(x) {
    return this.app.view.left + (x - GUTTER) * secondsPerPixel(this.app.view.level);
  }

  /** Rows that are shown: top and bottom. @param {LineRun} run @returns {[number, number]} */
  rows(run) {
    const { top, bottom } = this.app.view;
    return [Math.min(top, run.all.rows - 1), Math.min(bottom, run.all.rows)];
  }

  /** @param {Strip} strip @param {number} row */
  y(strip, row) {
    const [top, bottom] = this.rows(strip.run);
    return strip.y + ((row - top) / (bottom - top)) * strip.height;
  }

  /** The job at a position: its run and its allocation. @param {number} x @param {number} y */
  hit(x, y) {
    const strip = this.strips.find((one) => one.kind === "bars" && y >= one.y && y < one.y + one.height);
    if (!strip || x < GUTTER) return null;
    const [top, bottom] = this.rows(strip.run);
    const row = Math.floor(top + ((y - strip.y) / strip.height) * (bottom - top));
    const { all } = strip.run;
    const pixel = secondsPerPixel(this.app.view.level);
    let found = -1;
    // A bar narrower than a pixel is found from anywhere on its pixel.
    for (const [from, until] of [[this.time(x), this.time(x)], [this.time(x) - pixel / 2, this.time(x) + pixel / 2]]) {
      all.index.overlapping(from, until, (i) => {
        if (until === from && all.end[i] <= from) return;
        for (let r = all.first[i]; r < all.first[i + 1]; r++) {
          if (all.from[r] <= row && row < all.until[r]) found = i;
        }
      });
      if (found >= 0) break;
    }
    return { run: strip.run, allocation: found };
  }

  /** Draws everything but what follows the pointer. */
  draw() {
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    const ratio = this.canvas.width / Math.max(this.width, 1);
    const { model, view, colours } = this.app;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colours.plot;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    // The tiles are drawn in device pixels, below the lines.
    this.complete = true;
    const pixels = Math.round(this.plot() * ratio);
    const scenes = this.strips.filter((strip) => strip.kind === "bars").map((strip) => {
      const [top, bottom] = this.rows(strip.run);
      const scene = { run: strip.run, colouring: this.app.colouringOf(strip.run), version: this.app.version, level: view.level, ratio,
        height: Math.round(strip.height * ratio), top, bottom };
      const y = Math.round(strip.y * ratio);
      context.fillStyle = colours.bars;
      context.fillRect(Math.round(GUTTER * ratio), y, pixels, scene.height);
      this.drawOutages(context, strip, ratio);
      if (!this.tiles.draw(context, scene, Math.round(GUTTER * ratio), y, pixels, view.left)) this.complete = false;
      return scene;
    });
    const shown = this.plot() * secondsPerPixel(view.level);
    this.tiles.drop((task) => task.until > view.left - shown && task.from < view.left + 2 * shown &&
      scenes.some((scene) => scene.version === task.scene.version && scene.level === task.scene.level));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.lineWidth = 1;
    const until = this.time(this.width);
    for (const tick of ticks(view.left, until, Math.max(this.plot() / 90, 2), model.epoch)) {
      const x = Math.round(this.x(tick.at)) + 0.5;
      context.strokeStyle = colours.line;
      context.beginPath();
      context.moveTo(x, AXIS - 4);
      context.lineTo(x, this.height);
      context.stroke();
      context.fillStyle = colours.soft;
      context.textAlign = "left";
      if (x + 3 + context.measureText(tick.text).width <= this.width) context.fillText(tick.text, x + 3, AXIS / 2);
    }
    for (const strip of this.strips) {
      if (strip.kind === "bars") this.drawBars(context, strip);
      else if (strip.kind === "change") this.drawChange(context, strip);
      else this.drawSteps(context, strip);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {Strip} strip @param {string} text @param {number} [row] */
  label(context, strip, text, row = 0) {
    context.fillStyle = this.app.colours.soft;
    context.textAlign = "right";
    context.fillText(text, GUTTER - 6, strip.y + 7 + row);
  }

  /** Load or queue: the mean of each pixel. @param {CanvasRenderingContext2D} context @param {Strip} strip */
  drawSteps(context, strip) {
    const { view, colours, model } = this.app;
    const seconds = secondsPerPixel(view.level);
    const isLoad = strip.kind === "load";
    const steps = isLoad ? strip.run.busy : strip.run.waiting;
    const means = new Float64Array(Math.ceil(this.plot()));
    let before = steps.until(view.left), highest = 0;
    for (let x = 0; x < means.length; x++) {
      const sum = steps.until(view.left + (x + 1) * seconds);
      means[x] = (sum - before) / seconds;
      if (means[x] > highest) highest = means[x];
      before = sum;
    }
    const top = isLoad ? Math.max(model.machine.points, highest) : Math.max(highest, 1);
    const bottom = strip.y + strip.height;
    context.fillStyle = isLoad ? colours.load : colours.queue;
    context.beginPath();
    context.moveTo(GUTTER, bottom);
    means.forEach((mean, x) => {
      const y = bottom - (mean / top) * strip.height;
      context.lineTo(GUTTER + x, y);
      context.lineTo(GUTTER + x + 1, y);
    });
    context.lineTo(GUTTER + means.length, bottom);
    context.fill();
    context.strokeStyle = colours.grid;
    context.strokeRect(GUTTER + 0.5, strip.y + 0.5, this.plot() - 1, strip.height - 1);
    this.label(context, strip, isLoad ? "busy" : "waiting");
    this.label(context, strip, isLoad ? "100 %" : grouped(top, top < 10 && top % 1 > 0 ? 1 : 0), 14);
  }

  /** Processors out of service, below the bars. @param {CanvasRenderingContext2D} context in device pixels @param {Strip} strip @param {number} ratio */
  drawOutages(context, strip, ratio) {
    const { down, packed } = strip.run;
    if (packed) return;
    context.save();
    context.beginPath();
    context.rect(GUTTER * ratio, strip.y * ratio, this.plot() * ratio, strip.height * ratio);
    context.clip();
    context.fillStyle = hatch(context, this.app.colours.out);
    down.index.overlapping(this.app.view.left, this.time(this.width), (i) => {
      const x0 = Math.max(this.x(down.start[i]), GUTTER), x1 = Math.max(Math.min(this.x(down.end[i]), this.width), x0 + 1);
      for (let r = down.first[i]; r < down.first[i + 1]; r++) {
        const [y0, y1] = [this.y(strip, down.from[r]), this.y(strip, down.until[r])];
        context.fillRect(x0 * ratio, y0 * ratio, (x1 - x0) * ratio, (y1 - y0) * ratio);
      }
    });
    context.restore();
  }

  /** Names of bars that are large enough, and rows. @param {CanvasRenderingContext2D} context @param {Strip} strip */
  drawBars(context, strip) {
    const { model, view, colours } = this.app;
    const { run } = strip, { all } = run;
    const [top, bottom] = this.rows(run);
    context.strokeStyle = colours.grid;
    context.strokeRect(GUTTER + 0.5, strip.y + 0.5, this.plot() - 1, strip.height - 1);
    const rowHeight = strip.height / (bottom - top);
    const groups = model.machine.groups;
    const isGrouped = groups.length > 0 && !run.packed;
    if (isGrouped) {
      groups.forEach(([first, name], i) => {
        const until = groups[i + 1]?.[0] ?? model.machine.points;
        const [y0, y1] = [this.y(strip, first), this.y(strip, until)];
        if (y1 < strip.y || y0 > strip.y + strip.height || y1 - y0 < 5) return;
        if (i > 0 && y0 > strip.y) {
          context.beginPath();
          context.moveTo(GUTTER, Math.round(y0) + 0.5);
          context.lineTo(this.width, Math.round(y0) + 0.5);
          context.stroke();
        }
        if (y1 - y0 < 11) return;
        context.fillStyle = colours.soft;
        context.textAlign = "right";
        context.fillText(isolated([...name].slice(0, 9).join("")), GUTTER - 6, Math.min(Math.max((y0 + y1) / 2, strip.y + 6), strip.y + strip.height - 6));
      });
    } else {
      this.label(context, strip, this.app.base() ? `run ${run.index + 1}` : run.packed ? "rows" : model.machine.unit);
      context.fillText(grouped(bottom - top), GUTTER - 6, strip.y + 21);
    }
    // A label needs a bar of 26 pixels: only windows with few jobs have one.
    const until = this.time(this.width), wide = 26 * secondsPerPixel(view.level);
    const last = all.index.startedBefore(until);
    const colouring = this.app.colouringOf(run);
    context.textAlign = "left";
    let seen = 0;
    for (let i = all.index.next(0, view.left); i < last && seen < MOST_LABELS; i = all.index.next(i + 1, view.left), seen++) {
      if (all.end[i] - all.start[i] < wide) continue;
      for (let r = all.first[i]; r < all.first[i + 1]; r++) {
        if ((all.until[r] - all.from[r]) * rowHeight < 12) continue;
        const x0 = Math.max(this.x(all.start[i]), GUTTER), x1 = Math.min(this.x(all.end[i]), this.width);
        const y0 = Math.max(this.y(strip, all.from[r]), strip.y), y1 = Math.min(this.y(strip, all.until[r]), strip.y + strip.height);
        const name = jobName(model, all.job[i]);
        if (y1 - y0 < 12 || x1 - x0 < 8 + 6.5 * [...name].length) continue;
        context.fillStyle = inkOn(colouring.table[colouring.index[all.job[i]]]);
        context.fillText(isolated(name), x0 + 4, (y0 + y1) / 2);
        break;
      }
    }
  }

  /** Sums of changes in order of submission, for means over windows. */
  changeSums() {
    const { app } = this, { model } = app;
    const run = app.run(), base = app.base();
    const key = `${run.index} ${base?.index} ${app.version}`;
    if (this.changes?.key === key || !base) return this.changes;
    const changes = app.change()?.values ?? new Float64Array(model.jobs).fill(NaN);
    const submits = [], sums = [0];
    let sum = 0;
    for (let i = 0; i < model.jobs; i++) {
      const change = changes[i];
      if (change !== change || (app.mask && !app.mask[i])) continue;
      submits.push(model.submit[i]);
      sums.push((sum += change));
    }
    this.changes = { key, submits: Float64Array.from(submits), sums: Float64Array.from(sums) };
    return this.changes;
  }

  /** Mean change of the wait, or of pairwise L1, of the jobs submitted in each 6 pixels. @param {CanvasRenderingContext2D} context @param {Strip} strip */
  drawChange(context, strip) {
    const { view, colours } = this.app;
    const of = this.changeSums(), base = this.app.base();
    if (!of || !base) return;
    const step = 6, seconds = secondsPerPixel(view.level) * step;
    const first = Math.floor(view.left / seconds), count = Math.ceil(this.plot() / step) + 1;
    const means = Array.from({ length: count }, (_, i) => {
      const [a, b] = [lowerBound(of.submits, (first + i) * seconds), lowerBound(of.submits, (first + i + 1) * seconds)];
      return b > a ? (of.sums[b] - of.sums[a]) / (b - a) : 0;
    });
    const largest = means.reduce((high, mean) => Math.max(high, Math.abs(mean)), 0), most = largest || 1;
    const middle = strip.y + strip.height / 2;
    context.save();
    context.beginPath();
    context.rect(GUTTER, strip.y, this.plot(), strip.height);
    context.clip();
    means.forEach((mean, i) => {
      const x = this.x((first + i) * seconds), size = (Math.abs(mean) / most) * (strip.height / 2);
      context.fillStyle = mean > 0 ? colours.worse : colours.better;
      context.fillRect(x, mean > 0 ? middle - size : middle, step - 1, size);
    });
    context.restore();
    context.strokeStyle = colours.soft;
    context.beginPath();
    context.moveTo(GUTTER, middle + 0.5);
    context.lineTo(this.width, middle + 0.5);
    context.stroke();
    context.strokeStyle = colours.grid;
    context.strokeRect(GUTTER + 0.5, strip.y + 0.5, this.plot() - 1, strip.height - 1);
    context.textAlign = "left";
    context.fillStyle = colours.soft;
    if (largest === 0) {
      context.fillText("no job differs here", GUTTER + 6, strip.y + 10);
      return;
    }
    context.textAlign = "right";
    const change = this.app.change();
    const isTime = change?.unit === "s";
    context.fillText(`full height: ${isTime ? duration(most) : grouped(most, 1)}`, this.width - 8, strip.y + 8);
    this.label(context, strip, isTime ? "wait" : "pairwise L1");
    this.label(context, strip, "change", 14);
    context.textAlign = "left";
    context.fillText(`${isTime ? "longer" : "more"} in run ${this.app.run().index + 1}`, GUTTER + 6, strip.y + 8);
    context.fillText(`${isTime ? "longer" : "more"} in run ${base.index + 1}`, GUTTER + 6, strip.y + strip.height - 8);
  }

  /** Draws the cursor, and the jobs under the pointer, selected, or waited for. */
  drawOverlay() {
    const context = /** @type {CanvasRenderingContext2D} */ (this.overlay.getContext("2d"));
    const ratio = this.overlay.width / Math.max(this.width, 1);
    const { app } = this, { view, colours, model } = app;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const strip of this.strips) {
      if (strip.kind !== "bars") continue;
      context.save();
      context.beginPath();
      context.rect(GUTTER, strip.y, this.plot(), strip.height);
      context.clip();
      const { run } = strip;
      if (view.job >= 0 && run.ofJob[view.job] >= 0) {
        const own = run.ofJob[view.job];
        app.freed(run, view.job).forEach(({ allocation }) => this.outline(context, strip, allocation, colours.waited, 1.5, [4, 3]));
        this.outline(context, strip, own, colours.ink, 2.5, []);
        const row = run.all.first[own] < run.all.first[own + 1] ? run.all.from[run.all.first[own]] : 0;
        const [x0, x1, y] = [this.x(run.arrival[view.job]), this.x(run.all.start[own]), this.y(strip, row) + 3];
        context.strokeStyle = context.fillStyle = colours.ink;
        context.lineWidth = 1.5;
        context.setLineDash([]);
        context.beginPath();
        context.moveTo(x0, y - 4);
        context.lineTo(x0, y + 4);
        context.moveTo(x0, y);
        context.lineTo(x1, y);
        context.stroke();
      }
      const hover = app.hover;
      if (hover && hover.allocation >= 0) {
        const job = hover.run.all.job[hover.allocation];
        const shown = hover.run === run ? hover.allocation : run.ofJob[job];
        if (shown >= 0) this.outline(context, strip, shown, colours.accent, 2, []);
        if (hover.run === run) app.neighbours().forEach((other) => this.outline(context, strip, other, colours.accent, 1, [2, 2]));
      }
      context.restore();
    }
    if (app.brush) {
      context.fillStyle = colours.brush;
      context.fillRect(Math.min(app.brush[0], app.brush[1]), AXIS, Math.abs(app.brush[1] - app.brush[0]), this.height - AXIS);
    }
    const x = Math.round(this.x(view.cursor)) + 0.5;
    if (x < GUTTER || x > this.width) return;
    context.setLineDash([]);
    context.strokeStyle = colours.accent;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, AXIS - 6);
    context.lineTo(x, this.height);
    context.stroke();
    const run = app.run();
    const text = `${instant(view.cursor, model.epoch)} · ${grouped((100 * run.busy.at(view.cursor)) / model.machine.points, 1)} % busy · ${grouped(run.waiting.at(view.cursor))} waiting`;
    const width = context.measureText(text).width + 12;
    const at = Math.min(Math.max(x - width / 2, GUTTER), this.width - width);
    context.fillStyle = colours.accent;
    context.fillRect(at, 2, width, AXIS - 6);
    context.fillStyle = colours.onAccent;
    context.textAlign = "left";
    context.fillText(text, at + 6, AXIS / 2 - 1);
  }

  /** Outlines the bars of an allocation.
   * @param {CanvasRenderingContext2D} context @param {Strip} strip @param {number} i @param {string} colour @param {number} width @param {number[]} dash */
  outline(context, strip, i, colour, width, dash) {
    const { all } = strip.run;
    const [x0, x1] = [this.x(all.start[i]), Math.max(this.x(all.end[i]), this.x(all.start[i]) + 2)];
    if (x1 < GUTTER || x0 > this.width) return;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    for (let r = all.first[i]; r < all.first[i + 1]; r++) {
      const y0 = this.y(strip, all.from[r]), y1 = this.y(strip, all.until[r]);
      context.rect(x0, y0, x1 - x0, Math.max(y1 - y0, 1));
    }
    context.stroke();
    context.setLineDash([]);
  }

  /** Sentences about what the picture shows. */
  notes() {
    const { model, view } = this.app;
    const run = this.app.run();
    const pixel = secondsPerPixel(view.level);
    const sorted = this.app.durations(run);
    const narrow = lowerBound(sorted, pixel);
    const notes = [`1 pixel = ${duration(Math.max(pixel, 1))}`];
    if (narrow > 0) {
      notes.push(`${grouped(narrow)} of ${grouped(sorted.length)} bars are narrower than a pixel and merge into density`);
    }
    if (run.packed) notes.push("rows are packed and do not show processors: the run has no placements (--placements writes them)");
    else if (model.machine.moves) notes.push("rows are slots, host by host; jobs share hosts, and the slot that a job has on its host is arbitrary");
    else notes.push(`rows are ${model.machine.unit} ${model.machine.order}`);
    if (!run.info.outages_known) notes.push("processors out of service are drawn as free, because the file of the outages could not be read");
    else if (run.down.count > 0) notes.push(run.packed ? "processors out of service are not shown" : `hatched ${model.machine.unit} are out of service`);
    if (this.app.colouringOf(run).shared) notes.push("distant jobs may share a colour");
    return notes;
  }
}

/** The next event after an instant, or the last before it: an arrival, a start or an end.
 * @param {LineRun} run @param {number} at @param {number} direction */
export function eventBeside(run, at, direction) {
  const { times } = run.waiting;
  const index = direction > 0 ? upperBound(times, at) : lowerBound(times, at) - 1;
  return times[Math.min(Math.max(index, 0), times.length - 1)] ?? at;
}

/** Diagonal lines of a colour. @param {CanvasRenderingContext2D} context @param {string} colour */
export function hatch(context, colour) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 6;
  const lines = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  lines.strokeStyle = colour;
  lines.lineWidth = 1.5;
  for (const x of [-6, 0, 6]) {
    lines.moveTo(x - 1, 7);
    lines.lineTo(x + 7, -1);
  }
  lines.stroke();
  return context.createPattern(canvas, "repeat") ?? colour;
}

/** A colour of the table as CSS. @param {import("./palette.js").Colouring} of @param {number} job */
export function jobColour(of, job) {
  return css(of.table[of.index[job]]);
}
