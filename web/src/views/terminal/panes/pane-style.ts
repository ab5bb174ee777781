import type { Box } from '../../../terminal/panes/pane-geometry.ts';

/** The position of an element in the panes' area. */
export const boxStyle = ({ left, top, width, height }: Box) => ({
  left: `${left}px`,
  top: `${top}px`,
  width: `${width}px`,
  height: `${height}px`,
});
