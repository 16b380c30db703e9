// Unit tests of the modules that need no browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";

import { base64Bytes, decodeColumn, readColumns } from "../../page/codec.js";
import { csvField, duration, grouped, instant, ticks } from "../../page/format.js";
import { Intervals, lowerBound, Steps, upperBound } from "../../page/intervals.js";
import { compileFilter } from "../../page/filter.js";
import { colouring, HIDDEN } from "../../page/palette.js";
import { Raster } from "../../page/raster.js";
import { buildModel, orderBy } from "../../page/model.js";
import { freedFor, freeDuringWait, neighbours, startedMeanwhile } from "../../page/reasons.js";
import { fittingLevel, fragment, parseFragment, secondsPerPixel } from "../../page/view.js";

const info = (name, length, more = {}) =>
  ({ name, length, offset: 0, bytes: 0, inflated: 0, delta: false, nullable: false, json: false, ...more });

test("columns decode values, differences and absent values", async () => {
  assert.deepEqual([...decodeColumn(Uint8Array.of(0, 1, 2, 0x80, 1), info("a", 4))], [0, -1, 1, 64]);
  assert.deepEqual([...decodeColumn(Uint8Array.of(10, 2, 1), info("a", 3, { delta: true }))], [5, 6, 5]);
  assert.deepEqual([...decodeColumn(Uint8Array.of(11, 0, 3), info("a", 3, { delta: true, nullable: true }))], [5, NaN, 6]);
  const large = decodeColumn(Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x40), info("a", 1));
  assert.equal(large[0], 2 ** 33);
  assert.throws(() => decodeColumn(Uint8Array.of(0x80), info("a", 1)), /ends early/);
  assert.throws(() => decodeColumn(Uint8Array.of(1, 1), info("a", 1)), /extra bytes/);
  const packed = deflateRawSync(Uint8Array.of(2, 4));
  const { numbers } = await readColumns([info("x", 2, { bytes: packed.length })], base64Bytes(packed.toString("base64")));
  assert.deepEqual([...numbers.get("x")], [1, 2]);
});

test("the index finds exactly the intervals that overlap", () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  const starts = Float64Array.from({ length: 700 }, () => random(1000)).sort();
  const ends = starts.map((start) => start + random(random(10) === 0 ? 500 : 20));
  const index = new Intervals(starts, ends);
  for (let n = 0; n < 300; n++) {
    const from = random(1100) - 50, until = from + random(60) + 1;
    const found = [];
    index.overlapping(from, until, (i) => void found.push(i));
    assert.deepEqual(found, [...starts.keys()].filter((i) => starts[i] < until && ends[i] > from));
  }
  assert.equal(new Intervals(new Float64Array(), new Float64Array()).next(0, 0), 0);
  assert.deepEqual([lowerBound([1, 2, 2, 3], 2), upperBound([1, 2, 2, 3], 2)], [1, 3]);
});

test("steps have means", () => {
  const steps = new Steps(Float64Array.of(0, 10, 20), Float64Array.of(4, 0, 2));
  assert.deepEqual([steps.at(-1), steps.at(0), steps.at(15), steps.at(99)], [0, 4, 0, 2]);
  assert.deepEqual([steps.mean(0, 20), steps.mean(5, 15), steps.mean(-10, 10)], [2, 2, 2]);
});

test("filters are expressions of columns", () => {
  const rows = { size: [1, 64, 65, 128], wait: [0, 7200, 3599, NaN] };
  const column = (name) => Object.hasOwn(rows, name) && ((row) => rows[name][row]);
  const passing = (text) => [0, 1, 2, 3].filter(compileFilter(text, column, Object.keys(rows)));
  for (const [text, expected] of [
    ["", [0, 1, 2, 3]], ["size > 64", [2, 3]], ["size > 64 and wait > 3600", []], ["size>=64&&wait<2h or size=1", [0, 2]],
    ["not size > 64", [0, 1]], ["NOT (size = 1 OR size = 128)", [1, 2]], ["wait >= 0", [0, 1, 2]], ["wait != 0", [1, 2]],
    ["wait = 2h", [1]], ["size * 2 = 128", [1]], ["size + 1 - 2 = -(-63)", [1]], ["size / 64 > 1.5", [3]], ["wait", [1, 2]],
    ["size = 1 or size = 64 and wait < 1", [0]], ["wait < 60min", [0, 2]], ["size < 1e2", [0, 1, 2]],
  ]) assert.deepEqual(passing(text), expected, text);
  for (const [text, message] of [
    ["size >", /character 7: a column or a number is missing/], ["siz > 1", /character 1: no column "siz".*size, wait/],
    ["(size > 1", /character 10: a \) is missing/], ["size > 1 1", /character 10: unexpected "1"/], ["size # 1", /unexpected "#"/],
    ["wait > 2w", /unknown unit w/], ["wait > 2constructor", /unknown unit/], ["and", /no column "and"/], ["constructor > 1", /no column/],
    ["size > 1)", /unexpected "\)"/],
  ]) assert.throws(() => compileFilter(text, column, Object.keys(rows)), message, text);
});

test("bars narrower than a pixel become density", () => {
  const raster = new Raster(4, 2);
  raster.bar(0, 0.25, 0, 1, [200, 100, 0]);
  raster.bar(0.5, 0.75, 0, 1, [0, 100, 200]);
  raster.bar(1, 3.5, 0.5, 2, [10, 20, 30]);
  raster.bar(-5, 99, -5, -1, [255, 255, 255]);
  const pixels = new Uint8ClampedArray(4 * 2 * 4);
  raster.pixels(pixels);
  assert.deepEqual([...pixels.slice(0, 4)], [100, 100, 100, 128]);
  assert.deepEqual([...pixels.slice(4, 8)], [10, 20, 30, 128]);
  assert.deepEqual([...pixels.slice(24, 32)], [10, 20, 30, 255, 10, 20, 30, 128]);
});

test("numbers and instants read well", () => {
  assert.deepEqual([grouped(1234567), grouped(-1234.5, 1), grouped(NaN), grouped(-0.01)], ["1,234,567", "−1,234.5", "–", "0"]);
  assert.deepEqual([0, 59, 3600, 90061, -61].map(duration), ["0 s", "59 s", "1 h", "1 d 1 h", "−1 min 1 s"]);
  assert.deepEqual([instant(90061, null), instant(0, 1600000000), instant(-1, null)], ["1 d 01:01:01", "2020-09-13 12:26:40", "-1 d 23:59:59".replace("-", "−")]);
  const marks = ticks(0, 86400, 5, null);
  assert.deepEqual(marks.map(({ at }) => at), [0, 21600, 43200, 64800, 86400]);
  assert.deepEqual(marks.map(({ text }) => text), ["0 d", "06:00", "12:00", "18:00", "1 d"]);
  // Ticks of a log with dates are at midnight of the log.
  assert.ok(ticks(0, 400000, 5, 1600000000).every(({ at }) => (at + 1600000000) % 86400 === 0));
  assert.deepEqual(["a,b", 'a"b', "plain"].map(csvField), ['"a,b"', '"a""b"', "plain"]);
});

test("colours mark hidden jobs and the most frequent categories", () => {
  const numbers = { name: "size", label: "size", kind: "number", unit: "" };
  const of = colouring(numbers, [1, 64, 8, NaN], Uint8Array.of(1, 1, 0, 1), false);
  assert.deepEqual([of.index[0], of.index[1], of.index[2], of.low, of.high], [0, 63, HIDDEN, 1, 64]);
  const users = colouring({ ...numbers, kind: "category" }, [9, 9, 7, 7, 7, 1], null, true);
  assert.deepEqual(users.categories.map(({ value, jobs }) => [value, jobs]), [[7, 3], [9, 2], [1, 1]]);
});

test("the view survives its address", () => {
  const view = { level: 31, left: 12.5, top: 10, bottom: 60, run: 1, base: 0, colour: "wait", filter: "size > 1 & x", tab: "size",
    sort: "wait", down: true, job: 4, cursor: 777, theme: "dark" };
  const initial = { ...view, level: 0, left: 0, top: 0, bottom: Infinity, run: 0, base: -1, colour: "size", filter: "", tab: "jobs", sort: "submit",
    down: false, job: -1, cursor: 0, theme: "" };
  const text = fragment(view, (job) => job + 100);
  assert.deepEqual(parseFragment(`#${text}`, initial, 2, (number) => number - 100), view);
  assert.deepEqual(parseFragment("#zoom=x&run=9&base=1&rows=9-3&at=&theme=pink&job=", initial, 2, Number), initial);
  assert.ok(secondsPerPixel(fittingLevel(86400, 1000)) * 1000 >= 86400);
  assert.ok(secondsPerPixel(fittingLevel(86400, 1000) - 1) * 1000 < 86400);
});

/** A run of four jobs on two processors; placements and more columns optional. */
function small(placements, more = {}) {
  const machine = { name: "2x1", kind: "grid", unit: "processors", moves: false, points: 2, per_point: 1, order: "along a Hilbert curve",
    sides: [2, 1, 1], wrapped: [false, false, false], row_names: [], slice_names: [], groups: [], layout: null };
  const columns = new Map(Object.entries({
    rows: [0, 1], cells: [0, 1], link_counts: [1, 1], links: [1, -1], job: [1, 2, 3, 4], submit: [0, 0, 1, 2], size: [1, 1, 2, 1],
    run: [10, 4, 5, 1], "0.wait": [0, 0, 9, 2], ...(placements
      ? { "0.of": [0, 1, 3, 2], "0.later": [0, 0, 0, 0], "0.extra": [0, 0, 0, 0], "0.counts": [1, 1, 1, 1], "0.gaps": [0, 1, 1, 0], "0.lengths": [0, 0, 0, 1] } : {}), ...more,
  }).map(([name, values]) => [name, ArrayBuffer.isView(values) ? values : Int32Array.from(values)]));
  const header = { version: "0", trace: "t", epoch: null, jobs: 4, machine, runs: [{ label: "a", placements, metrics: [], explained: {}, outages_known: true }] };
  return buildModel(header, columns, new Map());
}

test("jobs wait for the ends of the jobs on their processors", () => {
  const model = small(true), [run] = model.runs;
  assert.deepEqual([...run.start], [0, 0, 10, 4]);
  assert.deepEqual(freedFor(run, 2).map(({ allocation, rows }) => [run.all.job[allocation], rows]), [[0, 1], [3, 1]]);
  assert.deepEqual(freedFor(run, 0), []);
  const { started, overtook } = startedMeanwhile(run, 2);
  assert.deepEqual([started, overtook.map((i) => run.all.job[i])], [1, [3]]);
  assert.deepEqual([...neighbours(model, run, run.ofJob[0], 4)].map((i) => run.all.job[i]), [3]);
  assert.deepEqual([run.busy.at(0), run.busy.at(4), run.busy.at(9), run.busy.at(10), run.busy.at(15)], [2, 2, 1, 2, 0]);
  assert.deepEqual([run.waiting.at(0), run.waiting.at(1), run.waiting.at(2), run.waiting.at(4), run.waiting.at(10)], [0, 1, 2, 1, 0]);
});

test("processors out of service are not free", () => {
  // Processor 1 is out of service from 5 to 10, and processor 0 from 14 on, which job 3 holds until 15.
  const down = { "0.down_from": [5, 14], "0.down_until": [10, NaN], "0.down_counts": [1, 1], "0.down_gaps": [1, 0], "0.down_lengths": [0, 0] };
  const columns = Object.fromEntries(Object.entries(down).map(([name, values]) => [name, Float64Array.from(values)]));
  const model = small(true, columns), [run] = model.runs;
  assert.deepEqual([0, 4, 5, 9, 10, 14, 15, 99].map((at) => run.out.at(at)), [0, 0, 1, 1, 0, 0, 1, 1]);
  // Job 3 waits from 1 to 10; processor 1 has no job from 5 on.
  const [wait, without] = [model, small(true)].map((one) => freeDuringWait(one, one.runs[0], 2));
  assert.deepEqual([wait.most, wait.least, without.most], [0, 0, 1]);
  assert.equal(small(false, columns).runs[0].out.at(6), 0);
});

test("jobs without processors get free rows", () => {
  const [run] = small(false).runs;
  assert.ok(run.packed);
  for (let i = 0; i < run.all.count; i++) {
    for (let other = 0; other < i; other++) {
      if (run.all.end[other] <= run.all.start[i]) continue;
      assert.ok(run.all.until[run.all.first[other]] <= run.all.from[run.all.first[i]] || run.all.from[run.all.first[other]] >= run.all.until[run.all.first[i]]);
    }
  }
  assert.equal(run.all.rows, 2);
});

test("numbers of every kind are put in order", () => {
  for (const [values, expected] of [
    [[3, NaN, -1, 3], [2, 0, 3]], [[1.5, 1.25, 2, 1.25], [1, 3, 0, 2]], [[2 ** 52, 5, 2 ** 52 + 1, NaN, -4], [4, 1, 0, 2]],
    [[], []], [[NaN], []], [[7], [0]], [[0, -0, Infinity, 1], [0, 1, 3, 2]],
  ]) assert.deepEqual([...orderBy(Float64Array.from(values))], expected, `${values}`);
});
