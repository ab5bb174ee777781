import type { Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { Sender } from 'ws';
import type { StoredEvent } from '../../../ports/event-log.ts';
import { Ping } from './event-schema.ts';

declare module 'ws' {
  /** Missing in the library's types. */
  const Sender: {
    /** Header and data. */
    frame(
      data: Buffer,
      options: { fin: boolean; rsv1: boolean; opcode: number; mask: boolean },
    ): readonly Buffer[];
  };
}

/** RFC 6455. */
const TEXT = 1;

/** A text frame as it is on the wire, header included, so that a socket writes it as it is. */
export const textFrame = (text: string): Buffer =>
  Buffer.concat(Sender.frame(Buffer.from(text), { fin: true, rsv1: false, opcode: TEXT, mask: false }));

export const eventText = ({ type, data, id, time }: StoredEvent): string =>
  JSON.stringify({ type, data, id, time: time.toISOString() });

/** Made once for all receivers. */
export const eventFrame = (event: StoredEvent): Buffer => textFrame(eventText(event));

/** Earlier events are unavailable: reload everything. */
export const RESYNC_TEXT = JSON.stringify({ type: 'resync' });
export const RESYNC_FRAME = textFrame(RESYNC_TEXT);

export const pongFrame = ({ t }: Static<typeof Ping>): Buffer =>
  textFrame(JSON.stringify({ type: 'pong', t }));

/** A client's only message; null for anything else. */
export function pingIn(text: string): Static<typeof Ping> | null {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(Ping, value) ? value : null;
  } catch {
    return null;
  }
}
