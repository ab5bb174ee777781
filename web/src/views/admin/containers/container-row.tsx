import type { Container } from '../../../api/types.ts';
import { now } from '../../../lib/clock.ts';
import { ago, cpu, memory, within } from '../../../lib/format/format.ts';
import { faultOf } from '../../../lib/outcome.ts';
import { labelsOf } from '../../../state/catalogue-labels.ts';
import { engineIsDown } from '../../../state/health.ts';
import { item, Menu, type MenuItem } from '../../../ui/menu.tsx';
import { SpaceCell } from '../../containers/list/figure-cells.tsx';
import { copy } from '../../containers/list/row.tsx';
import { Status } from '../../containers/status.tsx';

export type AdminContainerAct = 'stop' | 'delete' | 'restore' | 'give' | 'only_owner';

export type ContainerRowProps = {
  readonly container: Container;
  readonly onAct: (act: AdminContainerAct, container: Container) => void;
};

/** Somebody's container, which cannot be opened from here. */
export function ContainerRow({ container, onAct }: ContainerRowProps) {
  const { name, owner, resources } = container;
  const fault = faultOf(container);
  return (
    <div class="row">
      <div class="row-main">
        <span class="row-name" title={name}>
          {name}
        </span>
        <span class={fault === null ? 'row-sub' : 'row-sub bad'} title={fault?.words}>
          <span class="narrow-only">{owner.username} · </span>
          {fault?.words ?? labelsOf(container)}
        </span>
      </div>
      <span class="row-owner" title={owner.username}>
        {owner.username}
      </span>
      <Status container={container} change={undefined} stale={engineIsDown()} />
      <span class="row-cpu">{cpu(resources.cpu_shares)}</span>
      <span class="row-memory">{memory(resources.memory_mb)}</span>
      <SpaceCell container={container} />
      <span class="row-when">{whenOf(container)}</span>
      <div class="row-actions">
        <Menu label={`More for ${name} of ${owner.username}`} icon="dots" items={itemsOf(container, onAct)} />
      </div>
    </div>
  );
}

function whenOf({ deleted_at, kept_until, last_used_at, created_at }: Container): string {
  if (deleted_at !== undefined && kept_until !== undefined)
    return `permanently deleted ${within(kept_until, now.value)}`;
  if (last_used_at === null) return `created ${ago(created_at, now.value)}`;
  return `used ${ago(last_used_at, now.value)}`;
}

function itemsOf(container: Container, onAct: ContainerRowProps['onAct']): readonly MenuItem[] {
  const { status, db_id, owner } = container;
  const act = (what: AdminContainerAct) => () => onAct(what, container);
  const isSettled = ['running', 'stopped', 'failed'].includes(status);
  const common = [
    item('search', `Only containers of ${owner.username}`, act('only_owner')),
    item('copy', 'Copy ID', () => void copy(db_id, 'ID')),
  ];
  if (status === 'deleted') return [item('back', 'Restore…', act('restore')), ...common];
  return [
    item('stop', 'Stop…', act('stop'), { disabled: status !== 'running' }),
    item('user', 'Give to…', act('give'), { disabled: !isSettled }),
    ...common,
    item('trash', 'Delete…', act('delete'), { danger: true, disabled: !isSettled }),
  ];
}
