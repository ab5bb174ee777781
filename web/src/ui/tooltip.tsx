import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { namedKeys, shownKeys } from '../lib/browser/shortcut-keys.ts';

/** The attributes of an element with a tooltip. `keys`: what does the same, such as `Ctrl Shift F`. */
export const tooltip = (text: string, keys?: string) => ({
  'data-tip': text,
  'data-tip-keys': keys && shownKeys(keys).join(' '),
  'aria-keyshortcuts': namedKeys(keys),
});

const DELAY_MS = 400;
const GAP_PX = 6;
const EDGE_PX = 4;

const ownerOf = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('[data-tip]') : null;

const isInside = (element: Element, { clientX, clientY }: PointerEvent): boolean => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return clientX >= left && clientX <= right && clientY >= top - GAP_PX && clientY <= bottom + GAP_PX;
};

/** Puts the tooltip below its owner, or above it where the window ends. */
function place(tip: HTMLElement, owner: HTMLElement): void {
  const { left, width, top, bottom } = owner.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = tip;
  const below = bottom + GAP_PX;
  const isRoom = below + offsetHeight <= innerHeight - EDGE_PX;
  const middle = left + (width - offsetWidth) / 2;
  tip.style.top = `${isRoom ? below : top - GAP_PX - offsetHeight}px`;
  tip.style.left = `${Math.max(EDGE_PX, Math.min(middle, innerWidth - offsetWidth - EDGE_PX))}px`;
}

type Show = (owner: HTMLElement | null) => void;

type Follow = {
  /** Whether the mouse is still on what is shown. */
  readonly isKept: (event: PointerEvent) => boolean;
  /** What the tooltip is shown for. */
  readonly shown: () => HTMLElement | null;
};

/** Shows the tooltip while the mouse rests on its owner, or Tab has brought the focus there. */
function follow(show: Show, { isKept, shown }: Follow): () => void {
  const stopped = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let under: HTMLElement | null = null;
  let isByTab = false;
  const hide = (event: Event): void => {
    clearTimeout(timer);
    show(null);
    if (event.type === 'pointerdown') isByTab = false;
    if (event instanceof KeyboardEvent) isByTab = event.key === 'Tab';
  };
  /** Whether the event concerns the owner: a scrolling terminal does not. */
  const isOf = ({ target }: Event): boolean =>
    target instanceof Node && [shown(), under].some((one) => one !== null && target.contains(one));
  const onLeave = (event: Event): void => {
    // why: the mouse may cross the gap to the tooltip; only outside of the window no move follows
    if (event.target !== document.documentElement) return;
    hide(event);
    under = null;
  };
  const onMove = (event: PointerEvent): void => {
    if (event.pointerType === 'touch' || isKept(event)) return;
    const owner = ownerOf(event.target);
    if (owner === under) return;
    hide(event);
    under = owner;
    if (owner !== null) timer = setTimeout(() => show(owner), DELAY_MS);
  };
  const onFocus = ({ target }: FocusEvent): void => {
    const owner = ownerOf(target);
    // why: focus that a dialog gives back when it is closed by mouse asks for nothing
    if (isByTab && owner !== null) show(owner);
  };
  const options = { signal: stopped.signal, capture: true, passive: true };
  document.addEventListener('pointermove', onMove, options);
  document.addEventListener('focusin', onFocus, options);
  for (const event of ['pointerdown', 'keydown']) document.addEventListener(event, hide, options);
  document.addEventListener('pointerleave', onLeave, options);
  for (const event of ['focusout', 'scroll'])
    document.addEventListener(event, (moved) => isOf(moved) && hide(moved), options);
  return () => {
    clearTimeout(timer);
    stopped.abort();
  };
}

/** One tooltip for all elements. It repeats their accessible names, so it is hidden from assistive technology. */
export function Tooltip() {
  const [owner, setOwner] = useState<HTMLElement | null>(null);
  const tip = useRef<HTMLDivElement>(null);
  const shownFor = useRef<HTMLElement | null>(null);
  shownFor.current = owner;
  useEffect(() => {
    const isKept = (event: PointerEvent): boolean =>
      shownFor.current?.isConnected === true &&
      [shownFor.current, tip.current].some((one) => one !== null && isInside(one, event));
    const show: Show = (next) =>
      setOwner(next?.isConnected && next.getAttribute('aria-expanded') !== 'true' ? next : null);
    return follow(show, { isKept, shown: () => shownFor.current });
  }, []);
  useLayoutEffect(() => {
    const element = tip.current;
    if (element === null || owner === null) return;
    // why: above dialogs, which are in the top layer
    element.showPopover?.();
    place(element, owner);
    const changes = new MutationObserver(() => !owner.isConnected && setOwner(null));
    changes.observe(document.body, { childList: true, subtree: true });
    return () => {
      changes.disconnect();
      element.hidePopover?.();
    };
  }, [owner]);
  const keys = owner?.dataset['tipKeys']?.split(' ').filter(Boolean) ?? [];
  return (
    <div class={owner === null ? 'tooltip' : 'tooltip shown'} ref={tip} popover="manual" aria-hidden="true">
      {owner?.dataset['tip']}
      {keys.map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </div>
  );
}
