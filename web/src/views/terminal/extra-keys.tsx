import { useEffect, useState } from 'preact/hooks';
import type { TerminalController } from './terminal-controller.ts';

const ARROWS = [
  ['←', 'Left', 'D'],
  ['↓', 'Down', 'B'],
  ['↑', 'Up', 'A'],
  ['→', 'Right', 'C'],
] as const;

/** The byte that Ctrl makes of a key: Ctrl+C is 3. */
const withCtrl = (char: string): string => String.fromCharCode(char.toUpperCase().charCodeAt(0) & 31);

/** Keys that the keyboards of phones and tablets lack; shown on touch screens. */
export function ExtraKeys({ terminal }: { terminal: TerminalController }) {
  const [ctrl, setCtrl] = useState(false);
  const xterm = terminal.screen.terminal;
  useEffect(() => {
    if (!ctrl) return;
    const field = xterm.textarea;
    const onInput = (event: InputEvent): void => {
      const char = event.data;
      if (char === null || !/^[a-z@[\\\]^_ ]$/i.test(char)) return;
      event.preventDefault();
      setCtrl(false);
      terminal.type(withCtrl(char));
    };
    field?.addEventListener('beforeinput', onInput);
    return () => field?.removeEventListener('beforeinput', onInput);
  }, [ctrl, xterm]);
  const press = (text: string): void => {
    terminal.type(text);
    xterm.focus();
  };
  return (
    <div class="extra-keys" role="toolbar" aria-label="Extra keys">
      <Key label="Escape" text="Esc" onPress={() => press('\x1b')} />
      <Key label="Tab" text="Tab" onPress={() => press('\t')} />
      <Key
        label="Control, for the next key"
        text="Ctrl"
        pressed={ctrl}
        onPress={() => {
          setCtrl(!ctrl);
          xterm.focus();
        }}
      />
      <Key label="Interrupt" text="^C" onPress={() => press('\x03')} />
      {ARROWS.map(([text, label, final]) => (
        <Key
          key={label}
          label={label}
          text={text}
          onPress={() => press(`\x1b${xterm.modes.applicationCursorKeysMode ? 'O' : '['}${final}`)}
        />
      ))}
    </div>
  );
}

type KeyProps = {
  readonly label: string;
  readonly text: string;
  readonly onPress: () => void;
  readonly pressed?: boolean;
};

function Key({ label, text, onPress, pressed }: KeyProps) {
  return (
    <button
      type="button"
      aria-label={label}
      aria-pressed={pressed}
      // why: taking the focus would close the keyboard
      onPointerDown={(event) => event.preventDefault()}
      onClick={onPress}
    >
      {text}
    </button>
  );
}
