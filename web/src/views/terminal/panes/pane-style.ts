import type { Box } from '../../../terminal/panes/pane-geometry.ts';

/** Puts an element of the panes' area into its place. */
export const boxStyle = ({ left, top, width, height }: Box) => ({
  left: `${left}px`,
  top: `${top}px`,
  width: `${width}px`,
  height: `${height}px`,
});
