import type { Duplex } from 'node:stream';
import type { StreamEnd } from '../../domain/terminal-end.ts';
import type { OnScreen } from '../../ports/terminal-backend.ts';
import type { EngineCalls } from './client.ts';
import { printedBy, runScript } from './exec.ts';
import {
  asScrollback,
  endOf,
  HISTORY_BYTES,
  HISTORY_LINES,
  type LookBack,
  lookBackOf,
} from './tmux-history.ts';
import { DRAW_ANEW, HOW_ENDED, LOOK_BACK } from './tmux-scripts.ts';

/** What only tmux knows of a terminal: what scrolled by, and how its shell ended. */
export type TmuxAttachment = {
  readonly session: string;
  /** Puts the history before all that is read of the stream from then on. */
  putHistory(stream: Duplex, rows: number, after?: Promise<unknown>): Promise<OnScreen>;
  drawAnew(): Promise<void>;
  /** Asked after the end of the attachment: what became of the session. */
  ending(): Promise<StreamEnd>;
};

/** `shown` is the session of a participant, which shares the windows of `session`. */
export type AttachedTo = { readonly session: string; readonly shown: string; readonly marker: string };

export function tmuxAttachment(
  calls: EngineCalls,
  containerId: string,
  { session, shown, marker }: AttachedTo,
): TmuxAttachment {
  const look = async (): Promise<LookBack> => {
    const args = [shown, String(HISTORY_LINES), String(HISTORY_BYTES)];
    return lookBackOf(await printedBy(calls, containerId, LOOK_BACK, args, HISTORY_BYTES + 16));
  };
  return {
    session: shown,
    async putHistory(stream, rows, after) {
      const [{ fullScreen, lines }] = await Promise.all([look(), after]);
      const isOpen = !stream.destroyed && !stream.readableEnded;
      if (lines.length > 0 && isOpen) stream.unshift(asScrollback(lines, rows));
      return fullScreen ? 'full_screen' : 'shell';
    },
    async drawAnew() {
      await runScript(calls, containerId, DRAW_ANEW, [shown, `BERTH_TERM=${marker}`]);
    },
    ending: async () => endOf(await runScript(calls, containerId, HOW_ENDED, [session, shown])),
  };
}
