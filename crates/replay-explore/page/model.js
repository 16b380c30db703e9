// The runs of the page: jobs, allocations, load over time, and the machine.

import { Intervals, lowerBound, Steps } from "./intervals.js";

/**
 * @typedef {Int32Array | Float64Array} Values
 * @typedef {{name: string, kind: string, unit: string, moves: boolean, points: number, per_point: number, order: string,
 *   sides: number[], wrapped: boolean[] | null, row_names: string[], slice_names: string[], groups: [number, string][],
 *   layout: string | null, cells: Values, rows: Values, rowOf: Int32Array, linkFirst: Int32Array | null,
 *   links: Int32Array | null, leafOf: Int32Array | null}} Machine
 * @typedef {{count: number, start: Float64Array, end: Float64Array, first: Int32Array, from: Int32Array, until: Int32Array,
 *   points: Int32Array, index: Intervals}} Rows rows that are taken for some time: those of the index i are the ranges from first[i] on
 * @typedef {Rows & {job: Values, rows: number}} Allocations
 * @typedef {{index: number, label: string, info: any, packed: boolean, ran: number, start: Float64Array, arrival: Values,
 *   wait: Float64Array, run: Values, end: Float64Array, slowdown: Float64Array, held: Values, all: Allocations,
 *   ofJob: Int32Array, busy: Steps, waiting: Steps, down: Rows, out: Steps, byStart: Int32Array, copied: Map<string, Values>}} Run
 * @typedef {{name: string, unit: string, meaning: string, values: Values, time?: boolean}} JobColumn
 * @typedef {{version: string, trace: string, epoch: number | null, jobs: number, machine: Machine, runs: Run[], job: Values,
 *   submit: Values, size: Values, columns: Map<string, Values>, ids: (string | null)[] | null, from: number, until: number}} Model
 */

/**
 * Builds the model from the header and the columns of the page.
 * @param {any} header @param {Map<string, Values>} columns @param {Map<string, any>} values @returns {Model}
 */
export function buildModel(header, columns, values) {
  const of = (/** @type {string} */ name) => {
    const column = columns.get(name);
    if (!column) throw new Error(`no column ${name}`);
    return column;
  };
  const machine = buildMachine(header.machine, columns);
  const [job, submit, size] = [of("job"), of("submit"), of("size")];
  /** @type {Model} */
  const model = {
    version: header.version, trace: header.trace, epoch: header.epoch, jobs: header.jobs, machine, runs: [], job, submit, size,
    columns, ids: values.get("ids") ?? null, from: Infinity, until: -Infinity,
  };
  model.runs = header.runs.map((/** @type {any} */ info, /** @type {number} */ index) => buildRun(model, info, index));
  for (const run of model.runs) {
    for (let i = 0; i < model.jobs; i++) {
      if (run.arrival[i] < model.from) model.from = run.arrival[i];
      if (run.end[i] > model.until) model.until = run.end[i];
    }
    for (let i = 0; i < run.all.count; i++) if (run.all.end[i] > model.until) model.until = run.all.end[i];
  }
  if (!(model.until > model.from)) [model.from, model.until] = [Number.isFinite(model.from) ? model.from : 0, (model.from || 0) + 60];
  return model;
}

/** @param {any} described @param {Map<string, Values>} columns @returns {Machine} */
function buildMachine(described, columns) {
  const rows = columns.get("rows") ?? new Int32Array();
  const cells = columns.get("cells") ?? new Int32Array();
  const rowOf = new Int32Array(rows.length);
  rows.forEach((processor, row) => (rowOf[processor] = row));
  let linkFirst = null, links = null, leafOf = null;
  const counts = columns.get("link_counts"), steps = columns.get("links");
  if (counts && steps) {
    linkFirst = new Int32Array(counts.length + 1);
    links = new Int32Array(steps.length);
    for (let node = 0; node < counts.length; node++) {
      linkFirst[node + 1] = linkFirst[node] + counts[node];
      for (let i = linkFirst[node]; i < linkFirst[node + 1]; i++) links[i] = node + steps[i];
    }
  }
  if (described.groups.length > 0) {
    leafOf = new Int32Array(rows.length);
    described.groups.forEach((/** @type {[number, string]} */ [first], /** @type {number} */ leaf) => {
      const end = described.groups[leaf + 1]?.[0] ?? rows.length;
      for (let row = first; row < end; row++) /** @type {Int32Array} */ (leafOf)[rows[row]] = leaf;
    });
  }
  return { ...described, rows, cells, rowOf, linkFirst, links, leafOf };
}

/** @param {Model} model @param {any} info @param {number} index @returns {Run} */
function buildRun(model, info, index) {
  const { jobs, submit, size, columns } = model;
  const of = (/** @type {string} */ name) => columns.get(`${index}.${name}`);
  const wait = Float64Array.from(of("wait") ?? []);
  const baseRun = columns.get("run") ?? new Int32Array(jobs);
  const sum = (/** @type {Values} */ base, /** @type {Values | undefined} */ more, sign = 1) =>
    more ? Float64Array.from(base, (value, i) => value + sign * more[i]) : base;
  const arrival = sum(submit, of("late"));
  const run = sum(baseRun, of("longer"));
  const own = sum(run, of("own"));
  const held = sum(size, of("held"));
  const start = new Float64Array(jobs), end = new Float64Array(jobs), slowdown = new Float64Array(jobs);
  let ran = 0;
  for (let i = 0; i < jobs; i++) {
    start[i] = arrival[i] + wait[i];
    end[i] = start[i] + run[i];
    slowdown[i] = Math.max((wait[i] + run[i]) / Math.max(own[i], 10), 1) + 0 * wait[i];
    if (wait[i] === wait[i]) ran += 1;
  }
  const byStart = orderBy(start);
  const all = info.placements ? placed(model, index, start, run) : packed(model, held, start, end, byStart);
  const ofJob = new Int32Array(jobs).fill(-1);
  for (let i = 0; i < all.count; i++) ofJob[all.job[i]] = i;
  const copied = new Map();
  for (const name of ["pairwise_l1", "components", "leaves", "tied"]) {
    const values = of(name);
    if (values) copied.set(name, values);
  }
  const { busy, waiting } = load(all, arrival, wait);
  const down = outages(model, index);
  return { index, label: info.label, info, packed: !info.placements, ran, start, arrival, wait, run, end, slowdown, held, all, ofJob,
    busy, waiting, down, out: idle(all, down, !info.placements), byStart, copied };
}

/** Indices of the numbers in ascending order, without NaN; equal numbers in order of their indices. @param {Float64Array} values */
export function orderBy(values) {
  let low = Infinity, high = -Infinity, whole = true, count = 0;
  for (const value of values) {
    if (value !== value) continue;
    if (value < low) low = value;
    if (value > high) high = value;
    if (!Number.isInteger(value)) whole = false;
    count += 1;
  }
  const indices = new Int32Array(count);
  count = 0;
  values.forEach((value, i) => {
    if (value === value) indices[count++] = i;
  });
  // A key holds an integer and its index, so that keys sort as numbers, which is faster than a function that compares.
  const room = 2 ** Math.ceil(Math.log2(values.length + 1));
  if (!whole || (high - low + 1) * room > Number.MAX_SAFE_INTEGER) return indices.sort((a, b) => values[a] - values[b] || a - b);
  const keys = Float64Array.from(indices, (i) => (values[i] - low) * room + i).sort();
  return Int32Array.from(keys, (key) => key % room);
}

/** The recorded allocations. @param {Model} model @param {number} index @param {Float64Array} starts @param {Values} runs */
function placed(model, index, starts, runs) {
  const of = (/** @type {string} */ name) => model.columns.get(`${index}.${name}`) ?? new Int32Array();
  const [job, later, extra] = ["of", "later", "extra"].map(of);
  const start = Float64Array.from(job, (one, i) => starts[one] + later[i]);
  const end = start.map((from, i) => from + runs[job[i]] + extra[i]);
  return { ...taken(model, `${index}.`, start, end), job, rows: model.machine.points };
}

/** The processors out of service. @param {Model} model @param {number} index */
function outages(model, index) {
  const start = Float64Array.from(model.columns.get(`${index}.down_from`) ?? []);
  return taken(model, `${index}.down_`, start, Float64Array.from(model.columns.get(`${index}.down_until`) ?? [], (until) => (until === until ? until : Infinity)));
}

/** Rows that the page has as ranges. @param {Model} model @param {string} prefix @param {Float64Array} start @param {Float64Array} end @returns {Rows} */
function taken(model, prefix, start, end) {
  const [counts, gaps, lengths] = ["counts", "gaps", "lengths"].map((name) => model.columns.get(prefix + name) ?? new Int32Array());
  const count = start.length;
  const first = new Int32Array(count + 1), points = new Int32Array(count);
  const from = new Int32Array(gaps.length), until = new Int32Array(gaps.length);
  for (let i = 0; i < count; i++) {
    first[i + 1] = first[i] + counts[i];
    for (let r = first[i], row = 0; r < first[i + 1]; r++) {
      from[r] = row + gaps[r];
      row = until[r] = from[r] + lengths[r] + 1;
      points[i] += until[r] - from[r];
    }
  }
  return { count, start, end, first, from, until, points, index: new Intervals(start, end) };
}

/** The number of rows that are out of service and that no job holds, over time. @param {Allocations} all @param {Rows} down @param {boolean} packed */
function idle(all, down, packed) {
  const times = [], values = [];
  if (!packed && down.count > 0) {
    const held = new Int32Array(all.rows), out = new Int32Array(all.rows);
    const ends = [all.count, 2 * all.count, 2 * all.count + down.count];
    const at = new Float64Array(ends[2] + down.count);
    at.set(all.start);
    at.set(all.end, ends[0]);
    at.set(down.start, ends[1]);
    at.set(down.end.map((end) => (end < Infinity ? end : NaN)), ends[2]);
    let rows = 0, before = NaN;
    for (const event of orderBy(at)) {
      if (at[event] !== before) {
        times.push(before = at[event]);
        values.push(rows);
      }
      const [of, counts, first, by] = event < ends[0] ? [all, held, 0, 1] : event < ends[1] ? [all, held, ends[0], -1]
        : event < ends[2] ? [down, out, ends[1], 1] : [down, out, ends[2], -1];
      for (let r = of.first[event - first]; r < of.first[event - first + 1]; r++) {
        for (let row = of.from[r]; row < of.until[r]; row++) {
          if (out[row] > 0 && held[row] === 0) rows -= 1;
          counts[row] += by;
          if (out[row] > 0 && held[row] === 0) rows += 1;
        }
      }
      values[values.length - 1] = rows;
    }
  }
  return new Steps(Float64Array.from(times), Float64Array.from(values));
}

/**
 * Allocations without known processors: each job gets the lowest free rows at its start.
 * @param {Model} model @param {Values} held @param {Float64Array} starts @param {Float64Array} ends @param {Int32Array} order
 */
function packed(model, held, starts, ends, order) {
  const count = order.length;
  const start = Float64Array.from(order, (job) => starts[job]), end = Float64Array.from(order, (job) => ends[job]);
  const points = Int32Array.from(order, (job) => Math.ceil(held[job] / model.machine.per_point));
  const first = new Int32Array(count + 1);
  /** @type {number[]} */
  const from = [], until = [];
  const byEnd = orderBy(end);
  let rows = model.machine.points, released = 0;
  /** @type {[number, number][]} */
  let free = [[0, rows]];
  for (let i = 0; i < count; i++) {
    while (released < count && byEnd[released] < i && end[byEnd[released]] <= start[i]) {
      const gone = byEnd[released++];
      for (let r = first[gone]; r < first[gone + 1]; r++) free = released_(free, from[r], until[r]);
    }
    let need = points[i];
    while (need > 0) {
      if (free.length === 0) {
        free.push([rows, rows + need]);
        rows += need;
      }
      const take = Math.min(need, free[0][1] - free[0][0]);
      from.push(free[0][0]);
      until.push(free[0][0] + take);
      need -= take;
      free[0][0] += take;
      if (free[0][0] === free[0][1]) free.shift();
    }
    first[i + 1] = from.length;
  }
  return { count, job: order, start, end, first, from: Int32Array.from(from), until: Int32Array.from(until), points,
    index: new Intervals(start, end), rows };
}

/** Adds a range to sorted free ranges. @param {[number, number][]} free @param {number} from @param {number} until */
function released_(free, from, until) {
  const low = lowerBound(free, from, (range) => range[0]);
  const joinsLeft = low > 0 && free[low - 1][1] === from, joinsRight = low < free.length && free[low][0] === until;
  if (joinsLeft && joinsRight) {
    free[low - 1][1] = free[low][1];
    free.splice(low, 1);
  } else if (joinsLeft) free[low - 1][1] = until;
  else if (joinsRight) free[low][0] = from;
  else free.splice(low, 0, [from, until]);
  return free;
}

/**
 * Busy points and waiting jobs over time.
 * @param {Omit<Allocations, "rows">} all @param {Values} arrival @param {Float64Array} wait
 */
function load(all, arrival, wait) {
  const byEnd = orderBy(all.end);
  const arrivals = Float64Array.from(arrival).filter((_, i) => wait[i] === wait[i]).sort();
  // A job that is interrupted and runs again waits from the end of its allocation.
  /** @type {number[]} */
  const again = [];
  const seen = new Map();
  const jobsStarted = new Set();
  for (let i = 0; i < all.count; i++) {
    const job = all.job[i];
    if (jobsStarted.has(job)) again.push(seen.get(job));
    jobsStarted.add(job);
    seen.set(job, all.end[i]);
  }
  const queued = again.length > 0 ? Float64Array.from([...arrivals, ...again]).sort() : arrivals;
  const most = all.count * 2 + queued.length;
  const times = new Float64Array(most), busy = new Float64Array(most), waiting = new Float64Array(most);
  let count = 0, a = 0, s = 0, e = 0, used = 0, queue = 0;
  while (a < queued.length || s < all.count || e < all.count) {
    const now = Math.min(a < queued.length ? queued[a] : Infinity, s < all.count ? all.start[s] : Infinity,
      e < all.count ? all.end[byEnd[e]] : Infinity);
    while (a < queued.length && queued[a] === now) [a, queue] = [a + 1, queue + 1];
    while (s < all.count && all.start[s] === now) {
      used += all.points[s];
      s += 1;
      queue -= 1;
    }
    while (e < all.count && all.end[byEnd[e]] === now) used -= all.points[byEnd[e++]];
    times[count] = now;
    busy[count] = used;
    waiting[count++] = queue;
  }
  const at = times.slice(0, count);
  return { busy: new Steps(at, busy.slice(0, count)), waiting: new Steps(at, waiting.slice(0, count)) };
}

/** Mean distance in hops of the pairs of `points` points. @param {number} l1 @param {number} points */
function meanDistance(l1, points) {
  return points < 2 ? 0 : l1 / ((points * (points - 1)) / 2);
}

/**
 * The columns of the jobs in a run, and their differences from another run.
 * @param {Model} model @param {Run} run @param {Run | null} base @returns {JobColumn[]}
 */
export function jobColumns(model, run, base) {
  /** @type {JobColumn[]} */
  const all = [];
  /** @param {string} name @param {string} unit @param {string} meaning @param {Values | undefined} values @param {boolean} [time] */
  const add = (name, unit, meaning, values, time) => {
    if (values) all.push({ name, unit, meaning, values, time });
  };
  add("job", "", "job number in the trace", model.job);
  add("user", "", "number of the user in the trace", model.columns.get("user"));
  add("size", "processors", "processors that the job requests", model.size);
  add("submit", "s", "submission", model.submit, true);
  if (run.arrival !== model.submit) add("arrival", "s", "arrival; the wait begins here", run.arrival, true);
  add("start", "s", "start", run.start, true);
  add("end", "s", "completion", run.end, true);
  add("wait", "s", "start minus arrival", run.wait);
  if (base) {
    add("wait_change", "s", `wait minus the wait in run ${base.index + 1}`, run.wait.map((value, i) => value - base.wait[i]));
  }
  add("run_time", "s", "time for which the job held its processors", run.run);
  add("estimate", "s", "the user's estimate of the run time", model.columns.get("estimate"));
  add("turnaround", "s", "completion minus arrival", run.wait.map((value, i) => value + run.run[i]));
  add("bounded_slowdown", "", "turnaround divided by the run time, run times below 10 s as 10 s; at least 1", run.slowdown);
  if (run.held !== model.size) add("held_size", "processors", "processors that the job held", run.held);
  const l1 = run.copied.get("pairwise_l1");
  const baseL1 = base?.copied.get("pairwise_l1");
  const fewer = model.columns.get(`${run.index}.fewer`);
  add("pairwise_l1", "hops", "sum of the distances between all pairs of its processors", l1);
  if (base && l1 && baseL1) {
    add("pairwise_l1_change", "hops", `pairwise L1 minus that in run ${base.index + 1}`, Float64Array.from(l1, (value, i) => value - baseL1[i]));
  }
  add("distance", "hops", "mean distance between two of its processors", l1 && Float64Array.from(l1, (value, i) =>
    meanDistance(value, Math.ceil((model.size[i] - (fewer?.[i] ?? 0)) / model.machine.per_point))));
  add("components", "", "connected parts of its processors", run.copied.get("components"));
  add("leaves", "", "leaves on which the job has nodes", run.copied.get("leaves"));
  add("tied", "sets", "sets of processors with the best score in the decision", run.copied.get("tied"));
  for (const name of ["group", "queue", "partition"]) add(name, "", `number of the ${name} in the trace`, model.columns.get(name));
  return all;
}

/** Short names of columns in filters. */
export const ALIASES = /** @type {Record<string, string>} */ ({ slowdown: "bounded_slowdown", run: "run_time", processors: "size",
  l1: "pairwise_l1", change: "wait_change" });

/** The name of a job: its number, and its id in the log if there is one. @param {Model} model @param {number} job */
export function jobName(model, job) {
  const id = model.ids?.[job];
  return id ? `${model.job[job]} (${id})` : `${model.job[job]}`;
}
