/**
 * Flow control of one direction of a channel: the sender spends credit in bytes, the receiver gives it back as it uses
 * what arrived. So neither side ever holds more than one window.
 */

/** The sender's half. */
export type SendWindow = { readonly credit: number };

/** The receiver's half. `credit` is what the sender may still send; `owed` was used and is not yet given back. */
export type ReceiveWindow = { readonly limit: number; readonly credit: number; readonly owed: number };

export const sendWindow = (bytes: number): SendWindow => ({ credit: bytes });
export const receiveWindow = (bytes: number): ReceiveWindow => ({ limit: bytes, credit: bytes, owed: 0 });

/** At most the window's credit. */
export const spend = ({ credit }: SendWindow, bytes: number): SendWindow => ({
  credit: credit - Math.min(credit, bytes),
});

/** null when the receiver gives more than `limit` bytes in all: it never does. */
export const grant = ({ credit }: SendWindow, bytes: number, limit: number): SendWindow | null =>
  credit + bytes > limit ? null : { credit: credit + bytes };

/** Bytes have arrived; null when they exceed the credit. */
export const arrive = (window: ReceiveWindow, bytes: number): ReceiveWindow | null =>
  bytes > window.credit ? null : { ...window, credit: window.credit - bytes };

/** The receiver has used bytes that arrived: at most those. */
export function use(window: ReceiveWindow, bytes: number): ReceiveWindow {
  const arrived = window.limit - window.credit - window.owed;
  return { ...window, owed: window.owed + Math.min(bytes, arrived) };
}

/** Whether enough is owed to be worth a message. */
export const isWorthGranting = ({ owed, limit }: ReceiveWindow): boolean => owed > 0 && owed * 4 >= limit;

/** Gives back what is owed. */
export const giveBack = ({ limit, credit, owed }: ReceiveWindow): ReceiveWindow => ({
  limit,
  credit: credit + owed,
  owed: 0,
});
