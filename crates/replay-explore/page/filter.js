// Filters: expressions of columns, such as: size > 64 and (wait > 2h or user = 7)

/**
 * @typedef {(row: number) => number} Getter
 * @typedef {{text: string, at: number}} Token
 */

const UNITS = new Map([["", 1], ["s", 1], ["min", 60], ["m", 60], ["h", 3600], ["d", 86400], ["k", 1000]]);
const COMPARISONS = ["<=", ">=", "==", "!=", "<", ">", "="];
const WORDS = ["and", "or", "not"];

/** A filter that cannot be read: what is wrong, and the character where. */
export class FilterError extends Error {
  /** @param {string} message @param {number} at */
  constructor(message, at) {
    super(`filter, character ${at + 1}: ${message}`);
    this.at = at;
  }
}

/** @param {string} text @returns {Token[]} */
function tokens(text) {
  const all = [];
  const pattern = /\s+|(\d+\.?\d*(?:[eE][+-]?\d+)?[a-z]*|[A-Za-z_]\w*|<=|>=|==|!=|&&|\|\||[-+*/()<>=!])/gy;
  let at = 0;
  while (at < text.length) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) throw new FilterError(`unexpected ${JSON.stringify([...text.slice(at)][0])}`, at);
    if (found[1]) all.push({ text: found[1], at });
    at = pattern.lastIndex;
  }
  return all;
}

/**
 * Compiles a filter to a function of a row that returns whether the row passes. Comparisons with an absent value are false.
 * @param {string} text @param {(name: string) => Getter | undefined} column @param {string[]} names known columns, for errors
 * @returns {(row: number) => boolean}
 */
export function compileFilter(text, column, names = []) {
  const all = tokens(text);
  let place = 0;
  const peek = () => all[place]?.text.toLowerCase();
  const position = () => all[place]?.at ?? text.length;
  /** @param {...string} words */
  const take = (...words) => {
    const word = peek();
    if (word === undefined || !words.includes(word)) return undefined;
    place += 1;
    return word;
  };

  /** @returns {Getter} */
  const either = () => {
    let left = both();
    while (take("or", "||")) {
      const [a, b] = [left, both()];
      left = (row) => (a(row) || b(row) ? 1 : 0);
    }
    return left;
  };
  /** @returns {Getter} */
  const both = () => {
    let left = negation();
    while (take("and", "&&")) {
      const [a, b] = [left, negation()];
      left = (row) => (a(row) && b(row) ? 1 : 0);
    }
    return left;
  };
  /** @returns {Getter} */
  const negation = () => {
    if (!take("not", "!")) return comparison();
    const of = negation();
    return (row) => (of(row) ? 0 : 1);
  };
  /** @returns {Getter} */
  const comparison = () => {
    const a = sum();
    const operator = take(...COMPARISONS);
    if (!operator) return a;
    const b = sum();
    switch (operator) {
      case "<": return (row) => (a(row) < b(row) ? 1 : 0);
      case "<=": return (row) => (a(row) <= b(row) ? 1 : 0);
      case ">": return (row) => (a(row) > b(row) ? 1 : 0);
      case ">=": return (row) => (a(row) >= b(row) ? 1 : 0);
      case "!=": return (row) => {
        const [x, y] = [a(row), b(row)];
        return x < y || x > y ? 1 : 0;
      };
      default: return (row) => (a(row) === b(row) ? 1 : 0);
    }
  };
  /** @returns {Getter} */
  const sum = () => {
    let left = product();
    for (let operator; (operator = take("+", "-")); ) {
      const [a, b] = [left, product()];
      left = operator === "+" ? (row) => a(row) + b(row) : (row) => a(row) - b(row);
    }
    return left;
  };
  /** @returns {Getter} */
  const product = () => {
    let left = factor();
    for (let operator; (operator = take("*", "/")); ) {
      const [a, b] = [left, factor()];
      left = operator === "*" ? (row) => a(row) * b(row) : (row) => a(row) / b(row);
    }
    return left;
  };
  /** @returns {Getter} */
  const factor = () => {
    const at = position();
    if (take("-")) {
      const of = factor();
      return (row) => -of(row);
    }
    if (take("(")) {
      const inner = either();
      if (!take(")")) throw new FilterError("a ) is missing", position());
      return inner;
    }
    const word = all[place]?.text;
    if (word === undefined) throw new FilterError("a column or a number is missing", at);
    place += 1;
    const number = /^(\d[\d.]*(?:[eE][+-]?\d+)?)([a-z]*)$/.exec(word);
    if (number) {
      const unit = UNITS.get(number[2]);
      if (unit === undefined) throw new FilterError(`unknown unit ${number[2]} (s, min, h, d, k)`, at);
      const value = Number(number[1]) * unit;
      return () => value;
    }
    const get = WORDS.includes(word.toLowerCase()) ? undefined : column(word.toLowerCase());
    if (!get) {
      const known = /^\w/.test(word) && names.length > 0 ? `; the columns are ${names.join(", ")}` : "";
      throw new FilterError(`no column ${JSON.stringify(word)}${known}`, at);
    }
    return get;
  };

  if (all.length === 0) return () => true;
  const root = either();
  if (place < all.length) throw new FilterError(`unexpected ${JSON.stringify(all[place].text)}`, position());
  return (row) => {
    const value = root(row);
    return value !== 0 && !Number.isNaN(value);
  };
}
