import type { StreamEnd } from '../../../../domain/terminals/terminal-end.ts';
import type { ContainerPrograms } from '../../../../ports/containers/inside/container-programs.ts';
import type { OutputRoom } from '../../../../ports/output-room.ts';
import type { Scrollback } from '../../../../ports/terminals/terminal-backend.ts';
import { printedWhole, runScript } from '../../exec/run-script.ts';
import { endOf, FIGURES_BYTES, HISTORY_BYTES, HISTORY_ROWS, snapshotOf } from './tmux-history.ts';
import { DRAW_ANEW, HOW_ENDED, SNAPSHOT } from './tmux-scripts.ts';

/** What only tmux knows about a terminal: its scrollback, and how its shell ended. */
export type TmuxAttachment = {
  readonly session: string;
  requestScrollback(room?: OutputRoom): Promise<Scrollback>;
  redraw(): Promise<void>;
  /** After the end of the attachment: what happened to the session. */
  ending(): Promise<StreamEnd>;
};

/** `shown`: a participant's session, grouped with `session`. */
export type AttachedTo = { readonly session: string; readonly shown: string; readonly marker: string };

export function tmuxAttachment(
  programs: ContainerPrograms,
  runtimeId: string,
  { session, shown, marker }: AttachedTo,
): TmuxAttachment {
  // One byte more than is sent reveals whether there was more.
  const args = [shown, String(HISTORY_ROWS), String(HISTORY_BYTES + 1)];
  const most = HISTORY_BYTES + 1 + FIGURES_BYTES;
  return {
    session: shown,
    async requestScrollback(room) {
      return snapshotOf(await printedWhole(programs, runtimeId, SNAPSHOT, args, most, room));
    },
    async redraw() {
      await runScript(programs, runtimeId, DRAW_ANEW, [shown, `BERTH_TERM=${marker}`]);
    },
    ending: async () => endOf(await runScript(programs, runtimeId, HOW_ENDED, [session, shown])),
  };
}
