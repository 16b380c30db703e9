// The state of the page, which the fragment of its address holds.

/**
 * @typedef {{level: number, left: number, top: number, bottom: number, run: number, base: number, colour: string, filter: string,
 *   tab: string, sort: string, down: boolean, job: number, cursor: number, theme: string}} View
 *
 * level: pixels show 2^(level / 4) seconds; left: time at the left edge; top, bottom: rows shown; base: run to compare with, or -1;
 * job: index of the selected job, or -1; cursor: the instant of the machine.
 */

/** Steps of the zoom in a doubling. */
export const STEPS_PER_OCTAVE = 4;

/** Seconds of a pixel. @param {number} level */
export function secondsPerPixel(level) {
  return 2 ** (level / STEPS_PER_OCTAVE);
}

/** The least level at which `seconds` fit `pixels`. @param {number} seconds @param {number} pixels */
export function fittingLevel(seconds, pixels) {
  return Math.ceil(Math.log2(Math.max(seconds, 1) / Math.max(pixels, 1)) * STEPS_PER_OCTAVE - 1e-9);
}

/** @param {View} view @param {(job: number) => number} number job number in the trace */
export function fragment(view, number) {
  const parts = new URLSearchParams();
  parts.set("at", `${Math.round(view.left * 100) / 100}`);
  parts.set("zoom", `${view.level}`);
  if (view.top !== 0 || Number.isFinite(view.bottom)) parts.set("rows", `${Math.round(view.top)}-${Math.round(view.bottom)}`);
  if (view.run > 0) parts.set("run", `${view.run + 1}`);
  if (view.base >= 0) parts.set("base", `${view.base + 1}`);
  parts.set("colour", view.colour);
  if (view.filter) parts.set("filter", view.filter);
  if (view.tab !== "jobs") parts.set("tab", view.tab);
  if (view.sort !== "submit" || view.down) parts.set("sort", (view.down ? "-" : "") + view.sort);
  if (view.job >= 0) parts.set("job", `${number(view.job)}`);
  parts.set("cursor", `${Math.round(view.cursor)}`);
  if (view.theme) parts.set("theme", view.theme);
  return parts.toString();
}

/**
 * The state that a fragment describes; what it does not name, or names wrongly, stays as in `initial`.
 * @param {string} text @param {View} initial @param {number} runs @param {(number: number) => number} index index of a job number
 * @returns {View}
 */
export function parseFragment(text, initial, runs, index) {
  const parts = new URLSearchParams(text.replace(/^#/, ""));
  const view = { ...initial };
  const number = (/** @type {string} */ name, /** @type {number} */ low, /** @type {number} */ high) => {
    const value = parts.get(name);
    const parsed = value === null || value === "" ? NaN : Number(value);
    return parsed >= low && parsed <= high ? parsed : undefined;
  };
  view.left = number("at", -1e13, 1e13) ?? view.left;
  view.level = Math.round(number("zoom", -60, 120) ?? view.level);
  const rows = /^(\d+)-(\d+)$/.exec(parts.get("rows") ?? "");
  if (rows && Number(rows[1]) < Number(rows[2])) [view.top, view.bottom] = [Number(rows[1]), Number(rows[2])];
  view.run = Math.round(number("run", 1, runs) ?? view.run + 1) - 1;
  view.base = Math.round(number("base", 1, runs) ?? view.base + 1) - 1;
  if (view.base === view.run) view.base = -1;
  view.colour = parts.get("colour") ?? view.colour;
  view.filter = parts.get("filter") ?? view.filter;
  view.tab = parts.get("tab") ?? view.tab;
  const sort = parts.get("sort");
  if (sort) [view.sort, view.down] = [sort.replace(/^-/, ""), sort.startsWith("-")];
  const job = number("job", -1e15, 1e15);
  if (job !== undefined) view.job = index(job);
  view.cursor = number("cursor", -1e13, 1e13) ?? view.cursor;
  const theme = parts.get("theme");
  if (theme === "dark" || theme === "light") view.theme = theme;
  return view;
}
