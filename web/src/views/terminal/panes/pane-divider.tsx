import { useRef } from 'preact/hooks';
import type { Divider } from '../../../terminal/panes/pane-geometry.ts';
import { boxStyle } from './pane-style.ts';

const STEP_PX = 16;
const HALF = 0.5;
const percent = (share: number): number => Math.round(share * 100);

type DividerProps = {
  readonly divider: Divider;
  /** The corner of the panes' area in the window. */
  readonly origin: () => { readonly left: number; readonly top: number };
  readonly onMove: (share: number) => void;
};

/** The line between two panes: drag it, move it with arrow keys, or double-click to centre it. */
export function PaneDivider({ divider, origin, onMove }: DividerProps) {
  const { axis, box, share, least, most, from, room } = divider;
  const drags = useRef(false);
  const moveTo = (to: number): void => onMove(Math.min(most, Math.max(least, to)));
  const follow = ({ clientX, clientY }: PointerEvent): void => {
    const { left, top } = origin();
    if (drags.current) moveTo(((axis === 'row' ? clientX - left : clientY - top) - from) / room);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const [less, more] = axis === 'row' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    const isPlain = !(event.ctrlKey || event.altKey || event.metaKey || event.shiftKey);
    if (event.key === less && isPlain) moveTo(share - STEP_PX / room);
    else if (event.key === more && isPlain) moveTo(share + STEP_PX / room);
    else if (event.key === 'Home') moveTo(least);
    else if (event.key === 'End') moveTo(most);
    else if (event.key === 'Enter') moveTo(HALF);
    else return;
    event.preventDefault();
  };
  return (
    <hr
      class={`pane-divider ${axis === 'row' ? 'upright' : 'level'}`}
      style={boxStyle(box)}
      tabIndex={0}
      aria-label={axis === 'row' ? 'Width of the panes' : 'Height of the panes'}
      aria-orientation={axis === 'row' ? 'vertical' : 'horizontal'}
      aria-valuenow={percent(share)}
      aria-valuemin={percent(least)}
      aria-valuemax={percent(most)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        // why: dragging must not select text or take the focus from a pane
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        drags.current = true;
      }}
      onPointerMove={follow}
      onLostPointerCapture={() => {
        drags.current = false;
      }}
      onDblClick={() => moveTo(HALF)}
      onKeyDown={onKeyDown}
    />
  );
}
