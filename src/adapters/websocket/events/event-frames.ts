import type { Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { StoredEvent } from '../../../ports/event-log.ts';
import { Ping } from './event-schema.ts';

/** The frame, made once for all receivers. */
export const eventFrame = ({ type, data, id, time }: StoredEvent): Buffer =>
  Buffer.from(JSON.stringify({ type, data, id, time: time.toISOString() }));

/** Earlier events are unavailable: reload everything. */
export const RESYNC_FRAME = Buffer.from(JSON.stringify({ type: 'resync' }));

export const pongFrame = ({ t }: Static<typeof Ping>): Buffer =>
  Buffer.from(JSON.stringify({ type: 'pong', t }));

/** A client's only message; null for anything else. */
export function pingIn(text: string): Static<typeof Ping> | null {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(Ping, value) ? value : null;
  } catch {
    return null;
  }
}
