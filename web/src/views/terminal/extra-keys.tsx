import { useEffect, useRef } from 'preact/hooks';
import { type BarKey, EXTRA_KEYS, sequenceOf } from '../../terminal/keys/extra-keys.ts';
import { afterKey, type Latch, NO_MODIFIERS, pressModifier } from '../../terminal/keys/modifiers.ts';
import { Icon } from '../../ui/icon.tsx';
import type { TerminalController } from './controller/terminal-controller.ts';
import { paste } from './terminal-bar-items.ts';

/** Keys that the keyboards of phones and tablets lack; shown on touch screens. */
export function ExtraKeys({ terminal }: { terminal: TerminalController }) {
  const { modifiers, screen } = terminal;
  useEffect(
    () => () => {
      modifiers.value = NO_MODIFIERS;
    },
    [modifiers],
  );
  const press = (key: BarKey): void => {
    if (key.kind === 'modifier') {
      modifiers.value = pressModifier(modifiers.peek(), key.modifier);
      return;
    }
    const before = modifiers.peek();
    // why: they apply to this key, and must not apply again to what it types
    modifiers.value = NO_MODIFIERS;
    if (key.kind === 'paste') void paste(terminal);
    else terminal.type(sequenceOf(key, before, screen.terminal.modes.applicationCursorKeysMode));
    modifiers.value = afterKey(before);
  };
  return (
    <section aria-label="Extra keys">
      <div class="extra-keys" role="toolbar" aria-label="Extra keys">
        {EXTRA_KEYS.flat().map((key) => (
          <Key
            key={key.name}
            of={key}
            latch={key.kind === 'modifier' ? modifiers.value[key.modifier] : null}
            onPress={() => press(key)}
          />
        ))}
      </div>
    </section>
  );
}

type KeyProps = {
  readonly of: BarKey;
  /** null for a key that is no modifier. */
  readonly latch: Latch | null;
  readonly onPress: () => void;
};

const LATCH_WORDS: { readonly [L in Latch]: string } = {
  off: '',
  once: ', for the next key',
  locked: ', locked',
};

function Key({ of: key, latch, onPress }: KeyProps) {
  const repeating = useRepeating(onPress, key.repeats === true);
  return (
    <button
      type="button"
      class={latch === 'locked' ? 'locked' : ''}
      aria-label={key.name + LATCH_WORDS[latch ?? 'off']}
      aria-pressed={latch === null ? undefined : latch !== 'off'}
      // why: taking the focus would close the keyboard
      onMouseDown={(event) => event.preventDefault()}
      {...repeating}
    >
      {key.kind === 'paste' ? <Icon name={key.icon} /> : key.face}
    </button>
  );
}

const REPEAT_AFTER_MS = 400;
const REPEAT_EVERY_MS = 60;

/** Presses the key on a click, and again and again while the finger stays on it. */
function useRepeating(onPress: () => void, repeats: boolean) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const repeated = useRef(false);
  const latest = useRef(onPress);
  latest.current = onPress;
  const stop = (): void => clearTimeout(timer.current);
  useEffect(() => stop, []);
  const again = (): void => {
    repeated.current = true;
    latest.current();
    timer.current = setTimeout(again, REPEAT_EVERY_MS);
  };
  return {
    onPointerDown: (event: PointerEvent): void => {
      event.preventDefault();
      repeated.current = false;
      if (repeats) timer.current = setTimeout(again, REPEAT_AFTER_MS);
    },
    onPointerUp: stop,
    onPointerLeave: stop,
    onPointerCancel: stop,
    // why: the click at the end of a long press would be one press too many
    onClick: (): void => {
      if (!repeated.current) latest.current();
      repeated.current = false;
    },
  };
}
