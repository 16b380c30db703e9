// Bars as pixels. A pixel has the mean colour of the bars on it, weighted by their areas, so bars narrower than a pixel
// become density.

/** @typedef {import("./palette.js").Rgb} Rgb_ */

export class Raster {
  /** @param {number} width @param {number} height pixels */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.sums = new Float32Array(width * height * 4);
  }

  /**
   * Adds a bar from x0 to x1 and from y0 to y1, in pixels with fractions.
   * @param {number} x0 @param {number} x1 @param {number} y0 @param {number} y1 @param {Rgb_} colour @param {number} gap 1 to leave a
   * line at the right and the lower edge of bars that are large enough
   */
  bar(x0, x1, y0, y1, colour, gap = 0) {
    if (gap && x1 - x0 > 3) x1 -= 1;
    if (gap && y1 - y0 > 3) y1 -= 1;
    const left = Math.max(x0, 0), right = Math.min(x1, this.width);
    const top = Math.max(y0, 0), bottom = Math.min(y1, this.height);
    if (right <= left || bottom <= top) return;
    const [r, g, b] = colour;
    const lastX = Math.ceil(right) - 1, lastY = Math.ceil(bottom) - 1;
    for (let y = Math.floor(top); y <= lastY; y++) {
      const rows = Math.min(bottom, y + 1) - Math.max(top, y);
      let at = (y * this.width + Math.floor(left)) * 4;
      for (let x = Math.floor(left); x <= lastX; x++, at += 4) {
        const area = rows * (Math.min(right, x + 1) - Math.max(left, x));
        this.sums[at] += r * area;
        this.sums[at + 1] += g * area;
        this.sums[at + 2] += b * area;
        this.sums[at + 3] += area;
      }
    }
  }

  /** The pixels: colours of the bars, and their coverage as opacity. @param {Uint8ClampedArray} pixels RGBA */
  pixels(pixels) {
    const sums = this.sums;
    for (let at = 0; at < sums.length; at += 4) {
      const area = sums[at + 3];
      if (area === 0) continue;
      pixels[at] = sums[at] / area;
      pixels[at + 1] = sums[at + 1] / area;
      pixels[at + 2] = sums[at + 2] / area;
      pixels[at + 3] = Math.min(area, 1) * 255;
    }
  }
}
