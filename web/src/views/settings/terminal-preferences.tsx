import { screenReader } from '../../lib/browser/preferences.ts';
import { letProgramsCopy, programsMayCopy } from '../../state/clipboard-permission.ts';
import { Check } from '../../ui/fields/check.tsx';
import { Section } from '../../ui/section.tsx';

const letReadersRead = (on: boolean): void => {
  screenReader.value = on;
};

/** How terminals behave in this browser. */
export function TerminalPreferences() {
  return (
    <Section title="Terminals" lead="For your terminals in this browser.">
      <Check
        label="Allow programs to copy"
        checked={programsMayCopy()}
        onChange={letProgramsCopy}
        hint="Programs such as vim or tmux can copy text to your clipboard. When off, the page shows the text and asks first."
      />
      <Check
        label="Screen reader support"
        checked={screenReader.value}
        onChange={letReadersRead}
        hint="Your screen reader announces new output, and you can review the lines of the screen. Terminals draw more slowly with it."
      />
    </Section>
  );
}
