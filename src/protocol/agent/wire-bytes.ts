/** Numbers, JSON and byte strings in messages. Readers return null for what is too short or malformed. */

const decoder = new TextDecoder('utf-8', { fatal: true });
const encoder = new TextEncoder();
const HIGH = 2 ** 32;

export const U48_BYTES = 6;

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A message of this type and this many further bytes, with a view to fill it. */
export function blank(type: number, bytes: number): { message: Uint8Array; view: DataView } {
  const message = new Uint8Array(1 + bytes);
  message[0] = type;
  return { message, view: viewOf(message) };
}

export function writeU48(view: DataView, at: number, value: number): void {
  view.setUint16(at, Math.floor(value / HIGH));
  view.setUint32(at + 2, value % HIGH);
}

export function readU48(bytes: Uint8Array, at: number): number | null {
  if (bytes.length < at + U48_BYTES) return null;
  const view = viewOf(bytes);
  return view.getUint16(at) * HIGH + view.getUint32(at + 2);
}

export const readU32 = (bytes: Uint8Array, at: number): number | null =>
  bytes.length < at + 4 ? null : viewOf(bytes).getUint32(at);

export const jsonBytes = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));

/** null unless the bytes from `at` are UTF-8. */
export function readText(bytes: Uint8Array, at: number): string | null {
  try {
    return decoder.decode(bytes.subarray(at));
  } catch {
    return null;
  }
}
