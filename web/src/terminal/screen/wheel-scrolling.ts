import type { Terminal } from '@xterm/xterm';
import type { ScrollbackOutput } from './frozen-screen.ts';
import { Scrollback } from './scrollback.ts';
import type { ScrollbackService } from './scrollback-deps.ts';
import { snapshotOutput } from './snapshot-output.ts';

/** The most arrow keys for one turn of the wheel. */
const MAX_ARROWS = 60;

export type ScrollingDeps = ScrollbackService &
  Pick<ScrollbackOutput, 'hold' | 'goLive'> & {
    /** From now on draws no output except `snapshot`, if given, in place of all queued output. */
    freeze(snapshot?: Uint8Array, done?: () => void): void;
    type(text: string): void;
  };

/** Lines that the wheel was turned by; browsers count in lines, pages or pixels. */
function linesOf({ deltaY, deltaMode }: WheelEvent, rows: number, rowPx: number): number {
  if (deltaMode === WheelEvent.DOM_DELTA_LINE) return deltaY;
  return deltaMode === WheelEvent.DOM_DELTA_PAGE ? deltaY * rows : deltaY / rowPx;
}

const aboveOf = ({ buffer: { active } }: Terminal): number => active.baseY - active.viewportY;

/** The wheel and the scrollback of a terminal that may be inside a multiplexer. */
export function scrolling(terminal: Terminal, host: HTMLElement, deps: ScrollingDeps): Scrollback {
  const arrows = (count: number): void => {
    if (terminal.options.disableStdin) return;
    const key = count < 0 ? '\x1b[A' : '\x1b[B';
    deps.type(key.repeat(Math.min(MAX_ARROWS, Math.abs(count))));
  };
  const scrollTo = (above: number): void =>
    terminal.scrollToLine(Math.max(0, terminal.buffer.active.baseY - above));
  const scrollback = new Scrollback({
    service: deps,
    output: { hold: deps.hold, goLive: deps.goLive, freeze: () => deps.freeze() },
    view: {
      show: (snapshot, above, done) =>
        deps.freeze(snapshotOutput(snapshot), () => {
          scrollTo(above);
          done();
        }),
      arrows,
      showAbove: (rows) => terminal.write('', () => scrollTo(rows)),
      above: () => aboveOf(terminal),
      size: () => ({ cols: terminal.cols, rows: terminal.rows }),
      hasSelection: () => terminal.hasSelection(),
    },
    nowMs: () => performance.now(),
  });
  let rest = 0;
  const onWheel = (event: WheelEvent): void => {
    const { modes, rows, buffer } = terminal;
    const isOurs = !event.ctrlKey && !event.shiftKey && modes.mouseTrackingMode === 'none';
    if (!isOurs || buffer.active.type === 'alternate' || event.deltaY === 0) return;
    const turned = rest + linesOf(event, rows, host.clientHeight / rows);
    const lines = Math.trunc(turned);
    // why: a turn of less than a line does nothing yet, and the terminal must not scroll for it either
    if (lines !== 0 && !scrollback.wheel(lines)) {
      rest = 0;
      return;
    }
    rest = turned - lines;
    event.preventDefault();
    event.stopPropagation();
  };
  // why: the terminal's own listeners are inside the host, and must not see handled events
  host.addEventListener('wheel', onWheel, { capture: true, passive: false });
  terminal.onScroll(() => scrollback.scrolled());
  terminal.onResize(() => scrollback.resized());
  return scrollback;
}
