import type { ComponentChildren } from 'preact';
import { path } from '../lib/browser/router.ts';
import { useTitle } from '../ui/use-title.ts';

export type Tab = { readonly href: string; readonly label: string };

type TabsProps = {
  readonly title: string;
  readonly tabs: readonly Tab[];
  readonly children: ComponentChildren;
};

/** A page of several parts, each at an address of its own. */
export function TabbedPage({ title, tabs, children }: TabsProps) {
  const current = tabs.find(({ href }) => href === path.value);
  useTitle(current === undefined ? title : `${current.label} · ${title}`);
  return (
    <div class="page tabbed">
      <div class="page-head">
        <h1>{title}</h1>
      </div>
      <nav class="tabs" aria-label={title}>
        {tabs.map(({ href, label }) => (
          <a key={href} href={href} aria-current={href === path.value ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <div class="tab-body">{children}</div>
    </div>
  );
}
