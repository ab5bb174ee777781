import type { Container } from '../../../api/types.ts';
import { useToolsOutcome } from './use-tools-outcome.ts';

/** Whether the owner of a container can see how its tools are. */
export const hasTools = ({ role_setup, collaboration }: Container): boolean =>
  collaboration === undefined && (role_setup.status !== 'none' || role_setup.detail !== null);

const WORDS: Readonly<Record<string, string>> = {
  installing: 'installing tools…',
  failed: 'tools are missing',
};

/** Says that tools are being installed or missing, and opens the details; nothing when all is well. */
export function ToolsLink({ container, onOpen }: { container: Container; onOpen: () => void }) {
  const { status } = container.role_setup;
  const words = WORDS[status];
  useToolsOutcome(container, onOpen);
  if (words === undefined || !hasTools(container)) return null;
  return (
    <button
      type="button"
      class={`tools-link ${status}`}
      aria-label={`Tools of ${container.name}: ${words}`}
      onClick={onOpen}
    >
      {words}
    </button>
  );
}
