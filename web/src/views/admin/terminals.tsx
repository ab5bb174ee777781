import { useState } from 'preact/hooks';
import { closeTerminal, listTerminals } from '../../api/admin.ts';
import type { OpenTerminal } from '../../api/types.ts';
import { now } from '../../lib/clock.ts';
import { ago, at, plural } from '../../lib/format/format.ts';
import { toastOutcome } from '../../state/toasts.ts';
import { IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { usePolled } from '../../ui/hooks/use-loaded.ts';
import { LoadProblem } from '../../ui/problem.tsx';
import { Loading, Section } from '../../ui/section.tsx';
import { TableHead } from '../../ui/table-head.tsx';

const EVERY_MS = 5_000;

/** Everybody's open terminals, never what is in them. */
export function OpenTerminals() {
  const { value, failure, reload } = usePolled(listTerminals, EVERY_MS);
  const [asked, setAsked] = useState<OpenTerminal | null>(null);
  const close = async ({ id, username, container_name }: OpenTerminal): Promise<void> => {
    await toastOutcome(closeTerminal(id), `The terminal of ${username} in ${container_name} is closed`);
    await reload();
  };
  return (
    <Section
      title="Open terminals"
      lead={
        value === null || value.length === 0
          ? "Everyone's terminals. What they show stays private."
          : `${plural(value.length, 'open terminal')}. What they show stays private.`
      }
    >
      <LoadProblem of={{ failure, reload }} />
      {failure === null && value === null && <Loading />}
      {value !== null && value.length === 0 && <p class="none">No terminal is open.</p>}
      {value !== null && value.length > 0 && <TerminalTable terminals={value} onClose={setAsked} />}
      {asked !== null && (
        <Confirm
          title={`Close the terminal of ${asked.username} in ${asked.container_name}?`}
          action="Close terminal"
          danger
          onConfirm={() => void close(asked)}
          onClose={() => setAsked(null)}
        >
          <p>{effectOf(asked)}</p>
        </Confirm>
      )}
    </Section>
  );
}

/** Where a session of the container keeps the programs, whoever is connected. */
const outlivesClose = ({ connection_id, mux_session, client, owner }: OpenTerminal): boolean =>
  mux_session !== null && (connection_id === 'main' || client === 'ssh' || !owner);

const effectOf = (terminal: OpenTerminal): string =>
  outlivesClose(terminal)
    ? `${terminal.username} sees that an administrator closed it, and can connect again. Its programs keep running.`
    : `${terminal.username} sees that an administrator closed it, and can connect again. Its programs end after a minute without a connection.`;

const CLIENTS: { readonly [C in NonNullable<OpenTerminal['client']>]: string } = {
  browser: 'Browser',
  command: 'Command',
  ssh: 'SSH',
};

const clientOf = ({ client }: OpenTerminal): string => (client === null ? '–' : CLIENTS[client]);

const watchedBy = ({ viewers }: OpenTerminal): string =>
  viewers === 0 ? 'nobody else' : plural(viewers, 'other terminal');

const COLUMNS = [
  ['Person and container'],
  ['Client', 'wide-only'],
  ['From', 'wide-only'],
  ['Also seen by', 'wide-only'],
  ['Opened', 'wide-only'],
] as const;

type TableProps = {
  readonly terminals: readonly OpenTerminal[];
  readonly onClose: (terminal: OpenTerminal) => void;
};

function TerminalTable({ terminals, onClose }: TableProps) {
  return (
    <table class="people">
      <TableHead columns={COLUMNS} />
      <tbody>
        {terminals.map((terminal) => (
          <TerminalRow key={terminal.id} terminal={terminal} onClose={onClose} />
        ))}
      </tbody>
    </table>
  );
}

function TerminalRow({
  terminal,
  onClose,
}: {
  readonly terminal: OpenTerminal;
  readonly onClose: TableProps['onClose'];
}) {
  const { username, container_name, connection_id, owner, ip_address, created_at } = terminal;
  const opened = ago(created_at, now.value);
  const from = ip_address || '–';
  return (
    <tr>
      <th scope="row">
        <span class="person-name">{username}</span> {!owner && <span class="tag">shared</span>}
        <span class="person-sub">
          {container_name} · {connection_id}
        </span>
        <span class="person-sub narrow-only">
          {clientOf(terminal)} · {from} · opened {opened}
          {terminal.viewers > 0 && ` · seen by ${watchedBy(terminal)}`}
        </span>
      </th>
      <td class="wide-only">{clientOf(terminal)}</td>
      <td class="wide-only">{from}</td>
      <td class="wide-only">{watchedBy(terminal)}</td>
      <td class="wide-only" title={at(created_at)}>
        {opened}
      </td>
      <td class="actions">
        <IconButton
          icon="close"
          label={`Close the terminal of ${username} in ${container_name}, ${connection_id}`}
          onClick={() => onClose(terminal)}
        />
      </td>
    </tr>
  );
}
