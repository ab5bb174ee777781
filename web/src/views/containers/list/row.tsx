import type { Container } from '../../../api/types.ts';
import { copyText } from '../../../lib/browser/clipboard.ts';
import { navigate } from '../../../lib/browser/router.ts';
import { reach } from '../../../lib/browser/server-reachability.ts';
import { now } from '../../../lib/clock.ts';
import { stoppedForSpace } from '../../../lib/format/disk-space.ts';
import { ago } from '../../../lib/format/format.ts';
import { type Change, faultOf } from '../../../lib/outcome.ts';
import { labelsOf } from '../../../state/catalogue-labels.ts';
import { changes, start } from '../../../state/containers.ts';
import { engineDoes } from '../../../state/engine.ts';
import { engineIsDown } from '../../../state/health.ts';
import { toastOk } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { item, Menu, type MenuItem } from '../../../ui/menu.tsx';
import { EndLink } from '../links/end-link.tsx';
import { hasTools, ToolsLink } from '../links/role-setup-link.tsx';
import { SpaceLink } from '../links/space-link.tsx';
import { Status } from '../status.tsx';
import { CpuCell, MemoryCell, MemoryNote, SpaceCell } from './figure-cells.tsx';

export type ContainerAction = {
  readonly what: 'stop' | 'delete' | 'edit' | 'tools' | 'space' | 'share' | 'snapshot' | 'fork';
  readonly container: Container;
};

export type RowProps = {
  readonly container: Container;
  readonly onAction: (action: ContainerAction) => void;
};

export const terminalOf = (container: Container): string =>
  `/containers/${encodeURIComponent(container.db_id)}`;

export const copy = async (text: string, what: string): Promise<void> => {
  if (await copyText(text)) toastOk(`${what} copied`);
};

function lastUsed({ last_used_at, created_at }: Container): string {
  return last_used_at === null
    ? `created ${ago(created_at, now.value)}`
    : `used ${ago(last_used_at, now.value)}`;
}

function RowAction({ container, change }: { container: Container; change: Change | undefined }) {
  const busy = change !== undefined || !['running', 'stopped', 'failed'].includes(container.status);
  if (container.status === 'running' || (busy && change !== 'starting')) {
    return (
      <Button kind="plain" icon="terminal" disabled={busy} onClick={() => navigate(terminalOf(container))}>
        Terminal
      </Button>
    );
  }
  if (container.collaboration !== undefined) return null;
  return (
    <Button
      icon="play"
      onClick={() => void start(container)}
      busy={change === 'starting' ? 'Starting' : undefined}
    >
      Start
    </Button>
  );
}

/** What can be done with a container of an engine, beside opening and starting it. */
export function rowItems(
  container: Container,
  busy: boolean,
  onAction: RowProps['onAction'],
): readonly MenuItem[] {
  const running = container.status === 'running';
  const isSettled = running || container.status === 'stopped';
  const open = (what: ContainerAction['what']) => () => onAction({ what, container });
  const copies = [
    item('copy', 'Copy name', () => void copy(container.name, 'Name')),
    item('copy', 'Copy ID', () => void copy(container.db_id, 'ID')),
  ];
  if (container.collaboration !== undefined) return copies;
  return [
    item('gear', 'Settings…', open('edit'), { disabled: busy }),
    item('share', 'Share…', open('share'), { disabled: !running }),
    item('space', 'Disk use…', open('space')),
    ...(engineDoes('takes_snapshots')
      ? [
          item('camera', 'Snapshot…', open('snapshot'), { disabled: busy || !isSettled }),
          item('fork', 'Fork…', open('fork'), { disabled: busy || !isSettled }),
        ]
      : []),
    item('stop', 'Stop…', open('stop'), { disabled: busy || !running }),
    ...(hasTools(container) ? [item('tools', 'Tools…', open('tools'))] : []),
    ...copies,
    item('trash', 'Delete…', open('delete'), { danger: true, disabled: busy }),
  ];
}

type FaultProps = RowProps & { readonly fault: NonNullable<ReturnType<typeof faultOf>> };

const AGAIN: Partial<Readonly<Record<Change, 'stop' | 'delete'>>> = { stopping: 'stop', deleting: 'delete' };

/** What went wrong, with a button to try again where the row has none. */
function Fault({ container, fault: { words, change }, onAction }: FaultProps) {
  const what = change === null ? undefined : AGAIN[change];
  const forSpace = stoppedForSpace(container);
  return (
    <div class="row-line">
      <span class="row-sub bad" title={words}>
        {forSpace ?? words}
      </span>
      {what !== undefined && (
        <button type="button" class="row-again" onClick={() => onAction({ what, container })}>
          Try again
        </button>
      )}
      {forSpace !== null && (
        <button type="button" class="row-again" onClick={() => onAction({ what: 'space', container })}>
          What to do
        </button>
      )}
    </div>
  );
}

export function Row({ container, onAction }: RowProps) {
  const change = changes.value[container.db_id];
  const fault = faultOf(container);
  return (
    <div class="row">
      <div class="row-main">
        <a class="row-name" href={terminalOf(container)}>
          {container.name}
        </a>
        {fault !== null && change === undefined ? (
          <Fault container={container} fault={fault} onAction={onAction} />
        ) : (
          <div class="row-line">
            <span class="row-sub">
              {container.collaboration === undefined
                ? labelsOf(container)
                : `shared by ${container.owner.username}`}
            </span>
            <ToolsLink container={container} onOpen={() => onAction({ what: 'tools', container })} />
            <SpaceLink container={container} onOpen={() => onAction({ what: 'space', container })} />
            <MemoryNote container={container} />
            <EndLink container={container} />
          </div>
        )}
      </div>
      <Status container={container} change={change} stale={reach.value !== 'fine' || engineIsDown()} />
      <CpuCell container={container} />
      <MemoryCell container={container} />
      <SpaceCell container={container} />
      <span class="row-when">{lastUsed(container)}</span>
      <div class="row-actions">
        <RowAction container={container} change={change} />
        <Menu
          label={`More for ${container.name}`}
          icon="dots"
          items={rowItems(container, change !== undefined, onAction)}
        />
      </div>
    </div>
  );
}
