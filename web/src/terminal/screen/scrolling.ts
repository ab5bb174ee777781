import type { Terminal } from '@xterm/xterm';
import { LookBack } from '../look-back.ts';

/** The number of the service's own escape sequence: the scrollback is complete. */
const HISTORY_MARK = 7711;

/** So many arrow keys at once; a wheel that is spun hard sends no more. */
const MAX_ARROWS = 60;

export type ScrollingDeps = {
  ask(): void;
  type(text: string): void;
};

/** Lines that the wheel was turned by, whatever the browser counts in. */
function linesOf({ deltaY, deltaMode }: WheelEvent, rows: number, rowPx: number): number {
  if (deltaMode === WheelEvent.DOM_DELTA_LINE) return deltaY;
  return deltaMode === WheelEvent.DOM_DELTA_PAGE ? deltaY * rows : deltaY / rowPx;
}

const aboveOf = ({ buffer: { active } }: Terminal): number => active.baseY - active.viewportY;

/** The wheel and the scrollback of a terminal that may be inside a multiplexer. */
export function scrolling(terminal: Terminal, host: HTMLElement, { ask, type }: ScrollingDeps): LookBack {
  const arrows = (count: number): void => {
    if (terminal.options.disableStdin) return;
    const key = count < 0 ? '\x1b[A' : '\x1b[B';
    type(key.repeat(Math.min(MAX_ARROWS, Math.abs(count))));
  };
  const showAbove = (lines: number): void =>
    terminal.write('', () => terminal.scrollToLine(Math.max(0, terminal.buffer.active.baseY - lines)));
  const lookBack = new LookBack({
    ask,
    arrows,
    showAbove,
    above: () => aboveOf(terminal),
    rows: () => terminal.rows,
    nowMs: () => performance.now(),
  });
  let rest = 0;
  const onWheel = (event: WheelEvent): void => {
    const { modes, rows, buffer } = terminal;
    const isOurs = !event.ctrlKey && !event.shiftKey && modes.mouseTrackingMode === 'none';
    if (!isOurs || buffer.active.type === 'alternate' || event.deltaY === 0) return;
    const turned = rest + linesOf(event, rows, host.clientHeight / rows);
    const lines = Math.trunc(turned);
    // why: without a whole line nothing is decided, and the terminal must not decide it either
    if (lines !== 0 && !lookBack.wheel(lines)) {
      rest = 0;
      return;
    }
    rest = turned - lines;
    event.preventDefault();
    event.stopPropagation();
  };
  // why: the terminal's own listeners are inside the host, and must not see what was dealt with
  host.addEventListener('wheel', onWheel, { capture: true, passive: false });
  terminal.onScroll(() => lookBack.scrolled());
  terminal.onResize(() => lookBack.resized());
  terminal.parser.registerOscHandler(HISTORY_MARK, () => {
    lookBack.complete();
    return true;
  });
  return lookBack;
}
