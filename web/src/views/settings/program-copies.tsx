import { letProgramsCopy, programsMayCopy } from '../../state/clipboard-permission.ts';
import { Check } from '../../ui/check.tsx';
import { Section } from '../../ui/section.tsx';

/** Whether programs in terminals may copy to the clipboard. */
export function ProgramCopies() {
  return (
    <Section title="Clipboard" lead="For your terminals in this browser.">
      <Check
        label="Allow programs to copy"
        checked={programsMayCopy()}
        onChange={letProgramsCopy}
        hint="Programs such as vim or tmux can copy text to your clipboard. When off, the page shows the text and asks first."
      />
    </Section>
  );
}
