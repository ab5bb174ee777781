/** The frames of channels, carried by numbered messages: type, channel, body. */
import { decode } from '../frames.ts';
import { matching, textUpTo } from './fields.ts';
import { CHUNK_BYTES } from './limits.ts';
import type { ChannelNote, ChannelReply, ChannelRequest, ChannelResult } from './requests.ts';
import { blank, jsonBytes, readText, readU32 } from './wire-bytes.ts';

const TYPES = { open: 1, accepted: 2, data: 3, end: 4, credit: 5, note: 6, result: 7, reset: 8 } as const;
const HEADER_BYTES = 5;

/** Which of a program's streams: 0 is the only one, or input; 1 and 2 are standard output and error of `exec`. */
export type StreamNumber = 0 | 1 | 2;

/**
 * Why a channel ended without a result. `lost`: with its session, or after too long without a connection. `unsent`: the
 * same, but the other side never heard of it. Other texts are the agent's or the service's own.
 */
export type ChannelFault = { readonly code: string; readonly message: string };

const RESETS = { reset: { code: matching(/^[a-z_]{1,64}$/), message: textUpTo(1_024) } };

/** What a side sends in a channel. */
export type Sent =
  | { readonly type: 'open'; readonly request: ChannelRequest }
  | { readonly type: 'accepted'; readonly reply: ChannelReply }
  | { readonly type: 'data'; readonly stream: StreamNumber; readonly bytes: Uint8Array }
  /** No more data from this side. */
  | { readonly type: 'end' }
  | { readonly type: 'credit'; readonly bytes: number }
  | { readonly type: 'note'; readonly note: ChannelNote }
  | { readonly type: 'result'; readonly result: ChannelResult }
  | { readonly type: 'reset'; readonly fault: ChannelFault };

/** What has been received: JSON is read later, by the kind of its channel. */
export type Received = { readonly channel: number } & (
  | { readonly type: 'open'; readonly json: string }
  | { readonly type: 'accepted' | 'note' | 'result'; readonly json: string }
  | { readonly type: 'data'; readonly stream: StreamNumber; readonly bytes: Uint8Array }
  | { readonly type: 'end' }
  | { readonly type: 'credit'; readonly bytes: number }
  | { readonly type: 'reset'; readonly fault: ChannelFault }
);

function frame(type: number, channel: number, body: Uint8Array): Uint8Array {
  const { message, view } = blank(type, HEADER_BYTES - 1 + body.length);
  view.setUint32(1, channel);
  message.set(body, HEADER_BYTES);
  return message;
}

function bodyOf(sent: Sent): Uint8Array {
  switch (sent.type) {
    case 'open':
      return jsonBytes(sent.request);
    case 'accepted':
      return jsonBytes(sent.reply);
    case 'note':
      return jsonBytes(sent.note);
    case 'result':
      return jsonBytes(sent.result);
    case 'reset':
      return jsonBytes({ type: 'reset', ...sent.fault, message: sent.fault.message.slice(0, 1_024) });
    case 'end':
      return new Uint8Array();
    case 'credit': {
      const body = new Uint8Array(4);
      new DataView(body.buffer).setUint32(0, sent.bytes);
      return body;
    }
    case 'data': {
      const body = new Uint8Array(1 + sent.bytes.length);
      body[0] = sent.stream;
      body.set(sent.bytes, 1);
      return body;
    }
  }
}

export const encodeChannelFrame = (channel: number, sent: Sent): Uint8Array =>
  frame(TYPES[sent.type], channel, bodyOf(sent));

/** null for a malformed frame. */
export function readChannelFrame(bytes: Uint8Array): Received | null {
  const channel = readU32(bytes, 1);
  if (channel === null || channel === 0) return null;
  switch (bytes[0]) {
    case TYPES.data:
      return readData(channel, bytes.subarray(HEADER_BYTES));
    case TYPES.end:
      return { type: 'end', channel };
    case TYPES.credit: {
      const granted = readU32(bytes, HEADER_BYTES);
      return granted === null || granted === 0 ? null : { type: 'credit', channel, bytes: granted };
    }
    case TYPES.reset: {
      const text = readText(bytes, HEADER_BYTES);
      const fault = text === null ? null : decode(RESETS, text);
      return fault === null
        ? null
        : { type: 'reset', channel, fault: { code: fault.code, message: fault.message } };
    }
    default:
      return readJson(channel, bytes);
  }
}

function readData(channel: number, body: Uint8Array): Received | null {
  const [stream] = body;
  if (stream !== 0 && stream !== 1 && stream !== 2) return null;
  const bytes = body.subarray(1);
  return bytes.length === 0 || bytes.length > CHUNK_BYTES ? null : { type: 'data', channel, stream, bytes };
}

const JSON_TYPES = ['open', 'accepted', 'note', 'result'] as const;

function readJson(channel: number, bytes: Uint8Array): Received | null {
  const type = JSON_TYPES.find((name) => TYPES[name] === bytes[0]);
  const json = type === undefined ? null : readText(bytes, HEADER_BYTES);
  return type === undefined || json === null ? null : { type, channel, json };
}
