import { installLine } from '../../api/command.ts';
import { CopyLine } from '../../ui/copy-line.tsx';
import { useLoaded } from '../../ui/hooks/use-loaded.ts';
import { Problem } from '../../ui/problem.tsx';
import { Loading, Section } from '../../ui/section.tsx';

/** How to install the command `berth`, and to sign in with it. */
export function CommandLine() {
  const line = useLoaded(installLine);
  const login = `berth login --server ${location.origin}`;
  return (
    <Section
      title="Command line"
      lead="Containers and terminals from your own shell. Needs Node.js 20 or newer, and ~/.local/bin in your PATH."
    >
      {line.failure !== null && <Problem failure={line.failure} />}
      {line.failure === null && line.value === null && <Loading />}
      {line.value !== null && (
        <>
          <CopyLine label="Copy the line that installs berth" text={line.value} />
          <p>Then sign in:</p>
          <CopyLine label="Copy the line that signs in" text={login} />
        </>
      )}
    </Section>
  );
}
