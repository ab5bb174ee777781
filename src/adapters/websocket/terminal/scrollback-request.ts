import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { OutputReservation } from '../../../app/terminals/output/output-slots.ts';
import { latestOnly } from '../../../concurrency/coalesce.ts';
import type { OutputRoom } from '../../../ports/output-room.ts';
import type { Scrollback } from '../../../ports/terminals/terminal-backend.ts';
import { encodeFrame, type ServerFrame } from '../../../protocol/terminal-frames.ts';

/** Between two commands in the container, whose engine others need too; imperceptible. */
const REST_MS = 200;

export type FrameRequests = { request(id: number | null): void; stop(): void };

/**
 * Answers requests that run a command in the container, one at a time: the next one starts after the previous answer is
 * sent, so a client that does not read causes no extra work, and its unread answer is charged to its user. Of requests
 * that arrive meanwhile, only the newest is answered.
 */
export function frameRequests(
  socket: Pick<WebSocket, 'send'>,
  answer: (id: number | null, room: OutputRoom) => Promise<ServerFrame>,
  reserve: () => OutputReservation,
  pause: (ms: number) => Promise<unknown> = delay,
): FrameRequests {
  let stopped = false;
  let room: OutputReservation | null = null;
  const run = latestOnly(async (id: number | null): Promise<void> => {
    if (stopped) return;
    room = reserve();
    const message = encodeFrame(await answer(id, room));
    if (stopped) return;
    await new Promise<void>((resolve) => socket.send(message, () => resolve()));
    room.release();
    await pause(REST_MS);
  });
  return {
    request: (id) => void run(id),
    stop() {
      stopped = true;
      room?.release();
    },
  };
}

export function toOnScreen(id: number | null, found: Scrollback): ServerFrame {
  const { program } = found;
  const snapshot = found.program === 'shell' ? found.snapshot : null;
  if (snapshot === null) return { type: 'on_screen', id, program, snapshot: null };
  const { cols, rows, historyRows, cursorX, cursorY, text } = snapshot;
  const figures = { cols, rows, history_rows: historyRows, cursor_x: cursorX, cursor_y: cursorY };
  return { type: 'on_screen', id, program, snapshot: { ...figures, text } };
}
