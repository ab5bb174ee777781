import type { Container } from '../../../api/types.ts';
import { navigate } from '../../../lib/browser/router.ts';
import { reach } from '../../../lib/browser/server-reachability.ts';
import { now } from '../../../lib/clock.ts';
import { ago } from '../../../lib/format/format.ts';
import { faultOf } from '../../../lib/outcome.ts';
import { changes } from '../../../state/containers.ts';
import { Button } from '../../../ui/button.tsx';
import { item, Menu, type MenuItem } from '../../../ui/menu.tsx';
import { copy, type RowProps, terminalOf } from '../list/row.tsx';
import { Status } from '../status.tsx';

export type Agent = Container & { readonly agent: NonNullable<Container['agent']> };

export const isAgent = (container: Container): container is Agent => container.agent !== undefined;

/** What can be done with an agent, beside opening it. */
export function agentItems(container: Agent, onAction: RowProps['onAction']): readonly MenuItem[] {
  const isOwn = container.collaboration === undefined;
  const open = (what: 'stop' | 'delete') => () => onAction({ what, container });
  const isConnected = container.status === 'running';
  return [
    ...(isOwn ? [item('stop', 'Disconnect…', open('stop'), { disabled: !isConnected })] : []),
    item('copy', 'Copy name', () => void copy(container.name, 'Name')),
    item('copy', 'Copy ID', () => void copy(container.id ?? container.db_id, 'ID')),
    ...(isOwn ? [item('trash', 'Delete…', open('delete'), { danger: true })] : []),
  ];
}

/** An agent: a machine without limits, disk or image of its own. */
export function AgentRow({ container, onAction }: RowProps & { readonly container: Agent }) {
  const change = changes.value[container.db_id];
  const isConnected = container.status === 'running';
  const { platform, last_seen_at } = container.agent;
  const words = faultOf(container)?.words;
  const isOwn = container.collaboration === undefined;
  return (
    <div class="row">
      <div class="row-main">
        <a class="row-name" href={terminalOf(container)}>
          {container.name}
        </a>
        <div class="row-line">
          <span class={words === undefined ? 'row-sub' : 'row-sub bad'}>
            {words ?? (isOwn ? `agent · ${platform}` : `shared by ${container.owner.username}`)}
          </span>
        </div>
      </div>
      <Status container={container} change={change} stale={reach.value !== 'fine'} />
      <span class="row-spec">{!isConnected && `last seen ${ago(last_seen_at, now.value)}`}</span>
      <span class="row-when" />
      <div class="row-actions">
        {isConnected && (
          <Button
            kind="plain"
            icon="terminal"
            disabled={change !== undefined}
            onClick={() => navigate(terminalOf(container))}
          >
            Terminal
          </Button>
        )}
        <Menu label={`More for ${container.name}`} icon="dots" items={agentItems(container, onAction)} />
      </div>
    </div>
  );
}
