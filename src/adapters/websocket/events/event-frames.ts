import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { StoredEvent } from '../../../ports/event-log.ts';

const Ping = Type.Object({ type: Type.Literal('ping'), t: Type.Number() });

/** As it goes over the wire, so that it is made once for all who receive it. */
export const eventFrame = ({ type, data, id, time }: StoredEvent): Buffer =>
  Buffer.from(JSON.stringify({ type, data, id, time: time.toISOString() }));

/** What came before is not to be had any more: look at everything again. */
export const RESYNC_FRAME = Buffer.from(JSON.stringify({ type: 'resync' }));

export const pongFrame = ({ t }: Static<typeof Ping>): Buffer =>
  Buffer.from(JSON.stringify({ type: 'pong', t }));

/** The only message that a client sends; null for anything else. */
export function pingIn(text: string): Static<typeof Ping> | null {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(Ping, value) ? value : null;
  } catch {
    return null;
  }
}
