import type { Test } from 'tap';
import { platformSocket } from '../../web/src/terminal/browser-socket.ts';
import { Connection } from '../../web/src/terminal/connection.ts';
import type { ConnectionState } from '../../web/src/terminal/connection-types.ts';
import { waitFor } from './patience.ts';
import type { TerminalAddress } from './terminal-client.ts';

export type PageTerminal = {
  /** All states so far, oldest first. */
  readonly states: readonly ConnectionState[];
  readonly type: (text: string) => void;
  /** Waits for output that has come since the last wait. */
  shows(text: string | RegExp, seconds?: number): Promise<string>;
  until(check: () => boolean, seconds?: number): Promise<void>;
};

/** A terminal of the page without its window: it comes back by itself where the page does. */
export function pageTerminal(
  t: Test,
  { address, dbId, token }: TerminalAddress,
  connectionId = 'main',
): PageTerminal {
  const states: ConnectionState[] = [];
  let output = '';
  const connection = new Connection(
    { containerId: dbId, connectionId, size: { cols: 80, rows: 24 } },
    { origin: address, openSocket: platformSocket, token: async () => token, probe: async () => 'ok' },
    {
      health: () => {},
      state: (state) => states.push(state),
      bytes: (data) => {
        output += Buffer.from(data).toString();
      },
      resumed: () => {},
      frame: () => {},
    },
  );
  t.teardown(() => connection.close());
  connection.open();
  const until = (check: () => boolean, seconds = 60): Promise<void> =>
    waitFor(check, {
      patienceMs: seconds * 1000,
      everyMs: 10,
      what: () => `${check}; ${JSON.stringify(states.at(-1))}; ${output.slice(-500)}`,
    });
  return {
    states,
    type: (text) => connection.write(Buffer.from(text)),
    until,
    async shows(text, seconds) {
      const holds = (): boolean => (typeof text === 'string' ? output.includes(text) : text.test(output));
      await until(holds, seconds);
      const shown = output;
      output = '';
      return shown;
    },
  };
}
