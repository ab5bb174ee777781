import type { ComponentChildren, RefObject } from 'preact';
import { Icon } from './icon.tsx';

type SearchBoxProps = {
  /** What it searches. */
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly maxLength?: number;
  readonly input?: RefObject<HTMLInputElement | null>;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly disabled?: boolean;
  readonly class?: string;
  /** After the field, such as its key. */
  readonly children?: ComponentChildren;
};

/** A field that filters the list below it. */
export const SearchBox = ({ label, onInput, input, children, class: more, ...props }: SearchBoxProps) => (
  <div class={more === undefined ? 'filter' : `filter ${more}`}>
    <Icon name="search" />
    <input
      {...props}
      {...(input && { ref: input })}
      type="search"
      aria-label={label}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
    {children}
  </div>
);
