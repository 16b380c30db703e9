// Filters: expressions of columns, such as: size > 64 and (wait > 2h or user = 7)

/**
 * @typedef {(row: number) => number} Getter
 * @typedef {{text: string, at: number}} Token
 */

const UNITS = new Map([["", 1], ["s", 1], ["min", 60], ["m", 60], ["h", 3600], ["d", 86400], ["k", 1000]]);
/** @type {Record<string, (a: number, b: number) => boolean>} */
const COMPARISONS = { "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "==": (a, b) => a === b, "!=": (a, b) => a < b || a > b,
  "<": (a, b) => a < b, ">": (a, b) => a > b, "=": (a, b) => a === b };
/** Whether a value counts as true. @param {(a: boolean, b: boolean) => boolean} of @returns {(a: number, b: number) => boolean} */
const truth = (of) => (a, b) => of(a !== 0 && a === a, b !== 0 && b === b);
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

  /** Operators of one precedence, from left to right. @param {() => Getter} part @param {Record<string, (a: number, b: number) => any>} operators */
  const chain = (part, operators) => {
    let left = part();
    for (let operator; (operator = take(...Object.keys(operators))); ) {
      const [a, b, apply] = [left, part(), operators[operator]];
      left = (row) => Number(apply(a(row), b(row)));
    }
    return left;
  };
  /** @returns {Getter} */
  const either = () => chain(both, { or: truth((a, b) => a || b), "||": truth((a, b) => a || b) });
  const both = () => chain(negation, { and: truth((a, b) => a && b), "&&": truth((a, b) => a && b) });
  /** @returns {Getter} */
  const negation = () => {
    if (!take("not", "!")) return comparison();
    const of = negation();
    return (row) => (of(row) ? 0 : 1);
  };
  /** @returns {Getter} */
  const comparison = () => {
    const a = sum();
    const operator = take(...Object.keys(COMPARISONS));
    if (!operator) return a;
    const b = sum(), holds = COMPARISONS[operator];
    return (row) => Number(holds(a(row), b(row)));
  };
  const sum = () => chain(product, { "+": (a, b) => a + b, "-": (a, b) => a - b });
  const product = () => chain(factor, { "*": (a, b) => a * b, "/": (a, b) => a / b });
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
