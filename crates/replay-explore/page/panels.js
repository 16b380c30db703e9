// The panels beside the time line: legend, selected job, and comparison.

import { css, gradient, scaleValue } from "./palette.js";
import { duration, grouped, instant, shortNumber } from "./format.js";
import { freeDuringWait, startedMeanwhile } from "./reasons.js";
import { jobName, orderBy } from "./model.js";

/** @typedef {import("./main.js").App} PanelApp @typedef {import("./model.js").JobColumn} PanelColumn */
/** @typedef {Node | string | null | undefined | false} Child */

/**
 * An element with properties and children; text is never read as HTML.
 * @param {string} tag @param {Record<string, any>} properties @param {...Child} children
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made) /** @type {any} */ (made)[name] = value;
    else made.setAttribute(name, value);
  }
  for (const child of children) if (child) made.append(child);
  return made;
}

/** A name in its own direction of writing. @param {string} text */
export function named(text) {
  return element("bdi", {}, text);
}

/** The value of a column as text. @param {PanelColumn} column @param {number} value @param {number | null} epoch */
export function shownValue(column, value, epoch) {
  if (value !== value) return "–";
  if (column.time) return instant(value, epoch);
  if (column.unit === "s") return duration(value);
  return ["job", "user", "group", "queue", "partition"].includes(column.name) ? `${value}` : shortNumber(value);
}

/** The column's name in words. @param {string} name */
export function title(name) {
  return name.replaceAll("_", " ").replace("pairwise l1", "pairwise L1");
}

/** The legend of the colours. @param {PanelApp} app @param {HTMLElement} into */
export function drawLegend(app, into) {
  const of = app.colouringOf(app.run());
  const text = (/** @type {number} */ value) => (of.choice.unit === "s" ? duration(value) : shortNumber(of.whole ? Math.round(value) : value));
  if (of.choice.kind === "category") {
    const chips = of.categories.map(({ value, colour, jobs }) => element("span", { className: "chip" },
      element("i", { style: `background:${css(colour)}` }), `${of.choice.label} ${value} `, element("small", {}, grouped(jobs))));
    into.replaceChildren(...chips, of.shared ? element("small", {}, "others repeat these colours") : "");
    return;
  }
  const marks = [...new Set([0, 0.25, 0.5, 0.75, 1].map((at) => text(scaleValue(of, at))))].map((mark) => element("span", {}, mark));
  into.replaceChildren(element("span", { className: "chip" }, of.choice.label), element("div", { className: "scale" },
    element("div", { className: "ramp", style: `background:${gradient()}` }), element("div", { className: "marks" }, ...marks)));
}

/** A button that selects a job. @param {PanelApp} app @param {number} job @param {string} [more] */
export function jobLink(app, job, more = "") {
  return element("button", { className: "link", type: "button", onclick: () => app.select(job, true) },
    "job ", named(jobName(app.model, job)), more);
}

/** The selected job. @param {PanelApp} app @param {HTMLElement} into */
export function drawJob(app, into) {
  const { model, view } = app, job = view.job, run = app.run();
  if (job < 0) {
    into.replaceChildren(element("h2", {}, "Job"), element("p", { className: "soft" },
      "Click a bar or a cell, or search for a job by its number, to see its request, its processors, and what it waited for."));
    return;
  }
  const heading = element("h2", {}, "Job ", named(jobName(model, job)), " ",
    element("button", { type: "button", className: "plain", title: "Close (Esc)", onclick: () => app.select(-1, false) }, "×"));
  if (run.wait[job] !== run.wait[job]) {
    into.replaceChildren(heading, element("p", {}, `Did not run in run ${run.index + 1}.`));
    return;
  }
  const rows = app.columns.filter((column) => column.name !== "job" && column.values[job] === column.values[job]).map((column) => {
    const value = shownValue(column, column.values[job], model.epoch);
    const unit = column.unit && column.unit !== "s" ? ` ${counted(column.unit, column.values[job])}` : "";
    return element("div", { className: column.time ? "time" : "", title: column.meaning, "data-name": column.name, "data-value": `${column.values[job]}` },
      element("dt", {}, title(column.name)), element("dd", {}, value + unit));
  });
  into.replaceChildren(heading, element("dl", { className: "facts" }, ...rows), ...reasons(app, job), ...other(app, job),
    ...explanation(app, job));
}

/** A unit in the singular or the plural. @param {string} unit @param {number} count */
export function counted(unit, count) {
  return count === 1 ? unit.replace(/s$/, "") : unit;
}

/** Sentences about the wait of a job. @param {PanelApp} app @param {number} job */
function reasons(app, job) {
  const { model } = app, run = app.run(), unit = model.machine.unit;
  const wait = run.wait[job];
  if (wait === 0) return [element("h3", {}, "Why it waited"), element("p", {}, "It did not wait.")];
  const { need, enough, most } = freeDuringWait(model, run, job);
  // Rows of packed jobs are not processors: how many are out of service and free is not known.
  const known = run.info.outages_known && !(run.packed && run.down.count > 0);
  const { started, overtook } = startedMeanwhile(run, job);
  const lines = [
    !known ? `It waited ${duration(wait)}. It needs ${grouped(need)} ${counted(unit, need)}.` : enough === 0
      ? `It waited ${duration(wait)}. It needs ${grouped(need)} ${counted(unit, need)}; at most ${grouped(most)} were free.`
      : `It waited ${duration(wait)}. It needs ${grouped(need)} ${counted(unit, need)}; so many were free for ${duration(enough)} of its wait ` +
        `(${grouped((100 * enough) / wait)} %): other jobs, reservations or the shape of the free ${unit} held it back then.`,
    `Meanwhile ${grouped(started)} other jobs started; ${grouped(overtook.length)} of them had arrived later.`,
  ];
  const parts = lines.map((line) => /** @type {HTMLElement} */ (element("p", {}, line)));
  const freed = app.freed(run, job);
  if (freed.length > 0) {
    const items = freed.slice(0, 8).map(({ allocation, rows }) => element("li", {}, jobLink(app, run.all.job[allocation]),
      ` freed ${grouped(rows)} ${counted(unit, rows)} ${ago(run.start[job] - run.all.end[allocation])}`));
    parts.push(element("p", {}, `${grouped(freed.length)} ${freed.length === 1 ? "job" : "jobs"} ended on its ${unit} during the wait (dashed on the time line):`),
      element("ul", {}, ...items, freed.length > 8 && element("li", { className: "soft" }, `and ${grouped(freed.length - 8)} more`)));
  }
  return [element("h3", {}, "Why it waited"), ...parts];
}

/** @param {number} seconds */
function ago(seconds) {
  return seconds === 0 ? "at its start" : `${duration(seconds)} before its start`;
}

/** The job in the other runs. @param {PanelApp} app @param {number} job */
function other(app, job) {
  if (app.model.runs.length < 2) return [];
  const rows = app.model.runs.map((run) => element("tr", { className: run === app.run() ? "current" : "" },
    element("td", {}, `${run.index + 1} `, named(run.label)), element("td", { className: "number" }, duration(run.wait[job])),
    element("td", { className: "number" }, instant(run.start[job], app.model.epoch)),
    element("td", { className: "number" }, shortNumber(run.copied.get("pairwise_l1")?.[job] ?? NaN))));
  return [element("h3", {}, "In every run"), element("table", {}, element("thead", {}, element("tr", {}, element("th", {}, "run"),
    element("th", {}, "wait"), element("th", {}, "start"), element("th", {}, "pairwise L1"))), element("tbody", {}, ...rows))];
}

/** The text of explain. @param {PanelApp} app @param {number} job */
function explanation(app, job) {
  /** @type {[string, string][] | undefined} */
  const steps = app.run().info.explained[`${app.model.job[job]}`];
  if (!steps) {
    return [element("p", { className: "soft" }, `explore --explain ${app.model.job[job]} adds the steps of the decision here.`)];
  }
  /** @type {HTMLElement[]} */
  const parts = [element("h3", {}, "Explanation")];
  let topic = "", list = element("ul");
  for (const [of, text] of steps) {
    if (of !== topic) {
      list = element("ul", {});
      parts.push(element("h4", {}, topic = of), list);
    }
    list.append(element("li", {}, named(text)));
  }
  return parts;
}

/** What another run changes. @param {PanelApp} app @param {HTMLElement} into */
export function drawCompare(app, into) {
  const run = app.run(), base = app.base();
  if (!base) {
    into.replaceChildren(element("p", { className: "soft" }, app.model.runs.length < 2
      ? "The page has one run. Name two strategies or two folders to compare them."
      : "Choose a run under “against” to compare with it (key c)."));
    return;
  }
  const compared = app.change();
  const isTime = compared?.unit === "s";
  const text = (/** @type {number} */ value) => (isTime ? duration(value) : `${shortNumber(value)} hops`);
  const order = app.order();
  const changes = Float64Array.from(order, (job) => compared?.values[job] ?? NaN);
  const all = orderBy(changes);
  let sum = 0, shorter = 0, longer = 0;
  for (const place of all) {
    sum += changes[place];
    if (changes[place] < 0) shorter += 1;
    if (changes[place] > 0) longer += 1;
  }
  const mean = all.length > 0 ? sum / all.length : 0;
  const [less, more] = isTime ? ["wait less", "wait longer"] : ["are closer together", "are farther apart"];
  const heading = (/** @type {string} */ words) => words[0].toUpperCase() + words.slice(1);
  const list = (/** @type {Int32Array} */ places) => element("ol", {}, ...Array.from(places, (place) => element("li", {}, jobLink(app, order[place]),
    ` ${changes[place] < 0 ? "−" : "+"}${text(Math.abs(changes[place]))}, size ${grouped(app.model.size[order[place]])}`)));
  into.replaceChildren(
    element("p", {}, `Run ${run.index + 1} (`, named(run.label), `) against run ${base.index + 1} (`, named(base.label), `): of ${grouped(all.length)} jobs, `,
      !isTime && "all wait the same; ", `${grouped(shorter)} ${less}, ${grouped(longer)} ${more}, ${grouped(all.length - shorter - longer)} are unchanged; the mean ${isTime ? "wait" : "pairwise L1"} changes by `,
      element("b", { id: "mean-change", "data-value": `${mean}` }, `${mean < 0 ? "−" : "+"}${text(Math.abs(mean))}`), "."),
    element("div", { className: "columns" },
      element("div", {}, element("h3", {}, heading(less)), list(all.slice(0, Math.min(shorter, 10)))),
      element("div", {}, element("h3", {}, heading(more)), list(all.slice(all.length - Math.min(longer, 10)).reverse()))));
}
