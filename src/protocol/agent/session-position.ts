/**
 * How far a session is, in numbered messages. It outlives connections: what the other side has not acknowledged is sent
 * again on the next one, from the count that it names.
 */
export type SessionPosition = {
  /** Numbered so far by this side. */
  readonly sent: number;
  /** Of those, acknowledged by the other side. Never more than `sent`. */
  readonly acknowledged: number;
  /** Received from the other side. */
  readonly received: number;
  /** Of those, acknowledged to the other side on this connection. */
  readonly reported: number;
};

export const NEW_SESSION: SessionPosition = { sent: 0, acknowledged: 0, received: 0, reported: 0 };

export const numberNext = (position: SessionPosition): SessionPosition => ({
  ...position,
  sent: position.sent + 1,
});

/** The other side has `count` messages. null when it cannot: more than were sent, or fewer than it said before. */
export function acknowledge(position: SessionPosition, count: number): SessionPosition | null {
  const { acknowledged, sent } = position;
  return count >= acknowledged && count <= sent ? { ...position, acknowledged: count } : null;
}

/** A message with this number arrives. null unless it is the next one: a line keeps the order and repeats nothing. */
export const receiveNext = (position: SessionPosition, sequence: number): SessionPosition | null =>
  sequence === position.received ? { ...position, received: position.received + 1 } : null;

/** All received messages are acknowledged to the other side. */
export const report = (position: SessionPosition): SessionPosition => ({
  ...position,
  reported: position.received,
});

/** Continues on a new connection, after the count in its greeting. null when that is impossible: see `acknowledge`. */
export function resume(position: SessionPosition, peerReceived: number): SessionPosition | null {
  const known = acknowledge(position, peerReceived);
  return known === null ? null : report(known);
}
