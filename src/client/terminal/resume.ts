import type { ReadyFrame } from '../../protocol/terminal-frames.ts';
import type { ResumePoint } from './terminal-protocol.ts';

/** `fresh`: the first connection; `exact`: not a byte is missing; `redraw`: same shell, screen sent again; `other`: another shell. */
export type Resumed = 'fresh' | 'exact' | 'redraw' | 'other';

/** How the stream in `ready` continues the output that the page has. */
export function howResumed(seen: ResumePoint | null, ready: ReadyFrame): Resumed {
  if (seen === null) return 'fresh';
  if (ready.stream === '' || ready.stream !== seen.stream) return 'other';
  return ready.offset === seen.after ? 'exact' : 'redraw';
}
