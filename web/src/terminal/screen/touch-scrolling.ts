/** A finger that moves less than this taps. */
const TAP_PX = 8;
/** The share of its speed that a scroll keeps for each millisecond after the finger has left. */
const GLIDE_PER_MS = 0.996;
const SLOWEST_PX_PER_MS = 0.05;

type Point = { readonly x: number; readonly y: number; readonly timeMs: number };

const pointOf = ({ touches: [touch], timeStamp }: TouchEvent): Point | null =>
  touch === undefined ? null : { x: touch.clientX, y: touch.clientY, timeMs: timeStamp };

/**
 * Scrolls a terminal by finger, which xterm.js leaves to others: first `host`, where the screen is larger than it, and
 * beyond its edge like a wheel. Ends with the returned function.
 */
export function touchScrolling(host: HTMLElement): () => void {
  let last: Point | null = null;
  let isMoving = false;
  let speed = { x: 0, y: 0 };
  let frame = 0;
  const scroll = (x: number, y: number, at: Point): void => {
    const before = host.scrollTop;
    host.scrollBy(x, y);
    const rest = y - (host.scrollTop - before);
    if (Math.abs(rest) >= 1) turnWheel(host, rest, at);
  };
  const glide = (at: Point, beforeMs: number) => (nowMs: number) => {
    const passedMs = nowMs - beforeMs;
    scroll(speed.x * passedMs, speed.y * passedMs, at);
    const keeps = GLIDE_PER_MS ** passedMs;
    speed = { x: speed.x * keeps, y: speed.y * keeps };
    const isFast = Math.hypot(speed.x, speed.y) > SLOWEST_PX_PER_MS;
    frame = isFast ? requestAnimationFrame(glide(at, nowMs)) : 0;
  };
  const onStart = (event: TouchEvent): void => {
    cancelAnimationFrame(frame);
    last = event.touches.length === 1 ? pointOf(event) : null;
    isMoving = false;
    speed = { x: 0, y: 0 };
  };
  const onMove = (event: TouchEvent): void => {
    const now = pointOf(event);
    if (last === null || now === null || event.touches.length > 1) return;
    const [x, y] = [last.x - now.x, last.y - now.y];
    if (!isMoving && Math.hypot(x, y) < TAP_PX) return;
    isMoving = true;
    event.preventDefault();
    const passedMs = Math.max(1, now.timeMs - last.timeMs);
    speed = { x: x / passedMs, y: y / passedMs };
    last = now;
    scroll(x, y, now);
  };
  const onEnd = (event: TouchEvent): void => {
    const at = last;
    last = null;
    if (at === null || !isMoving) return;
    // why: the click that follows would open the keyboard
    if (event.cancelable) event.preventDefault();
    // why: a finger that rested before it left has no speed any more
    if (event.timeStamp - at.timeMs < 50) frame = requestAnimationFrame(glide(at, performance.now()));
  };
  const ending = new AbortController();
  const { signal } = ending;
  host.addEventListener('touchstart', onStart, { passive: true, signal });
  host.addEventListener('touchmove', onMove, { passive: false, signal });
  host.addEventListener('touchend', onEnd, { passive: false, signal });
  host.addEventListener('touchcancel', onEnd, { passive: false, signal });
  return () => {
    cancelAnimationFrame(frame);
    ending.abort();
  };
}

/** As a mouse's wheel would there, so that everything that a wheel does works. */
function turnWheel(host: HTMLElement, deltaY: number, { x, y }: Point): void {
  const wheel = new WheelEvent('wheel', {
    deltaY,
    clientX: x,
    clientY: y,
    bubbles: true,
    cancelable: true,
    composed: true,
  });
  host.querySelector('.xterm-screen')?.dispatchEvent(wheel);
}
