// Why a job waited: the jobs whose ends freed its processors, and the jobs that started before it.

import { upperBound } from "./intervals.js";

/** @typedef {import("./model.js").Run} Run_ @typedef {import("./model.js").Model} Model_ */

/**
 * The allocations whose ends freed the processors of a job while it waited, the last end first: for each row, the latest end
 * before the start. A run without known processors has none.
 * @param {Run_} run @param {number} job @returns {{allocation: number, rows: number}[]}
 */
export function freedFor(run, job) {
  const own = run.ofJob[job];
  if (own < 0 || run.packed) return [];
  const { all } = run;
  const [from, start] = [run.arrival[job], all.start[own]];
  if (start <= from) return [];
  /** @type {Map<number, number>} */
  const latest = new Map();
  for (let r = all.first[own]; r < all.first[own + 1]; r++) {
    for (let row = all.from[r]; row < all.until[r]; row++) latest.set(row, -1);
  }
  all.index.overlapping(from, start, (other) => {
    if (other === own || all.end[other] <= from || all.end[other] > start) return;
    for (let r = all.first[other]; r < all.first[other + 1]; r++) {
      for (let row = all.from[r]; row < all.until[r]; row++) {
        const before = latest.get(row);
        if (before !== undefined && (before < 0 || all.end[before] <= all.end[other])) latest.set(row, other);
      }
    }
  });
  /** @type {Map<number, number>} */
  const rows = new Map();
  for (const other of latest.values()) if (other >= 0) rows.set(other, (rows.get(other) ?? 0) + 1);
  const found = [...rows].map(([allocation, count]) => ({ allocation, rows: count }));
  return found.sort((a, b) => all.end[b.allocation] - all.end[a.allocation] || a.allocation - b.allocation);
}

/**
 * Jobs that started while a job waited: all, and those that arrived later.
 * @param {Run_} run @param {number} job
 */
export function startedMeanwhile(run, job) {
  const { all } = run;
  const [from, until] = [run.arrival[job], run.start[job]];
  let started = 0;
  /** @type {number[]} */
  const overtook = [];
  for (let i = all.index.startedBefore(from); i < all.count && all.start[i] < until; i++) {
    if (all.job[i] === job) continue;
    started += 1;
    if (run.arrival[all.job[i]] > from) overtook.push(i);
  }
  return { started, overtook };
}

/**
 * Points that are free and in service over the wait of a job: the least and the most, and the share of the wait with enough of them.
 * @param {Model_} model @param {Run_} run @param {number} job
 */
export function freeDuringWait(model, run, job) {
  const need = Math.ceil(run.held[job] / model.machine.per_point);
  const [from, until] = [run.arrival[job], run.start[job]];
  let enough = 0, most = 0, least = Infinity;
  for (let at = from; at < until; ) {
    const free = model.machine.points - run.busy.at(at) - run.out.at(at);
    const next = Math.min(until, ...[run.busy, run.out].map(({ times }) => times[upperBound(times, at)] ?? until));
    if (free >= need) enough += next - at;
    most = Math.max(most, free);
    least = Math.min(least, free);
    at = next;
  }
  return { need, enough, most, least };
}

/**
 * Jobs that run at an instant one hop away from a job, or on a leaf of the job if the machine is a tree or blocks.
 * @param {Model_} model @param {Run_} run @param {number} allocation @param {number} at @returns {Set<number>}
 */
export function neighbours(model, run, allocation, at) {
  const { machine } = model, { all } = run;
  /** @type {Set<number>} */
  const found = new Set();
  if (run.packed || allocation < 0) return found;
  const holder = new Int32Array(machine.points).fill(-1);
  all.index.overlapping(at, at, (other) => {
    if (all.end[other] <= at) return;
    for (let r = all.first[other]; r < all.first[other + 1]; r++) holder.fill(other, all.from[r], all.until[r]);
  });
  /** @type {Set<number>} */
  const leaves = new Set();
  for (let r = all.first[allocation]; r < all.first[allocation + 1]; r++) {
    for (let row = all.from[r]; row < all.until[r]; row++) {
      const node = machine.rows[row];
      if (machine.leafOf) leaves.add(machine.leafOf[node]);
      if (!machine.links || !machine.linkFirst) continue;
      for (let i = machine.linkFirst[node]; i < machine.linkFirst[node + 1]; i++) found.add(holder[machine.rowOf[machine.links[i]]]);
    }
  }
  if (machine.leafOf) holder.forEach((other, row) => {
    if (leaves.has(/** @type {Int32Array} */ (machine.leafOf)[machine.rows[row]])) found.add(other);
  });
  found.delete(-1);
  found.delete(allocation);
  return found;
}
