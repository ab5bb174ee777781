import { type Static, Type } from '@sinclair/typebox';

const Event = Type.Object({
  type: Type.Union([Type.Literal('created'), Type.Literal('changed'), Type.Literal('removed')]),
  path: Type.String(),
});

/** What the socket of a watch sends. */
export const WATCH_MESSAGES = {
  events: Type.Object({ type: Type.Literal('events'), events: Type.Array(Event) }),
  overflow: Type.Object({ type: Type.Literal('overflow') }),
};

export const toFrame = (events: readonly Static<typeof Event>[]): string =>
  JSON.stringify({ type: 'events', events });

/** The folder has too many entries; the socket closes. */
export const OVERFLOW_FRAME = JSON.stringify({ type: 'overflow' });
