import { useEffect, useRef } from 'preact/hooks';
import type { Container } from '../../../api/types.ts';
import { toastOk, toastWarning } from '../../../state/toasts.ts';

/** Says when the installation of the tools that was seen under way has ended. */
export function useToolsOutcome({ name, role_setup: { status } }: Container, onOpen: () => void): void {
  const before = useRef(status);
  useEffect(() => {
    const wasInstalling = before.current === 'installing';
    before.current = status;
    if (!wasInstalling) return;
    if (status === 'ready') toastOk(`The tools of ${name} are installed`);
    if (status === 'failed') {
      toastWarning(`Some tools of ${name} are missing`, 'Their output says why.', {
        label: 'Show output',
        run: onOpen,
      });
    }
  }, [status]);
}
