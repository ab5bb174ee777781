type Viewport = Pick<VisualViewport, 'scale' | 'height' | 'offsetTop'>;

/** The area of the page that an on-screen keyboard leaves visible, in pixels; null for all of it, and while zoomed in. */
export function visibleArea(
  { scale, height, offsetTop }: Viewport,
  pageHeight: number,
): { readonly top: number; readonly height: number } | null {
  const isCovered = Math.round(height) < pageHeight || Math.round(offsetTop) > 0;
  return scale > 1.01 || !isCovered ? null : { top: Math.round(offsetTop), height: Math.round(height) };
}

/** Tells the styles that area, where the browser does not make the page smaller itself. */
export function followVisibleArea(): void {
  const viewport = window.visualViewport;
  if (viewport === null) return;
  const { style } = document.documentElement;
  const follow = (): void => {
    const area = visibleArea(viewport, window.innerHeight);
    if (area === null) {
      style.removeProperty('--visible-top');
      style.removeProperty('--visible-height');
      return;
    }
    style.setProperty('--visible-top', `${area.top}px`);
    style.setProperty('--visible-height', `${area.height}px`);
  };
  viewport.addEventListener('resize', follow);
  viewport.addEventListener('scroll', follow);
}
