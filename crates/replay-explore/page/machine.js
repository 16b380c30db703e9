// The machine at the instant of the cursor: a cell for each processor.

import { isolated } from "./format.js";
import { hatch, jobColour } from "./timeline.js";

/** @typedef {import("./main.js").App} MapApp */

const PAD = 8, TITLE = 16, SLICE_GAP = 14;

export class MachineMap {
  /** @param {HTMLCanvasElement} canvas @param {MapApp} app */
  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    this.cell = [8, 8];
    this.across = 1;
    this.label = 0;
    this.width = this.height = 0;
    /** @type {Int32Array} */
    this.holder = new Int32Array();
  }

  /** The allocation on each row at the cursor; -1 on free rows, and -2 on rows that are out of service. */
  hold() {
    const { all, down } = this.app.run();
    const holder = new Int32Array(all.rows).fill(-1);
    const at = this.app.view.cursor;
    for (const of of [down, all]) {
      of.index.overlapping(at, at, (i) => {
        if (of.end[i] <= at) return;
        for (let r = of.first[i]; r < of.first[i + 1]; r++) holder.fill(of === down ? -2 : i, of.from[r], of.until[r]);
      });
    }
    return holder;
  }

  layout() {
    const { machine } = this.app.model;
    const [columns, rows, slices] = machine.sides;
    const width = Math.floor(this.canvas.parentElement?.clientWidth ?? 300);
    const names = machine.row_names;
    const longest = names.reduce((most, name) => Math.max(most, [...name].length), 0);
    this.label = names.length > 0 ? Math.min(longest, 12) * 6.5 + 6 : 0;
    const most = Math.min(window.innerHeight * 0.5, 460);
    // The number of slices side by side that gives the largest cells.
    let best = 0;
    for (let across = 1; across <= slices; across++) {
      const down = Math.ceil(slices / across);
      const w = (width - PAD * 2 - (across - 1) * SLICE_GAP - across * this.label) / (columns * across);
      const h = (most - PAD * 2 - down * (slices > 1 ? TITLE : 0) - (down - 1) * 4) / (rows * down);
      const size = Math.min(w, h, 26);
      if (size > best) [best, this.across] = [size, across];
    }
    const size = Math.max(best, 1.5);
    // Long rows fill the width; cells of trees may be flat.
    const flat = names.length > 0 ? Math.min(Math.max((width - PAD * 2 - this.label) / columns / this.across, 1), 26) : size;
    this.cell = [this.across === 1 ? Math.max(size, flat) : size, size];
    const down = Math.ceil(slices / this.across);
    this.width = width;
    this.height = this.app.run().packed ? PAD * 2 + TITLE
      : Math.ceil(PAD * 2 + down * (rows * this.cell[1] + (slices > 1 ? TITLE : 0)) + (down - 1) * 4);
    const ratio = window.devicePixelRatio || 1;
    this.canvas.style.height = `${this.height}px`;
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(this.height * ratio)];
  }

  /** Position of a cell. @param {number} index */
  place(index) {
    const { machine } = this.app.model;
    const [columns, rows, slices] = machine.sides;
    const [x, y, z] = [index % columns, Math.floor(index / columns) % rows, Math.floor(index / columns / rows)];
    const title = slices > 1 ? TITLE : 0;
    const left = PAD + this.label + (z % this.across) * (columns * this.cell[0] + SLICE_GAP + this.label);
    const top = PAD + Math.floor(z / this.across) * (rows * this.cell[1] + title + 4) + title;
    return [left + x * this.cell[0], top + (rows - 1 - y) * this.cell[1]];
  }

  draw() {
    const { app } = this, { model, colours } = app, { machine } = model;
    const run = app.run();
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    const ratio = this.canvas.width / Math.max(this.width, 1);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    if (run.packed) {
      context.fillStyle = colours.soft;
      context.fillText("No placements: --placements writes them", PAD, PAD + 8);
      this.holder = new Int32Array();
      return;
    }
    this.holder = this.hold();
    const colouring = app.colouringOf(run);
    const lit = app.litNow(), beside = app.neighbours();
    const gap = this.cell[0] > 5 && this.cell[1] > 5 ? 1 : this.cell[1] > 3 ? 0.5 : 0;
    const [w, h] = [this.cell[0] - gap, this.cell[1] - gap];
    const out = hatch(context, colours.out);
    machine.cells.forEach((processor, index) => {
      if (processor < 0) return;
      const holder = this.holder[machine.rowOf[processor]];
      const [x, y] = this.place(index);
      context.globalAlpha = lit < 0 || holder < 0 || holder === lit ? 1 : beside.has(holder) ? 0.75 : 0.35;
      context.fillStyle = holder < 0 ? colours.free : jobColour(colouring, run.all.job[holder]);
      context.fillRect(x, y, w, h);
      if (holder === -2) {
        context.fillStyle = out;
        context.fillRect(x, y, w, h);
      }
      if (holder >= 0 && (holder === lit || beside.has(holder)) && w > 3) {
        context.globalAlpha = 1;
        context.strokeStyle = holder === lit ? colours.ink : colours.accent;
        context.lineWidth = holder === lit ? 2 : 1;
        context.setLineDash(holder === lit ? [] : [2, 2]);
        context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
        context.setLineDash([]);
      }
    });
    context.globalAlpha = 1;
    context.fillStyle = colours.soft;
    const [columns, rows, slices] = machine.sides;
    for (let z = 0; z < slices && slices > 1; z++) {
      const [x, y] = this.place((z * rows + rows - 1) * columns);
      context.textAlign = "left";
      context.fillText(isolated(machine.slice_names[z] ?? ""), x, y - TITLE / 2);
    }
    if (this.cell[1] >= 9) {
      context.textAlign = "right";
      machine.row_names.forEach((name, row) => {
        const [x, y] = this.place(row * columns);
        context.fillText(isolated([...name].slice(0, 12).join("")), x - 5, y + this.cell[1] / 2);
      });
    }
  }

  /** The processor and the allocation at a position. @param {number} x @param {number} y */
  hit(x, y) {
    const { machine } = this.app.model;
    for (let index = 0; index < machine.cells.length; index++) {
      const [left, top] = this.place(index);
      if (x < left || y < top || x >= left + this.cell[0] || y >= top + this.cell[1] || machine.cells[index] < 0) continue;
      return { processor: machine.cells[index], allocation: this.holder[machine.rowOf[machine.cells[index]]] ?? -1 };
    }
    return null;
  }
}
