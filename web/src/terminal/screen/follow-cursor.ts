import type { Terminal } from '@xterm/xterm';
import { offsetFor } from './zoom.ts';

type Offsets = { readonly left: number; readonly top: number };

/** Browsers round what they scroll to. */
const ROUNDING_PX = 2;

/**
 * Scrolls `host`, where the screen is larger than it, so that the cursor stays in sight. A user who scrolls it out of
 * sight keeps that view until it is in sight again. Ends with the returned function.
 */
export function followCursor(terminal: Terminal, host: HTMLElement): () => void {
  let isFollowing = true;
  let frame = 0;
  const screen = host.querySelector<HTMLElement>('.xterm-screen');
  const isLarger = (): boolean =>
    screen !== null && (screen.offsetWidth > host.clientWidth || screen.offsetHeight > host.clientHeight);
  /** The offsets at which the cursor is in sight. */
  const wanted = (): Offsets | null => {
    const { cursorX, cursorY, baseY, viewportY } = terminal.buffer.active;
    if (screen === null || baseY !== viewportY) return null;
    const [outer, inner] = [host.getBoundingClientRect(), screen.getBoundingClientRect()];
    const [width, height] = [inner.width / terminal.cols, inner.height / terminal.rows];
    const x = inner.left - outer.left + host.scrollLeft + cursorX * width;
    const y = inner.top - outer.top + host.scrollTop + cursorY * height;
    return {
      left: offsetFor({ from: x, length: width }, { from: host.scrollLeft, length: host.clientWidth }),
      top: offsetFor({ from: y, length: height }, { from: host.scrollTop, length: host.clientHeight }),
    };
  };
  const isAt = (offsets: Offsets | null): boolean =>
    offsets !== null &&
    Math.abs(offsets.left - host.scrollLeft) < ROUNDING_PX &&
    Math.abs(offsets.top - host.scrollTop) < ROUNDING_PX;
  /** Where this scrolled to last. */
  let own: Offsets | null = null;
  const follow = (): void => {
    frame = 0;
    const offsets = isFollowing && isLarger() ? wanted() : null;
    if (offsets === null) return;
    own = offsets;
    host.scrollTo(offsets);
  };
  const soon = (): void => {
    frame ||= requestAnimationFrame(follow);
  };
  const onScroll = (): void => {
    // why: the cursor may have moved on since this scrolled
    if (isAt(own)) return;
    own = null;
    const offsets = isLarger() ? wanted() : null;
    isFollowing = offsets === null || isAt(offsets);
  };
  const listener = terminal.onCursorMove(soon);
  const observer = new ResizeObserver(soon);
  if (screen !== null) observer.observe(screen);
  host.addEventListener('scroll', onScroll, { passive: true });
  return () => {
    cancelAnimationFrame(frame);
    host.removeEventListener('scroll', onScroll);
    observer.disconnect();
    listener.dispose();
  };
}
