import type { TerminalKey } from '../../domain/terminals/terminal.ts';
import type { Bus, BusMessage } from '../../ports/bus.ts';

/** Messages between processes about terminals to check. */
export type TerminalNotice =
  /** A socket of `replica` now shows this key's terminal. */
  | { readonly kind: 'taken'; readonly key: TerminalKey; readonly replica: string }
  /** An administrator closes it. */
  | { readonly kind: 'close'; readonly id: string }
  /** `replica` is about to stop, replace or remove the container. */
  | { readonly kind: 'shut'; readonly dbId: string; readonly replica: string }
  /** Text of `replica` for the container's terminals. It is in no row: a lost one is not shown. */
  | {
      readonly kind: 'notice';
      readonly dbId: string;
      readonly message: string;
      readonly replica: string;
    };

const TOPIC = 'terminal';

/** Call it after the commit. */
export const publishTerminalNotice = (bus: Bus, notice: TerminalNotice): void => bus.publish(TOPIC, notice);

/** `onGap`: messages may have been missed. */
export function subscribeToTerminalNotices(
  bus: Bus,
  onNotice: (notice: TerminalNotice) => void,
  onGap: () => void,
): void {
  const read = (message: BusMessage): void => {
    const notice = noticeOf(message);
    if (notice === null) onGap();
    else onNotice(notice);
  };
  bus.subscribe(TOPIC, read, onGap);
}

/** null for another version's message. */
function noticeOf({ kind, key, replica, id, dbId, message }: BusMessage): TerminalNotice | null {
  const isText = (value: unknown): value is string => typeof value === 'string';
  if (kind === 'close' && isText(id)) return { kind, id };
  if (!isText(replica)) return null;
  if (kind === 'taken' && isText(key)) return { kind, key: key as TerminalKey, replica };
  if (kind === 'shut' && isText(dbId)) return { kind, dbId, replica };
  if (kind === 'notice' && isText(dbId) && isText(message)) return { kind, dbId, message, replica };
  return null;
}
