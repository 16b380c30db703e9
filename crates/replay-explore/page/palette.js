// Colours that people with colour-blindness can distinguish: Okabe and Ito for categories, viridis for numbers.

/** @typedef {[number, number, number]} Rgb */

const OKABE_ITO = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a900", "#7f5aa8"];
const VIRIDIS = ["#482878", "#443a83", "#3e4c8a", "#365c8d", "#2e6d8e", "#277f8e", "#21908d", "#1fa187", "#2db27d", "#4ac16d", "#73d056",
  "#a2da37", "#d2e21b"];

/** @param {string} hex @returns {Rgb} */
export function rgb(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** @param {Rgb} colour */
export function css([r, g, b]) {
  return `rgb(${Math.round(r)} ${Math.round(g)} ${Math.round(b)})`;
}

/** Number of colours of the scale of numbers. */
export const SHADES = 64;

const SCALE = Array.from({ length: SHADES }, (_, i) => {
  const at = (i / (SHADES - 1)) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(at), VIRIDIS.length - 2);
  const [a, b] = [rgb(VIRIDIS[low]), rgb(VIRIDIS[low + 1])];
  return /** @type {Rgb} */ (a.map((value, c) => value + (b[c] - value) * (at - low)));
});

const CATEGORIES = OKABE_ITO.map(rgb);

/** Index of the colour of jobs that a filter hides, and of absent values. */
export const HIDDEN = 255, ABSENT_COLOUR = 254;

/**
 * @typedef {{name: string, label: string, kind: "number" | "category", unit: string}} ColourChoice
 * @typedef {{choice: ColourChoice, low: number, high: number, table: Rgb[], index: Uint8Array,
 *   categories: {value: number, colour: Rgb, jobs: number}[], shared: boolean,
 *   whole: boolean}} Colouring
 */

/**
 * Assigns a colour to each job: its index in the table of colours.
 * @param {ColourChoice} choice @param {ArrayLike<number>} values one for each job @param {Uint8Array | null} mask 1 if a job is shown
 * @param {boolean} dark @returns {Colouring}
 */
export function colouring(choice, values, mask, dark) {
  const index = new Uint8Array(values.length);
  /** @type {Rgb[]} */
  const table = new Array(256).fill([0, 0, 0]);
  table[HIDDEN] = dark ? [82, 89, 99] : [188, 193, 200];
  table[ABSENT_COLOUR] = dark ? [138, 144, 152] : [130, 136, 144];
  /** @type {Colouring["categories"]} */
  let categories = [];
  let low = Infinity, high = -Infinity;
  if (choice.kind === "category") {
    /** @type {Map<number, number>} */
    const counts = new Map();
    for (let i = 0; i < values.length; i++) {
      if (!Number.isNaN(values[i])) counts.set(values[i], (counts.get(values[i]) ?? 0) + 1);
    }
    // The most frequent values have colours of their own; all others repeat them.
    const ranked = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const place = new Map(ranked.map(([value], rank) => [value, rank % CATEGORIES.length]));
    CATEGORIES.forEach((colour, i) => (table[i] = colour));
    for (let i = 0; i < values.length; i++) index[i] = place.get(values[i]) ?? ABSENT_COLOUR;
    categories = ranked.slice(0, CATEGORIES.length).map(([value, jobs], i) => ({ value, jobs, colour: CATEGORIES[i] }));
    hide(index, mask);
    return { choice, low: 0, high: 0, table, index, categories, shared: ranked.length > CATEGORIES.length, whole: true };
  }
  let whole = true;
  for (let i = 0; i < values.length; i++) {
    if (values[i] % 1 > 0) whole = false;
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  if (!(low <= high)) [low, high] = [0, 1];
  SCALE.forEach((colour, i) => (table[i] = colour));
  const top = Math.log1p(high - low) || 1;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    index[i] = Number.isNaN(value) ? ABSENT_COLOUR : Math.round((Math.log1p(value - low) / top) * (SHADES - 1));
  }
  hide(index, mask);
  return { choice, low, high, table, index, categories, shared: false, whole };
}

/** @param {Uint8Array} index @param {Uint8Array | null} mask */
function hide(index, mask) {
  if (!mask) return;
  for (let i = 0; i < index.length; i++) if (!mask[i]) index[i] = HIDDEN;
}

/** The value of a place from 0 to 1 on a logarithmic scale. @param {Colouring} of @param {number} place */
export function scaleValue(of, place) {
  return of.low + Math.expm1(place * Math.log1p(of.high - of.low));
}

/** The scale as a CSS gradient. */
export function gradient() {
  return `linear-gradient(to right, ${VIRIDIS.join(", ")})`;
}

/** Black or white, whichever is easier to read on a colour. @param {Rgb} colour */
export function inkOn([r, g, b]) {
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111" : "#fff";
}
