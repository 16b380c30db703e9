// Numbers, durations and instants as people read them.

/** Thousands separated by commas; up to `digits` decimals. @param {number} value */
export function grouped(value, digits = 0) {
  if (!Number.isFinite(value)) return "–";
  const fixed = Math.abs(value).toFixed(digits);
  const [whole, part] = fixed.split(".");
  const sign = value < 0 && Number(fixed) !== 0 ? "−" : "";
  const text = sign + whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part ? `${text}.${part}` : text;
}

/** A number with the digits that its size needs. @param {number} value */
export function shortNumber(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 1000) return grouped(Math.round(value));
  return grouped(value, size >= 100 ? 1 : size >= 1 ? 2 : 4);
}

/** A duration of at most two units: 3 d 4 h, 12 min, 5 s. @param {number} seconds */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const sign = seconds < 0 ? "−" : "";
  let left = Math.round(Math.abs(seconds));
  const parts = [];
  for (const [unit, size] of /** @type {[string, number][]} */ ([["d", 86400], ["h", 3600], ["min", 60], ["s", 1]])) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0 || parts.length > 0) parts.push(count > 0 ? `${grouped(count)} ${unit}` : "");
    if (parts.length === 2) break;
  }
  return sign + (parts.filter((part) => part).join(" ") || "0 s");
}

/** Two digits. @param {number} value */
function two(value) {
  return String(value).padStart(2, "0");
}

/**
 * An instant: a date if the log has dates, else days and time since second 0 of the trace.
 * @param {number} seconds @param {number | null} epoch
 */
export function instant(seconds, epoch) {
  if (!Number.isFinite(seconds)) return "–";
  const second = Math.floor(seconds);
  const clock = `${two(mod(Math.floor(second / 3600), 24))}:${two(mod(Math.floor(second / 60), 60))}:${two(mod(second, 60))}`;
  if (epoch === null) return `${grouped(Math.floor(second / 86400))} d ${clock}`;
  return `${new Date((epoch + second) * 1000).toISOString().slice(0, 10)} ${clockAt(epoch + second)}`;
}

/** @param {number} second */
function clockAt(second) {
  return new Date(second * 1000).toISOString().slice(11, 19);
}

/** Remainder that is never negative. @param {number} value @param {number} by */
export function mod(value, by) {
  return ((value % by) + by) % by;
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800,
  1209600, 2592000, 7776000, 15552000, 31536000, 63072000, 157680000];

/**
 * Ticks of a time axis at multiples of a round step: time and label.
 * @param {number} from @param {number} until @param {number} most maximum number of ticks @param {number | null} epoch
 */
export function ticks(from, until, most, epoch) {
  const step = STEPS.find((one) => (until - from) / one <= most) ?? Math.ceil((until - from) / most);
  const shift = epoch === null ? 0 : mod(-epoch, step);
  /** @type {{at: number, text: string}[]} */
  const all = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at <= until; at += step) {
    const text = instant(at, epoch);
    const space = text.lastIndexOf(" ");
    const [day, clock] = [text.slice(0, space), text.slice(space + 1)];
    const short = step % 60 === 0 ? clock.slice(0, 5) : clock;
    all.push({ at, text: step >= 86400 || clock === "00:00:00" ? day : short });
  }
  return all;
}

/** Text that keeps its direction inside other text of a canvas. @param {string} text */
export function isolated(text) {
  return `\u2068${text}\u2069`;
}

/** A field of CSV. @param {string} text */
export function csvField(text) {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
