import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useElapsed } from './hooks/use-elapsed.ts';
import { Icon, type IconName } from './icon.tsx';
import { tooltip } from './tooltip.tsx';

type ButtonProps = {
  readonly children: ComponentChildren;
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger';
  readonly icon?: IconName;
  readonly type?: 'button' | 'submit';
  readonly onClick?: (event: MouseEvent) => void;
  readonly disabled?: boolean;
  /** While under way: what to say instead; after a second also for how long. */
  readonly busy?: string | undefined;
  /** Has the focus when its dialog opens. */
  readonly autofocus?: boolean;
  /** Takes the focus when it appears. */
  readonly takeFocus?: boolean;
};

export function Spinner() {
  return <span class="spinner" aria-hidden="true" />;
}

/** In place of a page that is not there yet. */
export function Arriving({ words, isLate = true }: { words: string; isLate?: boolean }) {
  return (
    <div class="arriving" role="status">
      <Spinner />
      <p class={isLate ? 'late' : ''}>{words}</p>
    </div>
  );
}

export function Button(props: ButtonProps) {
  const {
    children,
    kind = 'plain',
    icon,
    type = 'button',
    onClick,
    disabled,
    busy,
    autofocus,
    takeFocus,
  } = props;
  const seconds = useElapsed(busy !== undefined);
  const self = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (takeFocus) self.current?.focus();
  }, []);
  return (
    <button
      ref={self}
      type={type}
      class={`button ${kind}`}
      // why: a disabled button loses the focus, and a keyboard user loses their place with it
      onClick={busy === undefined ? onClick : (event) => event.preventDefault()}
      disabled={disabled}
      aria-disabled={busy !== undefined || undefined}
      aria-busy={busy !== undefined}
      data-autofocus={autofocus || undefined}
    >
      {busy !== undefined ? <Spinner /> : icon && <Icon name={icon} />}
      <span>
        {busy ?? children}
        {busy !== undefined && seconds > 0 && <span class="seconds"> {seconds} s</span>}
      </span>
    </button>
  );
}

type IconButtonProps = {
  readonly icon: IconName;
  /** Read out, and shown as a tooltip. */
  readonly label: string;
  /** What does the same, such as `Ctrl Shift F`; shown in the tooltip. */
  readonly keys?: string;
  readonly onClick: (event: MouseEvent) => void;
  /** Whether what it switches is on. */
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  /** Why it does nothing, as a tooltip. It can still be focused, so that the reason can be read. */
  readonly unavailable?: string | undefined;
};

export function IconButton(props: IconButtonProps) {
  const { icon, label, keys, onClick, pressed, disabled, unavailable } = props;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      aria-description={unavailable}
      {...tooltip(unavailable ?? label, keys)}
      onClick={unavailable === undefined ? onClick : undefined}
      disabled={disabled}
      aria-pressed={pressed}
      aria-disabled={unavailable !== undefined || undefined}
    >
      <Icon name={icon} size={18} />
    </button>
  );
}
