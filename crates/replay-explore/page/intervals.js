// An index of intervals by time: which of many intervals overlap a window, without a look at the others.

const FAN = 16;

/** Intervals sorted by start. Level 0 has the ends; each value of a higher level is the maximum of 16 values below. */
export class Intervals {
  /** @param {ArrayLike<number>} starts in ascending order @param {Float64Array} ends */
  constructor(starts, ends) {
    this.starts = starts;
    this.count = ends.length;
    /** @type {Float64Array[]} */
    this.levels = [ends];
    for (let level = ends; level.length > 1; ) {
      const above = new Float64Array(Math.ceil(level.length / FAN)).fill(-Infinity);
      for (let i = 0; i < level.length; i++) {
        const at = Math.floor(i / FAN);
        if (level[i] > above[at]) above[at] = level[i];
      }
      this.levels.push(above);
      level = above;
    }
  }

  /** The first interval from `index` on that ends after `time`; `count` if there is none. @param {number} index @param {number} time */
  next(index, time) {
    let level = 0, at = index;
    for (;;) {
      const values = this.levels[level];
      if (at >= values.length) return this.count;
      if (values[at] > time) {
        if (level === 0) return at;
        level -= 1;
        at *= FAN;
        continue;
      }
      at += 1;
      while (at % FAN === 0 && level + 1 < this.levels.length) {
        at /= FAN;
        level += 1;
      }
    }
  }

  /** The number of intervals that start before `time`. @param {number} time */
  startedBefore(time) {
    return lowerBound(this.starts, time);
  }

  /**
   * Calls `visit` for each interval that overlaps [from, until), or that contains the instant if both are equal, in order
   * of starts; stops if `visit` returns false.
   * @param {number} from @param {number} until @param {(index: number) => boolean | void} visit
   */
  overlapping(from, until, visit) {
    const last = until > from ? this.startedBefore(until) : upperBound(this.starts, from);
    for (let i = this.next(0, from); i < last; i = this.next(i + 1, from)) {
      if (visit(i) === false) return;
    }
  }
}

/**
 * The first index of sorted elements whose value is at least `value`.
 * @template T @param {ArrayLike<T>} sorted @param {number} value @param {(element: T) => number} of
 */
export function lowerBound(sorted, value, of = Number) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (of(sorted[middle]) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first index whose value is above `value`. @param {ArrayLike<number>} sorted @param {number} value */
export function upperBound(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A step function of time with its integral: the mean over a window is two look-ups. */
export class Steps {
  /** @param {Float64Array} times ascending, distinct @param {Float64Array} values value from each time on */
  constructor(times, values) {
    this.times = times;
    this.values = values;
    this.integral = new Float64Array(times.length);
    for (let i = 1; i < times.length; i++) {
      this.integral[i] = this.integral[i - 1] + values[i - 1] * (times[i] - times[i - 1]);
    }
    this.largest = values.reduce((most, value) => Math.max(most, value), 0);
  }

  /** The value at an instant; 0 before the first time. @param {number} time */
  at(time) {
    const index = upperBound(this.times, time) - 1;
    return index < 0 ? 0 : this.values[index];
  }

  /** @param {number} time */
  until(time) {
    const index = upperBound(this.times, time) - 1;
    return index < 0 ? 0 : this.integral[index] + this.values[index] * (time - this.times[index]);
  }

  /** The mean over a window. @param {number} from @param {number} until */
  mean(from, until) {
    return until > from ? (this.until(until) - this.until(from)) / (until - from) : this.at(from);
  }
}
