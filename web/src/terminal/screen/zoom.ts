/** How a screen is shown that is larger than its window: all of it in small letters, or in the usual ones, panned. */
export type Zoom = 'fit' | 'full';

const READABLE_PX = 9;
const MIN_FONT_PX = 2;

/**
 * The user's choice, or where all of it can be read, all of it. Null where the usual letters fit. `fitsPx`: the size
 * of letters at which all of it is seen.
 */
export function zoomOf(fitsPx: number, usualPx: number, chosen: Zoom | undefined): Zoom | null {
  if (fitsPx >= usualPx) return null;
  return chosen ?? (fitsPx < Math.min(READABLE_PX, usualPx) ? 'full' : 'fit');
}

/** In steps of half a pixel. */
export const fittedFont = (fitsPx: number, usualPx: number): number =>
  Math.max(MIN_FONT_PX, Math.min(usualPx, Math.floor(fitsPx * 2) / 2));

/** A stretch of a scrolled page, in pixels. */
type Stretch = { readonly from: number; readonly length: number };

const isInside = (inner: Stretch, outer: Stretch): boolean =>
  inner.from >= outer.from && inner.from + inner.length <= outer.from + outer.length;

/** The offset at which `cell` is seen, as near as possible to the present one. */
export function offsetFor(cell: Stretch, seen: Stretch): number {
  if (isInside(cell, seen)) return seen.from;
  return cell.from < seen.from ? cell.from : cell.from + cell.length - seen.length;
}
