/** Where the panes of a layout are on the page, in whole pixels. Pure. */

import { type Axis, type Layout, type Path, panesOf, type Split } from './pane-tree.ts';

export type Area = { readonly width: number; readonly height: number };
export type Box = Area & { readonly left: number; readonly top: number };
export type PaneBox = { readonly pane: string; readonly box: Box };

/** The line between both parts of a split. Shares are of `room`, which begins at `from`. */
export type Divider = {
  readonly path: Path;
  readonly axis: Axis;
  readonly box: Box;
  readonly share: number;
  readonly least: number;
  readonly most: number;
  readonly from: number;
  readonly room: number;
};

export type Geometry = {
  readonly panes: readonly PaneBox[];
  readonly dividers: readonly Divider[];
  /** Whether the area is too small for several panes: each fills it, and one is shown at a time. */
  readonly stacked: boolean;
};

export type Direction = 'left' | 'right' | 'up' | 'down';

const LINE_PX = 1;
/** A few words a line, and a few lines. */
const LEAST_PX: Readonly<Record<Axis, number>> = { row: 160, column: 84 };
const STACKED_BELOW_PX = 640;

const extentOf = (area: Area, axis: Axis): number => (axis === 'row' ? area.width : area.height);

/** Where all panes are, and the lines between them. */
export function geometryOf(layout: Layout, area: Area): Geometry {
  const full = { left: 0, top: 0, ...area };
  if (area.width < STACKED_BELOW_PX)
    return { panes: panesOf(layout).map((pane) => ({ pane, box: full })), dividers: [], stacked: true };
  return { ...arrange(layout, full, ''), stacked: false };
}

function arrange(layout: Layout, box: Box, path: Path): Omit<Geometry, 'stacked'> {
  if (typeof layout === 'string') return { panes: [{ pane: layout, box }], dividers: [] };
  const divider = dividerOf(layout, box, path);
  const before = Math.round(divider.room * divider.share);
  const first = arrange(layout.first, part(box, layout.axis, 0, before), `${path}0`);
  const after = before + LINE_PX;
  const second = arrange(layout.second, part(box, layout.axis, after, divider.room - before), `${path}1`);
  return {
    panes: [...first.panes, ...second.panes],
    dividers: [divider, ...first.dividers, ...second.dividers],
  };
}

function dividerOf({ axis, share, first, second }: Split, box: Box, path: Path): Divider {
  const room = Math.max(0, extentOf(box, axis) - LINE_PX);
  const [low, high] = [leastOf(first, axis), room - leastOf(second, axis)];
  // Without room for the least sizes, the share decides alone.
  const fits = low <= high;
  const [least, most] = fits ? [low / room, high / room] : [share, share];
  const now = Math.min(most, Math.max(least, share));
  const line = part(box, axis, Math.round(room * now), LINE_PX);
  return { path, axis, box: line, share: now, least, most, from: axis === 'row' ? box.left : box.top, room };
}

function leastOf(layout: Layout, axis: Axis): number {
  if (typeof layout === 'string') return LEAST_PX[axis];
  const [first, second] = [leastOf(layout.first, axis), leastOf(layout.second, axis)];
  return layout.axis === axis ? first + LINE_PX + second : Math.max(first, second);
}

const part = (box: Box, axis: Axis, offset: number, extent: number): Box =>
  axis === 'row'
    ? { ...box, left: box.left + offset, width: extent }
    : { ...box, top: box.top + offset, height: extent };

/** Whether a pane can be split and both halves are still of use. */
export function mayHalve({ panes, stacked }: Geometry, pane: string, axis: Axis): boolean {
  const box = panes.find((each) => each.pane === pane)?.box;
  return stacked || (box !== undefined && extentOf(box, axis) >= 2 * LEAST_PX[axis] + LINE_PX);
}

/** The pane beside `from`: the nearest there, and of several the one with the longest common side. */
export function neighbourOf({ panes, stacked }: Geometry, from: string, direction: Direction): string | null {
  const at = panes.findIndex(({ pane }) => pane === from);
  const here = panes[at]?.box;
  if (here === undefined) return null;
  const isBack = direction === 'left' || direction === 'up';
  if (stacked) return panes[at + (isBack ? -1 : 1)]?.pane ?? null;
  const beside = panes
    .map(({ pane, box }) => ({ pane, gap: gapTo(here, box, direction), side: sideOf(here, box, direction) }))
    .filter(({ gap, side }) => gap >= 0 && side > 0);
  beside.sort((a, b) => a.gap - b.gap || b.side - a.side);
  return beside[0]?.pane ?? null;
}

function gapTo(from: Box, to: Box, direction: Direction): number {
  if (direction === 'left') return from.left - (to.left + to.width);
  if (direction === 'right') return to.left - (from.left + from.width);
  if (direction === 'up') return from.top - (to.top + to.height);
  return to.top - (from.top + from.height);
}

/** The length of the side that both have in common in this direction. */
function sideOf(a: Box, b: Box, direction: Direction): number {
  if (direction === 'up' || direction === 'down')
    return Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left);
  return Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top);
}
