/**
 * How the page is divided into terminals: a tree of splits, whose leaves are panes by their connection ids. The order of
 * the panes in the tree never changes, so that their elements stay where they are. Pure.
 */

/** The pane that is always there: its programs outlive the page. */
export const MAIN_PANE = 'main';
export const MAX_PANES = 6;

/** `row`: side by side; `column`: one above the other. */
export type Axis = 'row' | 'column';

export type Split = {
  readonly axis: Axis;
  /** How much of the room `first` has: the left or the upper one. */
  readonly share: number;
  readonly first: Layout;
  readonly second: Layout;
};

export type Layout = string | Split;

/** The way from the root to a split: `0` for each first part, `1` for each second. */
export type Path = string;

const SPLIT_PANE = /^pane-[0-9a-f]{12}$/;
const HALF = 0.5;

/** Id of a new pane, of random hex digits. Random, so that two tabs never mean the same one. */
export const paneId = (random: string): string => `pane-${random.slice(0, 12)}`;

/** From left to right, and from top to bottom. */
export const panesOf = (layout: Layout): readonly string[] =>
  typeof layout === 'string' ? [layout] : [...panesOf(layout.first), ...panesOf(layout.second)];

/** `added` takes the right or the lower half of `pane`. */
export function splitPane(layout: Layout, pane: string, axis: Axis, added: string): Layout {
  if (layout === pane) return { axis, share: HALF, first: pane, second: added };
  if (typeof layout === 'string') return layout;
  const { first, second } = layout;
  return {
    ...layout,
    first: splitPane(first, pane, axis, added),
    second: splitPane(second, pane, axis, added),
  };
}

export type Closed = { readonly layout: Layout; readonly heir: string };

/** The layout without a pane, whose neighbour takes its room; null when it is not there, or nothing would be left. */
export function closePane(layout: Layout, pane: string): Closed | null {
  if (typeof layout === 'string') return null;
  const { axis, first, second } = layout;
  if (first === pane) return { layout: second, heir: nearest(second, axis, 'first') };
  if (second === pane) return { layout: first, heir: nearest(first, axis, 'second') };
  const inFirst = closePane(first, pane);
  if (inFirst !== null) return { ...inFirst, layout: { ...layout, first: inFirst.layout } };
  const inSecond = closePane(second, pane);
  return inSecond && { ...inSecond, layout: { ...layout, second: inSecond.layout } };
}

/** The pane that lies at that side of an axis. */
function nearest(layout: Layout, axis: Axis, side: 'first' | 'second'): string {
  if (typeof layout === 'string') return layout;
  return nearest(layout[layout.axis === axis ? side : 'first'], axis, side);
}

/** Gives the first part of a split another share. What leads to no split changes nothing. */
export function resizeSplit(layout: Layout, path: Path, share: number): Layout {
  if (typeof layout === 'string') return layout;
  if (path === '') return { ...layout, share: Math.min(1, Math.max(0, share)) };
  const part = path.startsWith('0') ? 'first' : 'second';
  return { ...layout, [part]: resizeSplit(layout[part], path.slice(1), share) };
}

/** Stored by the tab for its next load. */
export type PaneState = { readonly layout: Layout; readonly active: string };

export const ONE_PANE: PaneState = { layout: MAIN_PANE, active: MAIN_PANE };

/** Reads what the tab has stored as JSON; null when it is not valid. */
export function readPanes(text: string | null): PaneState | null {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? '');
  } catch {
    return null;
  }
  if (!isObject(kept) || !isLayout(kept['layout'])) return null;
  const { layout } = kept;
  const panes = panesOf(layout);
  const isSound = panes.includes(MAIN_PANE) && new Set(panes).size === panes.length;
  if (!isSound || panes.length > MAX_PANES) return null;
  return { layout, active: panes.find((pane) => pane === kept['active']) ?? MAIN_PANE };
}

type Fields = { readonly [key: string]: unknown };

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function isLayout(value: unknown): value is Layout {
  if (typeof value === 'string') return value === MAIN_PANE || SPLIT_PANE.test(value);
  if (!isObject(value)) return false;
  const { axis, share, first, second } = value;
  const isShare = typeof share === 'number' && share >= 0 && share <= 1;
  return (axis === 'row' || axis === 'column') && isShare && isLayout(first) && isLayout(second);
}
