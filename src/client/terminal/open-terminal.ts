import type { BerthError } from '../request/errors.ts';
import type { Requester } from '../request/requester.ts';
import { answerWithoutUpgrade, passes } from '../socket/refusal.ts';
import type { OpenSocket } from '../socket/socket.ts';
import type { Probe } from './connection-types.ts';
import { probeOf } from './probe.ts';
import { Terminal, type TerminalOptions } from './terminal.ts';

/** Opens a terminal. Resolves when its shell is there; throws a `BerthError` when it is refused. */
export async function openTerminal(
  requester: Requester,
  openSocket: OpenSocket,
  containerId: string,
  options: TerminalOptions,
): Promise<Terminal> {
  const { signal, onState } = options;
  const path = `/api/containers/${encodeURIComponent(containerId)}`;
  let last: BerthError | null = null;
  const refusal = async (): Promise<BerthError | null> => {
    last = await answerWithoutUpgrade(requester, `${path}/terminal`);
    return last;
  };
  const first = await refusal();
  signal?.throwIfAborted();
  if (first !== null && !passes(first)) throw first;
  const probe = (): Promise<Probe> =>
    probeOf({ container: () => requester.json<{ readonly status: string }>(path), refusal });
  const deps = {
    origin: requester.webSocketOrigin,
    openSocket,
    token: () => requester.token(),
    probe,
    ...(options.backoff && { backoff: options.backoff }),
  };
  return await new Promise<Terminal>((resolve, reject) => {
    const terminal = new Terminal(containerId, deps, {
      ...options,
      onState: (state) => {
        if (state.kind === 'open') resolve(terminal);
        if (state.kind === 'over') reject(last ?? new Error(`the terminal was not opened: ${state.why}`));
        onState?.(state);
      },
    });
    const abort = (): void => {
      terminal.close();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    terminal.open();
  });
}
