import type { Duplex } from 'node:stream';
import type { StreamEnd } from '../../../domain/terminals/terminal-end.ts';
import type { ContainerProgram } from '../../../ports/containers/inside/container-programs.ts';
import type { PtyStream } from '../../../ports/terminals/terminal-backend.ts';
import { InputWriter, PLAIN_INPUT, TMUX_INPUT } from './input-writer.ts';
import type { TmuxAttachment } from './tmux/tmux-attachment.ts';

const LOST: StreamEnd = { kind: 'lost' };

/** The terminal of an opened program. `endAttachment` ends its processes. */
export function ptyStream(
  opened: ContainerProgram,
  tmux: TmuxAttachment | null,
  endAttachment: () => Promise<void>,
): PtyStream {
  const { stream } = opened;
  const input = new InputWriter(stream, tmux === null ? PLAIN_INPUT : TMUX_INPUT);
  // tmux keeps what its attachment has not shown.
  if (tmux === null) opened.keepTail?.();
  let closing: Promise<void> | null = null;
  const redraw = async (): Promise<void> => await tmux?.redraw().catch(() => {});
  return {
    stream,
    write(bytes, done = () => {}) {
      corkForRead(stream);
      input.write(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, done);
    },
    muxSession: tmux?.session ?? null,
    resize: opened.resize,
    requestScrollback: async (room) =>
      (await tmux?.requestScrollback(room).catch(() => null)) ?? { program: 'shell', snapshot: null },
    redraw,
    async ending() {
      await new Promise<void>((resolve) => (stream.closed ? resolve() : stream.once('close', resolve)));
      // The end of an attachment says nothing about the session.
      if (tmux !== null) return await tmux.ending().catch(() => LOST);
      const code = await opened.exitCode();
      return code === null ? LOST : { kind: 'exited', code };
    },
    close: () => {
      closing ??= closeOpened(opened, endAttachment).catch((error: unknown) => {
        closing = null;
        throw error;
      });
      return closing;
    },
  };
}

/** Joins the input of one read of a socket: small frames cost the engine as much as large ones. */
function corkForRead(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  // Not after the event loop's other reads, of which one may be another terminal's heavy output.
  process.nextTick(() => stream.uncork());
}

/** Unread streams would delay the engine as processes end, one after another. */
export async function closeOpened({ stream }: ContainerProgram, end: () => Promise<void>): Promise<void> {
  stream.destroy();
  await end();
}
