import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { path } from '../lib/browser/router.ts';
import { useTitle } from '../ui/hooks/use-title.ts';
import { NotFound } from './not-found.tsx';

/** A tab at an address of its own. */
export type Tab = { readonly href: string; readonly label: string; readonly content: () => JSX.Element };

type TabbedProps = { readonly title: string; readonly tabs: readonly Tab[] };

/** A page of several tabs. */
export function TabbedPage({ title, tabs }: TabbedProps) {
  const current = tabs.find(({ href }) => href === path.value);
  return current === undefined ? <NotFound /> : <Tabbed title={title} tabs={tabs} current={current} />;
}

/** Scrolls the strip to its current tab, also when the window has become another size. */
function useCurrentInSight(strip: RefObject<HTMLElement | null>, href: string): void {
  useLayoutEffect(() => {
    const element = strip.current;
    if (element === null) return;
    const show = (): void => {
      const tab = element.querySelector('[aria-current]')?.getBoundingClientRect();
      const { left, width } = element.getBoundingClientRect();
      // why: scrollIntoView would scroll the page, too
      if (tab !== undefined) element.scrollLeft += tab.left - left - (width - tab.width) / 2;
    };
    const observer = new ResizeObserver(show);
    show();
    observer.observe(element);
    return () => observer.disconnect();
  }, [href]);
}

function Tabbed({ title, tabs, current }: TabbedProps & { readonly current: Tab }) {
  useTitle(`${current.label} · ${title}`);
  const strip = useRef<HTMLElement>(null);
  useCurrentInSight(strip, current.href);
  return (
    <div class="page">
      <div class="page-head">
        <h1 tabIndex={-1}>{title}</h1>
      </div>
      <nav class="tabs" aria-label={title} ref={strip}>
        {tabs.map(({ href, label }) => (
          <a key={href} href={href} aria-current={href === current.href ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <div class="tab-body" key={current.href}>
        {current.content()}
      </div>
    </div>
  );
}
