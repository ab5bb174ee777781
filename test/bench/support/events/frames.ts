/** As much of the WebSocket protocol as a subscriber needs to count messages. */
import { randomBytes } from 'node:crypto';

export type Kind = 'message' | 'ping' | 'other';

const KINDS: Readonly<Record<number, Kind>> = { 1: 'message', 9: 'ping' };
const OPCODE = 0x0f;
const LONG = 126;

/** The request that opens a socket. */
export const openingOf = (host: string, path: string, offered: readonly string[]): string =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...(offered.length === 0 ? [] : [`Sec-WebSocket-Protocol: ${offered.join(', ')}`]),
    '\r\n',
  ].join('\r\n');

/** Passes on each whole frame of a server; returns a copy of what is left. No event has 64 KiB. */
export function takeFrames(bytes: Buffer, onFrame: (kind: Kind, payload: Buffer) => void): Buffer {
  let at = 0;
  while (bytes.length - at >= 4 || (bytes.length - at >= 2 && bytes[at + 1] !== LONG)) {
    const short = bytes[at + 1] ?? 0;
    const begin = at + (short === LONG ? 4 : 2);
    const end = begin + (short === LONG ? bytes.readUInt16BE(at + 2) : short);
    if (end > bytes.length) break;
    onFrame(KINDS[(bytes[at] ?? 0) & OPCODE] ?? 'other', bytes.subarray(begin, end));
    at = end;
  }
  return at === bytes.length ? NOTHING : Buffer.from(bytes.subarray(at));
}

const NOTHING = Buffer.alloc(0);

/** The answer to a ping, without which a server ends the connection. */
export function pongTo(payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const masked = payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return Buffer.concat([Buffer.from([0x8a, 0x80 | payload.length]), mask, masked]);
}
