import { screenReader } from '../../lib/browser/preferences.ts';
import { Check } from '../../ui/check.tsx';
import { Section } from '../../ui/section.tsx';

/** Whether screen readers can read the output of terminals. */
export function Accessibility() {
  return (
    <Section title="Accessibility" lead="For your terminals in this browser.">
      <Check
        label="Screen reader support"
        checked={screenReader.value}
        onChange={(on) => {
          screenReader.value = on;
        }}
        hint="Your screen reader announces new output, and you can review the lines of the screen. Leave it off if you don't need it: terminals draw more slowly with it."
      />
    </Section>
  );
}
