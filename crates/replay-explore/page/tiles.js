// Pictures of the bars in tiles of 256 pixels. A tile is drawn once, in slices of a few milliseconds; panning only copies tiles.

import { Raster } from "./raster.js";
import { secondsPerPixel } from "./view.js";

/** @typedef {import("./model.js").Run} TileRun @typedef {import("./palette.js").Colouring} TileColouring */
/**
 * @typedef {{run: TileRun, colouring: TileColouring, version: number, level: number, ratio: number, height: number, top: number,
 *   bottom: number}} Scene what the tiles of a row of tiles have in common; height in device pixels
 * @typedef {{key: string, scene: Scene, from: number, until: number, raster: Raster, at: number, last: number}} Task
 */

export const TILE = 256;
const MOST_TILES = 160;
const BARS_PER_CHECK = 200;

export class Tiles {
  constructor() {
    /** @type {Map<string, HTMLCanvasElement>} */
    this.ready = new Map();
    /** @type {Map<string, Task>} */
    this.tasks = new Map();
    /** @type {Map<number, {canvas: HTMLCanvasElement, left: number, seconds: number}>} */
    this.whole = new Map();
    this.drawn = 0;
  }

  /**
   * Copies the tiles of a window to a context, and queues tiles that are missing; returns whether all were there.
   * @param {CanvasRenderingContext2D} context in device pixels @param {Scene} scene @param {number} x @param {number} y
   * @param {number} width device pixels @param {number} left time at x
   */
  draw(context, scene, x, y, width, left) {
    const seconds = secondsPerPixel(scene.level) / scene.ratio;
    const pixel = Math.round(left / seconds);
    const firstTile = Math.floor(pixel / TILE), lastTile = Math.floor((pixel + width - 1) / TILE);
    let complete = true;
    context.save();
    context.beginPath();
    context.rect(x, y, width, scene.height);
    context.clip();
    for (let tile = firstTile; tile <= lastTile; tile++) {
      const key = keyOf(scene, tile);
      const picture = this.ready.get(key);
      const at = x + tile * TILE - pixel;
      if (picture) {
        this.ready.delete(key);
        this.ready.set(key, picture);
        context.drawImage(picture, at, y);
        continue;
      }
      complete = false;
      this.stretch(context, scene, at, y, tile * TILE * seconds, seconds);
      this.queue(key, scene, tile, seconds);
    }
    context.restore();
    if (complete) {
      this.keep(context, scene, x, y, width, pixel * seconds, seconds);
      for (const tile of [firstTile - 1, lastTile + 1]) {
        const key = keyOf(scene, tile);
        if (!this.ready.has(key)) this.queue(key, scene, tile, seconds);
      }
    }
    return complete;
  }

  /** Draws the last whole picture, stretched, where a tile is missing.
   * @param {CanvasRenderingContext2D} context @param {Scene} scene @param {number} x @param {number} y @param {number} left
   * @param {number} seconds */
  stretch(context, scene, x, y, left, seconds) {
    const whole = this.whole.get(scene.run.index);
    if (!whole) return;
    const width = (TILE * seconds) / whole.seconds;
    context.drawImage(whole.canvas, (left - whole.left) / whole.seconds, 0, width, whole.canvas.height, x, y, TILE, scene.height);
  }

  /** Keeps a whole picture. @param {CanvasRenderingContext2D} context @param {Scene} scene @param {number} x @param {number} y
   * @param {number} width @param {number} left @param {number} seconds */
  keep(context, scene, x, y, width, left, seconds) {
    const before = this.whole.get(scene.run.index);
    if (before && before.left === left && before.seconds === seconds && before.canvas.height === scene.height) return;
    const canvas = before?.canvas ?? document.createElement("canvas");
    if (canvas.width !== width || canvas.height !== scene.height) [canvas.width, canvas.height] = [width, scene.height];
    canvas.getContext("2d")?.drawImage(context.canvas, x, y, width, scene.height, 0, 0, width, scene.height);
    this.whole.set(scene.run.index, { canvas, left, seconds });
  }

  /** @param {string} key @param {Scene} scene @param {number} tile @param {number} seconds */
  queue(key, scene, tile, seconds) {
    const found = this.tasks.get(key);
    if (found) return;
    const [from, until] = [tile * TILE * seconds, (tile + 1) * TILE * seconds];
    const { index } = scene.run.all;
    const task = { key, scene, from, until, raster: new Raster(TILE, scene.height), at: index.next(0, from),
      last: index.startedBefore(until) };
    this.tasks.set(key, task);
  }

  /** Forgets tiles that wait, because the window has moved on. @param {(task: Task) => boolean} isWanted */
  drop(isWanted) {
    for (const [key, task] of this.tasks) if (!isWanted(task)) this.tasks.delete(key);
  }

  /** Draws tiles for some milliseconds; returns whether a tile became ready. @param {number} budget */
  work(budget) {
    const end = performance.now() + budget;
    let finished = false;
    for (const [key, task] of this.tasks) {
      if (!advance(task, end)) break;
      this.tasks.delete(key);
      this.ready.set(key, picture(task.raster));
      this.drawn += 1;
      finished = true;
      if (this.ready.size > MOST_TILES) {
        const [oldest] = this.ready.keys();
        this.ready.delete(oldest);
      }
      if (performance.now() > end) break;
    }
    return finished;
  }
}

/** @param {Scene} scene @param {number} tile */
function keyOf(scene, tile) {
  return `${scene.run.index} ${scene.level} ${tile} ${scene.height} ${scene.top} ${scene.bottom} ${scene.version}`;
}

/** Adds bars to a tile until the instant `end`; returns whether the tile is complete. @param {Task} task @param {number} end */
function advance(task, end) {
  const { scene, raster, from, until } = task;
  const { all } = scene.run, { table, index: colour } = scene.colouring;
  const scale = TILE / (until - from), rows = scene.height / (scene.bottom - scene.top);
  while (task.at < task.last) {
    for (let n = 0; n < BARS_PER_CHECK && task.at < task.last; n++) {
      const i = task.at;
      const x0 = (all.start[i] - from) * scale, x1 = (all.end[i] - from) * scale;
      const ink = table[colour[all.job[i]]];
      for (let r = all.first[i]; r < all.first[i + 1]; r++) {
        raster.bar(x0, x1, (all.from[r] - scene.top) * rows, (all.until[r] - scene.top) * rows, ink, 1);
      }
      task.at = all.index.next(i + 1, from);
    }
    if (performance.now() > end && task.at < task.last) return false;
  }
  return true;
}

/** @param {Raster} raster */
function picture(raster) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [raster.width, raster.height];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(raster.width, raster.height);
  raster.pixels(image.data);
  context.putImageData(image, 0, 0);
  return canvas;
}
