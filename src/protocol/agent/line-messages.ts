/** The messages of a connection. The first byte is the type; the first message of each side is a greeting. */
import { decode, type FrameIn, integer, isTrue, optional } from '../frames.ts';
import { matching, objectOf, textUpTo } from './fields.ts';
import { AGENT_PROTOCOL_VERSION } from './limits.ts';
import { blank, jsonBytes, readText, readU48, U48_BYTES, writeU48 } from './wire-bytes.ts';

const TYPES = { greeting: 1, welcome: 2, ack: 3, ping: 4, pong: 5, close: 6, numbered: 16 } as const;
const PING_BYTES = 8;

const uuid = matching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const received = integer(0, Number.MAX_SAFE_INTEGER);
const version = integer(1, 65_535);

const GREETINGS = {
  /** From the agent. `session` is the one to continue, `received` its numbered messages that arrived. */
  greeting: {
    version,
    session: optional(uuid),
    received,
    /** It gives commands terminals; an older agent does not say so. */
    command_terminals: isTrue,
    agent: objectOf({
      id: uuid,
      name: textUpTo(64),
      version: textUpTo(32),
      hostname: textUpTo(255),
      platform: textUpTo(32),
      arch: textUpTo(32),
      user: textUpTo(255),
      home: textUpTo(4_096),
    }),
  },
  /** The answer. Without `resumed` the session is new, and all channels of an earlier one are lost. */
  welcome: { version, session: uuid, resumed: isTrue, received },
};

export type Greeting = Omit<Extract<FrameIn<typeof GREETINGS>, { type: 'greeting' }>, 'type'>;
export type Welcome = Omit<Extract<FrameIn<typeof GREETINGS>, { type: 'welcome' }>, 'type'>;
export type AgentDescription = Greeting['agent'];

/**
 * Why a line is closed. `stopped`: on a user's request. `replaced`: another process has this agent's id. `forgotten`: the
 * agent was removed from the service. `protocol`: the other side sent what the protocol does not allow.
 */
export type CloseReason =
  | 'stopped'
  | 'restarting'
  | 'replaced'
  | 'unauthorized'
  | 'forgotten'
  | 'protocol'
  | 'ended';

const CLOSES = { close: { reason: textUpTo(64), message: textUpTo(1_024) } };

export type LineMessage =
  | { readonly type: 'ack'; readonly count: number }
  | { readonly type: 'ping' | 'pong'; readonly payload: Uint8Array }
  | { readonly type: 'close'; readonly reason: string; readonly message: string }
  | { readonly type: 'numbered'; readonly sequence: number; readonly frame: Uint8Array };

/** `version`: the other side speaks none that this one knows. */
export type GreetingFault = { readonly code: 'malformed' | 'version' };
export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: GreetingFault };

function json(type: number, value: object): Uint8Array {
  const body = jsonBytes(value);
  const { message } = blank(type, body.length);
  message.set(body, 1);
  return message;
}

export const encodeGreeting = (greeting: Greeting): Uint8Array =>
  json(TYPES.greeting, { type: 'greeting', ...greeting });
export const encodeWelcome = (welcome: Welcome): Uint8Array =>
  json(TYPES.welcome, { type: 'welcome', ...welcome });
export const encodeClose = (reason: CloseReason, message: string): Uint8Array =>
  json(TYPES.close, { type: 'close', reason, message: message.slice(0, 1_024) });

/** `payload` has 8 bytes, which the pong repeats. */
export function encodePing(type: 'ping' | 'pong', payload: Uint8Array): Uint8Array {
  const { message } = blank(TYPES[type], PING_BYTES);
  message.set(payload.subarray(0, PING_BYTES), 1);
  return message;
}

export function encodeAck(count: number): Uint8Array {
  const { message, view } = blank(TYPES.ack, U48_BYTES);
  writeU48(view, 1, count);
  return message;
}

export function encodeNumbered(sequence: number, frame: Uint8Array): Uint8Array {
  const { message, view } = blank(TYPES.numbered, U48_BYTES + frame.length);
  writeU48(view, 1, sequence);
  message.set(frame, 1 + U48_BYTES);
  return message;
}

function readFirst<T extends 'greeting' | 'welcome'>(type: T, bytes: Uint8Array) {
  const text = bytes[0] === TYPES[type] ? readText(bytes, 1) : null;
  const read = text === null ? null : decode(GREETINGS, text);
  if (read?.type !== type) return { ok: false, error: { code: 'malformed' } } as const;
  if (read.version !== AGENT_PROTOCOL_VERSION) return { ok: false, error: { code: 'version' } } as const;
  return { ok: true, value: read as Extract<typeof read, { type: T }> } as const;
}

export const readGreeting = (bytes: Uint8Array): Read<Greeting> => readFirst('greeting', bytes);
/** Reads the service's first message. */
export const readWelcome = (bytes: Uint8Array): Read<Welcome> => readFirst('welcome', bytes);

/** Reads any later message; null for a malformed one. */
export function readLineMessage(bytes: Uint8Array): LineMessage | null {
  const type = bytes[0];
  if (type === TYPES.ping || type === TYPES.pong) {
    if (bytes.length !== 1 + PING_BYTES) return null;
    return { type: type === TYPES.ping ? 'ping' : 'pong', payload: bytes.subarray(1) };
  }
  if (type === TYPES.ack) {
    const count = readU48(bytes, 1);
    return count === null ? null : { type: 'ack', count };
  }
  if (type === TYPES.numbered) {
    const sequence = readU48(bytes, 1);
    return sequence === null ? null : { type: 'numbered', sequence, frame: bytes.subarray(1 + U48_BYTES) };
  }
  return type === TYPES.close ? readClose(bytes) : null;
}

/** Reads a closing message, which may also come instead of a welcome; null for another or a malformed one. */
export function readClose(bytes: Uint8Array): Extract<LineMessage, { type: 'close' }> | null {
  const text = bytes[0] === TYPES.close ? readText(bytes, 1) : null;
  return text === null ? null : decode(CLOSES, text);
}
