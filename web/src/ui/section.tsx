import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Spinner } from './button.tsx';
import { LoadProblem } from './problem.tsx';

type SectionProps = {
  readonly title: string;
  readonly lead?: ComponentChildren;
  /** Beside the title. */
  readonly action?: ComponentChildren;
  readonly children?: ComponentChildren;
};

/** A card with a heading. */
export function Section({ title, lead, action, children }: SectionProps) {
  const id = useId();
  return (
    <section class="section" aria-labelledby={id}>
      <header class="section-head">
        <div>
          <h2 id={id}>{title}</h2>
          {lead && <p class="section-lead">{lead}</p>}
        </div>
        {action}
      </header>
      {children}
    </section>
  );
}

export function Loading() {
  return (
    <div class="items waiting" role="status">
      <span class="late">
        <Spinner />
        Loading…
      </span>
    </div>
  );
}

type LoadedProps<T> = {
  readonly of: {
    readonly value: readonly T[] | null;
    readonly failure: unknown;
    readonly reload: () => Promise<void>;
  };
  /** What to say when there is none. */
  readonly none: string;
  readonly row: (item: T) => ComponentChildren;
};

/** A list: loading, failed, empty, or its rows. */
export function Items<T>({ of: { value, failure, reload }, none, row }: LoadedProps<T>) {
  if (failure !== null) return <LoadProblem of={{ failure, reload }} />;
  if (value === null) return <Loading />;
  if (value.length === 0) return <p class="none">{none}</p>;
  return <ul class="items">{value.map(row)}</ul>;
}

type ItemProps = {
  readonly title: ComponentChildren;
  readonly facts: ComponentChildren;
  /** Depth below the row that it belongs to; 0 for none. */
  readonly level?: number;
  readonly children?: ComponentChildren;
};

/** A row of a list: its title, facts and buttons. */
export function Item({ title, facts, level = 0, children }: ItemProps) {
  return (
    <li class="item" style={level > 0 ? { '--level': level } : undefined}>
      <div class="item-text">
        <strong>{title}</strong>
        <span>{facts}</span>
      </div>
      <div class="item-actions">{children}</div>
    </li>
  );
}
