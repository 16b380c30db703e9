// Tests of pages in headless Chromium: positions and numbers equal those of the program, and the page answers to mouse and keys.
//
// node browser.js PROGRAM [--shots DIR] [--speed [TRACE..]]
//
// Exit code 77: there is no Chromium.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { chromium } from "playwright-core";

const [program, ...options] = process.argv.slice(2);
const shots = options.includes("--shots") ? options[options.indexOf("--shots") + 1] : null;
const speed = options.includes("--speed") ? options.slice(options.indexOf("--speed") + 1) : null;
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
if (!browserPath) {
  console.log("ignored: chromium is not installed");
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "explore-"));
const replay = (...words) => execFileSync(resolve(program), words, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });

/** Rows of CSV as objects. */
function table(text) {
  const rows = text.trimEnd().split("\n").map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map((found) => found[1].replace(/^"|"$/g, "")));
  return rows.slice(1).map((row) => Object.fromEntries(rows[0].map((name, i) => [name, row[i]])));
}

/** The numbers of ranges such as 4,7-9. */
function numbers(text) {
  return text.split(",").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

const browser = await chromium.launch({ executablePath: browserPath, headless: true, args: ["--no-sandbox", "--disable-gpu", "--disable-quic",
  "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-precise-memory-info"] });

/** Opens a page, and fails on errors and on requests. */
async function open(file, { hash = "", width = 1400, height = 1000, scheme = "light" } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("request", (request) => request.url().startsWith("file:") || page.problems.push(`request of ${request.url()}`));
  await page.goto(`file://${join(folder, file)}${hash}`);
  await settled(page);
  return page;
}

async function settled(page) {
  await page.waitForFunction(() => window.replay?.line.complete && window.replay.line.tiles.tasks.size === 0 && window.replay.dirty.size === 0, null, { timeout: 120000 });
}

async function done(page, name) {
  if (shots && name) await page.screenshot({ path: join(shots, `${name}.png`) });
  assert.deepEqual(page.problems, []);
  await page.close();
}

const tests = [];
const test = (name, body) => tests.push([name, body]);

/** Whether the program finds a trace of the archive. */
const has = (trace) => replay("list", "traces", "--format", "json").split("\n").some((line) => line.includes(`"${trace}"`) && !line.includes('"path":null'));

for (const [name, machine, alloc, trace] of [["mesh", "10x10", "mc1x1"], ["KTH-SP2", "10x10", "mc1x1", "KTH-SP2-1996-2"], ["torus", "torus:4x5x5", "mc1x1"], ["tree", "tree:2x5x10", "slurm-tree"],
  ["hypercube", "hypercube:7", "cube-buddy"], ["blocks", "block[10,40]:8x10", "slurm-block"]]) {
  test(`${name}: positions and numbers equal those of the program`, async () => {
    if (trace && !has(trace)) return "trace absent";
    const grid = ["--sched", "easy", "--alloc", alloc, "--machine", machine, "--quiet", ...(trace ? ["--trace", trace] : [])];
    replay("explore", ...grid, "--write", `${name}.html`);
    const window = trace ? [600000, 640000] : [200000, 260000];
    const placed = table(replay("show", ...grid, "--gantt", window.join(".."), "--format", "csv"));
    replay(...grid, "--out", `out-${name}`, "--no-plots");
    const [run] = table(readFileSync(join(folder, `out-${name}`, "runs.csv"), "utf8"));
    const sizes = table(readFileSync(join(folder, `out-${name}`, "by_size.csv"), "utf8"));
    assert.ok(placed.length > 20);
    const page = await open(`${name}.html`);
    const found = await page.evaluate(([from, until]) => {
      const { replay: app } = window;
      const plot = app.line.plot();
      app.set({ level: Math.ceil(Math.log2((until - from) / plot) * 4), left: from, cursor: Math.round((from + until) / 2) });
      app.line.layout();
      app.line.draw();
      app.map.draw();
      const { all } = app.run(), { machine } = app.model;
      const bars = app.line.strips.find((strip) => strip.kind === "bars");
      const rows = [];
      for (let i = 0; i < all.count; i++) {
        if (all.end[i] <= from || all.start[i] >= until) continue;
        const nodes = [], hits = [];
        for (let r = all.first[i]; r < all.first[i + 1]; r++) {
          for (let row = all.from[r]; row < all.until[r]; row++) nodes.push(machine.rows[row]);
          const x = (Math.max(app.line.x(all.start[i]), 68) + Math.min(app.line.x(all.end[i]), app.line.width)) / 2;
          const hit = app.line.hit(x, (app.line.y(bars, all.from[r]) + app.line.y(bars, all.until[r])) / 2);
          hits.push(hit?.allocation === i || all.end[i] - all.start[i] < 200);
        }
        rows.push({ job: app.model.job[all.job[i]], start: all.start[i], end: all.end[i], nodes: nodes.sort((a, b) => a - b), hit: hits.every((one) => one) });
      }
      const cells = [];
      machine.cells.forEach((processor, index) => {
        const [x, y] = app.map.place(index);
        const hit = processor < 0 ? null : app.map.hit(x + app.map.cell[0] / 2, y + app.map.cell[1] / 2);
        if (hit) cells.push([hit.processor, hit.allocation < 0 ? null : app.model.job[all.job[hit.allocation]]]);
      });
      const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
      const { wait, run } = app.run();
      return { rows, cells, cursor: app.view.cursor, wait: mean(wait), turnaround: mean(wait.map((value, i) => value + run[i])), slowdown: mean(app.run().slowdown),
        busy: app.run().busy.until(app.model.until), queue: app.run().waiting.until(app.model.until) / app.model.jobs };
    }, window);
    const shown = placed.map((row) => ({ job: Number(row.job), start: Number(row.start), end: Number(row.end), nodes: numbers(row.nodes).sort((a, b) => a - b), hit: true }));
    const order = (a, b) => a.start - b.start || a.job - b.job;
    assert.deepEqual(found.rows.sort(order), shown.sort(order));
    const holders = new Map();
    for (const row of shown) if (row.start <= found.cursor && row.end > found.cursor) row.nodes.forEach((node) => holders.set(node, row.job));
    assert.ok(found.cells.length >= 80 && holders.size > 0);
    for (const [processor, job] of found.cells) assert.equal(job, holders.get(processor) ?? null, `processor ${processor}`);
    const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(b), 1), `${a} and ${b}`);
    near(found.wait, Number(run.mean_wait));
    near(found.queue, Number(run.mean_wait));
    near(found.turnaround, Number(run.mean_turnaround));
    near(found.slowdown, Number(run.mean_bounded_slowdown));
    await page.click("#tab-size");
    await page.waitForSelector("#sheet tbody tr");
    const bySize = await page.$$eval("#sheet tbody tr", (rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => Number(cell.dataset.value))));
    assert.equal(bySize.length, sizes.length);
    bySize.forEach(([size, jobs, wait], i) => {
      assert.deepEqual([size, jobs], [Number(sizes[i].size), Number(sizes[i].jobs)]);
      near(wait, Number(sizes[i].mean_wait));
    });
    await page.click("#tab-runs");
    const text = await page.textContent("#sheet");
    assert.ok(text.includes("mean wait"));
    await page.click("#tab-jobs");
    await done(page, name);
  });
}

test("the mouse and the keys zoom, pan, select and filter", async () => {
  const page = await open("mesh.html");
  const box = await page.locator("#line-box").boundingBox();
  const view = () => page.evaluate(() => ({ ...window.replay.view }));
  const centre = [box.x + box.width / 2, box.y + box.height * 0.6];
  const time = () => page.evaluate((x) => window.replay.line.time(x), box.width / 2);
  const before = [await view(), await time()];
  await page.mouse.move(...centre);
  for (let i = 0; i < 8; i++) await page.mouse.wheel(0, -120);
  await settled(page);
  assert.ok((await view()).level < before[0].level);
  assert.ok(Math.abs((await time()) - before[1]) < 1e-3 * before[1], "the time under the pointer stays");
  const left = (await view()).left;
  await page.mouse.down();
  await page.mouse.move(centre[0] - 100, centre[1], { steps: 5 });
  await page.mouse.up();
  const seconds = 2 ** ((await view()).level / 4);
  assert.ok(Math.abs((await view()).left - left - 100 * seconds) < 1e-6 * left, "a drag moves by its pixels");
  await settled(page);
  const target = await page.evaluate(() => {
    const { replay: app } = window, { all } = app.run();
    const bars = app.line.strips.find((strip) => strip.kind === "bars");
    for (let i = all.index.startedBefore(app.view.left); i < all.count; i++) {
      if (app.line.x(all.end[i]) - app.line.x(all.start[i]) > 20 && app.line.x(all.start[i]) > 80) {
        return [app.line.x(all.start[i]) + 10, (app.line.y(bars, all.from[all.first[i]]) + app.line.y(bars, all.until[all.first[i]])) / 2, app.model.job[all.job[i]]];
      }
    }
  });
  await page.mouse.click(box.x + target[0], box.y + target[1]);
  await page.waitForFunction((job) => document.querySelector("#job h2")?.textContent.includes(`${job}`), target[2]);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => window.replay.view.job === -1);
  await page.keyboard.press("0");
  await page.waitForFunction(([level]) => window.replay.view.level === level, [before[0].level]);
  await page.keyboard.press("?");
  assert.ok(await page.isVisible("#help"));
  await page.click("#close");
  await page.keyboard.press("f");
  await page.keyboard.type("size > 32 and wait > 1h");
  await page.waitForFunction(() => /^\d+ of 5,000 jobs$/.test(document.querySelector("#count").textContent));
  const passed = await page.evaluate(() => {
    const { replay: app } = window;
    return [app.order().length, app.model.size.filter((size, i) => size > 32 && app.run().wait[i] > 3600).length];
  });
  assert.equal(passed[0], passed[1]);
  assert.ok(passed[0] > 10 && passed[0] < 5000);
  const csv = await page.evaluate(() => window.replay.table.csv());
  assert.equal(csv.trimEnd().split("\n").length, passed[0] + 1);
  // Every column sorts, also one of fractions.
  for (const name of ["wait", "bounded_slowdown", "distance"]) {
    await page.evaluate((column) => window.replay.sortBy(column), name);
    await page.waitForFunction((column) => window.replay.view.sort === column && window.replay.dirty.size === 0, name);
    const sorted = await page.$$eval("#jobs .space .row", (rows, column) => {
      const at = window.replay.columns.findIndex((one) => one.name === column);
      return rows.map((row) => Number(row.children[at].dataset.value));
    }, name);
    assert.ok(sorted.length > 10 && sorted.every((value, i) => i === 0 || sorted[i - 1] <= value), `${name} ${sorted}`);
  }
  await page.waitForTimeout(400);
  assert.match(decodeURIComponent(page.url()), /filter=size\+>\+32\+and\+wait\+>\+1h/);
  await page.fill("#filter", "siz > 3");
  await page.waitForFunction(() => document.querySelector("#problem").textContent.includes('no column "siz"'));
  await page.fill("#filter", "");
  await page.fill("#find", "3333");
  await page.press("#find", "Enter");
  await page.waitForFunction(() => window.replay.model.job[window.replay.view.job] === 3333);
  const hash = await page.evaluate(() => new Promise((give) => setTimeout(() => give(location.hash), 400)));
  await done(page, "job");
  const shared = await open("mesh.html", { hash });
  assert.equal(await shared.evaluate(() => window.replay.model.job[window.replay.view.job]), 3333);
  await done(shared);
});

test("an address with names that the page does not have shows the page", async () => {
  const page = await open("mesh.html", { hash: "#colour=none&sort=-none&tab=user&run=7&job=99999&cursor=x" });
  const { colour, sort, down, tab, run, job } = await page.evaluate(() => window.replay.view);
  assert.deepEqual({ colour, sort, down, tab, run, job }, { colour: "size", sort: "submit", down: false, tab: "jobs", run: 0, job: -1 });
  await done(page);
});

test("dates and durations fit the table", async () => {
  writeFileSync(join(folder, "dates.swf"), synthetic(60, 16));
  replay("explore", "--trace", "dates.swf", "--machine", "4x4", "--quiet", "--write", "dates.html");
  const page = await open("dates.html");
  const cut = await page.$$eval("#jobs .space .row > *", (cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent));
  assert.deepEqual(cut, []);
  await done(page);
});

test("play moves the cursor, and steps go from event to event", async () => {
  const page = await open("mesh.html");
  const cursor = () => page.evaluate(() => window.replay.view.cursor);
  await page.evaluate(() => window.replay.moveCursor(1000));
  await page.keyboard.press(" ");
  await page.waitForTimeout(500);
  await page.keyboard.press(" ");
  assert.ok((await cursor()) > 1000);
  await page.evaluate(() => window.replay.moveCursor(0));
  await page.keyboard.press(".");
  const event = await cursor();
  assert.equal(event, await page.evaluate(() => window.replay.run().waiting.times.find((time) => time > 0)));
  await done(page);
});

test("two runs are compared", async () => {
  replay("explore", "--sched", "fcfs,easy", "--alloc", "mc1x1", "--explain", "250", "--quiet", "--write", "two.html");
  const [fcfs, easy] = ["fcfs", "easy"].map((sched) => table(replay("--sched", sched, "--alloc", "mc1x1", "--format", "csv", "--quiet"))[0]);
  const page = await open("two.html", { scheme: "dark" });
  await page.keyboard.press("2");
  await page.keyboard.press("c");
  await page.waitForSelector("#mean-change");
  const change = Number(await page.getAttribute("#mean-change", "data-value"));
  assert.ok(Math.abs(change - (Number(easy.mean_wait) - Number(fcfs.mean_wait))) < 1e-6 * Number(fcfs.mean_wait));
  await settled(page);
  const order = await page.evaluate(() => {
    window.replay.find("250");
    return document.querySelectorAll("#sheet ol li").length;
  });
  assert.ok(order > 10);
  await page.waitForFunction(() => document.querySelector("#job").textContent.includes("Explanation"));
  await done(page, "compare");
});

test("names are text", async () => {
  const name = `<script>alert(1)</script>"'&\u202e\u05d0`.replaceAll("/", "∕");
  const jobs = Array.from({ length: 40 }, (_, i) => `${i + 1} ${i * 7} -1 ${50 + i} ${1 + (i % 4)} -1 -1 -1 -1 -1 1 ${i % 3} -1 -1 -1 -1 -1 -1`);
  writeFileSync(join(folder, `${name}.swf`), `; MaxProcs: 8\n${jobs.join("\n")}\n`);
  const switches = `SwitchName=<b>\u202e Nodes=n[0-3]\nSwitchName=s"1 Nodes=n[4-7]\nSwitchName=r Switches=<b>\u202e,s"1\n`;
  writeFileSync(join(folder, "t.conf"), switches);
  let machine = ["--machine", "t.conf"];
  try {
    replay("explore", "--trace", `${name}.swf`, ...machine, "--alloc", "slurm-tree", "--quiet", "--write", "names.html");
  } catch {
    machine = ["--machine", "tree:2x4"];
    replay("explore", "--trace", `${name}.swf`, ...machine, "--alloc", "slurm-tree", "--quiet", "--write", "names.html");
  }
  const page = await open("names.html");
  assert.ok((await page.title()).includes("<script>alert(1)<∕script>"));
  assert.equal(await page.textContent("#title bdi"), name);
  assert.equal(await page.evaluate(() => document.querySelectorAll("script").length), 2);
  await done(page, "names");
});

test("phones, dark pages and paper show everything", async () => {
  const phone = await open("two.html", { width: 390, height: 800, hash: "#base=2&tab=jobs" });
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than a phone");
  await done(phone, "phone");
  const paper = await open("mesh.html", { scheme: "dark" });
  await paper.emulateMedia({ media: "print" });
  const pdf = await paper.pdf({ format: "A4", landscape: true, printBackground: true });
  assert.ok(pdf.length > 20000);
  if (shots) writeFileSync(join(shots, "print.pdf"), pdf);
  await done(paper);
});

test("processors out of service are not drawn as free", async () => {
  writeFileSync(join(folder, "down.csv"), "from,until,what\n100000,200000,node 0-29\n150000,,node 90-99\n");
  const grid = ["--sched", "easy", "--alloc", "mc1x1", "--jobs", "2000", "--down", "down.csv", "--down-rule", "requeue", "--quiet"];
  replay("explore", ...grid, "--write", "down.html");
  replay(...grid, "--placements", "--out", "down", "--no-plots");
  replay("explore", "down", "--quiet", "--write", "down-folder.html");
  for (const file of ["down.html", "down-folder.html"]) {
    const page = await open(file, { hash: "#cursor=180000&at=50000&zoom=34" });
    assert.match(await page.textContent("#state"), /, 40 out of service,/);
    assert.match(await page.textContent("#notes"), /hatched processors are out of service/);
    const found = await page.evaluate(() => {
      const { replay: app } = window, { machine } = app.model;
      const out = [...machine.cells].filter((processor) => app.map.holder[machine.rowOf[processor]] === -2);
      // On the time line, a row out of service has the lines of the hatch.
      const bars = app.line.strips.find((strip) => strip.kind === "bars"), ratio = app.line.canvas.width / app.line.width;
      const colours = (processor, time) => {
        const y = Math.round(app.line.y(bars, machine.rowOf[processor] + 0.3) * ratio);
        const x = Math.round(app.line.x(time) * ratio);
        const { data } = app.line.canvas.getContext("2d").getImageData(x, y, 24, 3);
        return new Set(Array.from({ length: data.length / 4 }, (_, i) => data.slice(i * 4, i * 4 + 3).join())).size;
      };
      return { out, hatched: colours(95, 300000) };
    });
    assert.deepEqual(found.out.sort((a, b) => a - b), [...numbers("0-29"), ...numbers("90-99")]);
    assert.ok(found.hatched > 3, `${found.hatched}`);
    await done(page, file === "down.html" ? "down" : null);
  }
  // A file that is lost is no reason to refuse the page, and the page states it.
  rmSync(join(folder, "down.csv"));
  replay("explore", "down", "--quiet", "--write", "lost.html");
  const lost = await open("lost.html");
  assert.match(await lost.textContent("#notes"), /drawn as free, because the file of the outages could not be read/);
  await done(lost);
});

test("folders give the same page as options", async () => {
  replay("--sched", "easy", "--alloc", "mc1x1", "--quiet", "--placements", "--out", "folder", "--no-plots");
  replay("explore", "folder", "--quiet", "--write", "folder.html");
  replay("explore", "--sched", "easy", "--alloc", "mc1x1", "--quiet", "--write", "options.html");
  const data = (file) => /id="data">([^<]*)</.exec(readFileSync(join(folder, file), "utf8"))[1];
  assert.equal(data("folder.html"), data("options.html"));
  replay("explore", "folder", "--no-placements", "--quiet", "--write", "packed.html");
  const page = await open("packed.html");
  assert.ok((await page.textContent("#notes")).includes("--placements"));
  await done(page, "packed");
});

test("the questions of the book have their answers", async () => {
  replay("explore", "--sched", "easy", "--alloc", "first-fit,mc1x1", "--quiet", "--write", "shape.html");
  replay("explore", "--sched", "easy", "--tie", "none", "--tie", "2,13,20,6", "--quiet", "--write", "ties.html");
  const ask = async (file, hash, name, words) => {
    const page = await open(file, { hash, width: 1200, height: 760 });
    const text = `${await page.textContent("#job")} ${await page.textContent("#sheet")} ${await page.textContent("#state")}`;
    for (const word of words) assert.ok(text.includes(word), `${word} in ${text}`);
    await done(page, `book-${name}`);
  };
  await ask("shape.html", "#run=2&job=1449&at=348800&zoom=20&cursor=363759", "wait",
    ["It waited 6 h 19 min. It needs 22 processors; at most 16 were free.", "91 other jobs started; 70 of them had arrived later", "job 1447 freed 8 processors at its start"]);
  await ask("shape.html", "#run=1&job=1060&at=279500&zoom=13&cursor=280607", "shape",
    ["It waited 1 h 33 min. It needs 32 processors; so many were free for 1 h 33 min", "21 of 100 processors busy"]);
  await ask("ties.html", "#run=2&base=1&tab=compare", "ties",
    ["all wait the same; 1,984 are closer together, 688 are farther apart", "changes by −14.29 hops"]);
});

/** A trace of many jobs. */
function synthetic(jobs, processors) {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const lines = [`; MaxProcs: ${processors}`, "; UnixStartTime: 1600000000"];
  let time = 0;
  for (let job = 1; job <= jobs; job++) {
    const size = random() < 0.75 ? 2 ** Math.min(Math.floor(-Math.log(random()) / 0.45), 9) : 1 + Math.floor(random() * 128);
    const normal = Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
    const run = Math.min(86400, Math.max(1, Math.floor(Math.exp(6.2 + 1.7 * normal))));
    time += Math.floor(-Math.log(random()) * 66);
    const estimate = run * [1, 1, 2, 3, 5, 10][Math.floor(random() * 6)];
    lines.push(`${job} ${time} -1 ${run} ${Math.min(size, processors)} -1 -1 -1 ${estimate} -1 1 ${1 + Math.floor(random() * 200)} ${1 + Math.floor(random() * 20)} -1 1 -1 -1 -1`);
  }
  return `${lines.join("\n")}\n`;
}

/** Measures a page: size, load time, memory, and frames per second while it pans at three zooms. */
async function measure(name, file) {
  const page = await open(file);
  const result = await page.evaluate(async () => {
    const { replay: app } = window;
    const rates = [], works = [];
    for (const zoom of [0, 16, 32]) {
      app.fit();
      app.zoom(-zoom);
      await new Promise((give) => setTimeout(give, 1500));
      let frames = 0, worst = 0, before = performance.now();
      const begin = before;
      app.frames = { count: 0, worst: 0 };
      await new Promise((give) => {
        const step = () => {
          const now = performance.now();
          worst = Math.max(worst, now - before);
          before = now;
          frames += 1;
          app.pan(zoom === 0 ? (frames % 60 < 30 ? 8 : -8) : 8);
          if (now - begin < 3000) requestAnimationFrame(step);
          else give(0);
        };
        requestAnimationFrame(step);
      });
      rates.push((frames / (performance.now() - begin)) * 1000);
      works.push(app.frames.worst);
    }
    return { jobs: app.model.jobs, load: window.replayLoaded, memory: performance.memory.usedJSHeapSize, rates, works };
  });
  const { size } = statSync(join(folder, file));
  const mega = (bytes) => (bytes / 1e6).toFixed(1);
  console.log(`| ${name} | ${result.jobs} | ${mega(size)} | ${(size / result.jobs).toFixed(1)} | ${(result.load / 1000).toFixed(2)} | ${mega(result.memory)} | ${result.rates.map((rate) => rate.toFixed(0)).join(", ")} | ${result.works.map((work) => work.toFixed(0)).join(", ")} |`);
  await done(page, `speed-${name}`);
  return result;
}

if (speed) {
  tests.length = 0;
  writeFileSync(join(folder, "big.swf"), synthetic(500000, 1024));
  console.log("| page | jobs | MB | bytes a job | load s | heap MB | frames/s at whole, 16x, 256x | longest frame ms |\n|---|---|---|---|---|---|---|---|");
  const pages = [["lublin", []], ...speed.map((trace) => [trace.replace(/.*\//, "").replace(/-\d.*/, ""), ["--trace", resolve(trace)]]),
    ["synthetic", ["--trace", "big.swf", "--machine", "32x32"]], ["no-placements", ["--trace", "big.swf", "--machine", "32x32", "--no-placements"]]];
  for (const [name, words] of pages) {
    replay("explore", ...words, "--sched", "easy", "--alloc", "hilbert-best-fit", "--quiet", "--write", `${name}.html`);
    await measure(name, `${name}.html`);
  }
}

let failed = 0;
for (const [name, body] of tests) {
  try {
    const ignored = await body();
    console.log(ignored ? `ignored ${name}: ${ignored}` : `ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok ${name}\n${error.stack ?? error}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
process.exit(failed > 0 ? 1 : 0);
