// Columns of the page: base64, deflate, varints.

/**
 * @typedef {{name: string, length: number, offset: number, bytes: number, inflated: number, delta: boolean,
 *   nullable: boolean, json: boolean}} ColumnInfo
 * @typedef {Int32Array | Float64Array} Numbers
 */

/** Bytes of a base64 text. @param {string} text */
export function base64Bytes(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Inflates bytes without header. @param {Uint8Array} bytes */
export async function inflated(bytes) {
  const stream = new Blob([/** @type {BlobPart} */ (bytes)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Decodes a column of integers. Absent values are NaN. Values that need more than 32 bits are floats.
 * @param {Uint8Array} bytes @param {ColumnInfo} info @returns {Numbers}
 */
export function decodeColumn(bytes, info) {
  const values = new Float64Array(info.length);
  let at = 0, before = 0, small = !info.nullable;
  for (let i = 0; i < info.length; i++) {
    let code = 0, scale = 1, byte;
    do {
      if (at >= bytes.length) throw new Error(`column ${info.name} ends early`);
      byte = bytes[at++];
      code += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    if (info.nullable) {
      if (code === 0) {
        values[i] = NaN;
        continue;
      }
      code -= 1;
    }
    const value = (code % 2 ? -(code + 1) / 2 : code / 2) + (info.delta ? before : 0);
    before = value;
    values[i] = value;
    if (value > 0x7fffffff || value < -0x80000000) small = false;
  }
  if (at !== bytes.length) throw new Error(`column ${info.name} has extra bytes`);
  return small ? Int32Array.from(values) : values;
}

/**
 * Reads all columns: numbers by name, and JSON values by name.
 * @param {ColumnInfo[]} infos @param {Uint8Array} data
 */
export async function readColumns(infos, data) {
  /** @type {Map<string, Numbers>} */
  const numbers = new Map();
  /** @type {Map<string, any>} */
  const values = new Map();
  await Promise.all(infos.map(async (info) => {
    const bytes = await inflated(data.subarray(info.offset, info.offset + info.bytes));
    if (info.json) values.set(info.name, JSON.parse(new TextDecoder().decode(bytes)));
    else numbers.set(info.name, decodeColumn(bytes, info));
  }));
  return { numbers, values };
}
