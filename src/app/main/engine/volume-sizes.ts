import type { RunningEngine } from '../../../adapters/docker/private-engine/open-engine.ts';
import { chooseDiskQuota } from '../../../adapters/docker/volumes/choose-quota.ts';
import type { DiskSettings } from '../../../adapters/docker/volumes/container-volumes.ts';
import { hostSpace } from '../../../adapters/docker/volumes/volume-usage.ts';
import { engineDataWords } from '../../../domain/containers/disk-quota.ts';
import type { PartState } from '../../../domain/service/health.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Config } from '../config.ts';
import type { Parts } from '../health/readiness.ts';
import { say } from '../process/console-progress.ts';
import type { EngineSlot } from './engine-ports.ts';

type SizeOptions = {
  readonly config: Pick<Config, 'diskQuota' | 'dataDir' | 'engine'>;
  readonly log: Logger;
  readonly instanceId: string;
  readonly signal: AbortSignal;
};

/** Information only: containers work as well without. */
const viewPart = (fault: string | null): PartState => ({
  status: 'ready',
  detail:
    fault === null
      ? "programs in containers see their container's memory and cores"
      : `programs in containers see the memory and cores of the machine: ${fault}`,
});

/** Chooses how volume sizes are enforced, reports it, and arranges for the final unmounting. */
export async function keepSizes(
  engine: RunningEngine,
  { config, log, instanceId, signal }: SizeOptions,
  slot: EngineSlot,
  parts: Parts,
): Promise<DiskSettings> {
  const { disk, choice } = await chooseDiskQuota(engine, {
    setting: config.diskQuota,
    instanceId,
    dataDir: config.dataDir,
    mayInstall: config.engine === 'auto',
    progress: say,
    log,
    signal,
  });
  const data = async (): Promise<string> => {
    const spaces = await hostSpace(disk.folders);
    return engineDataWords(spaces.find(({ isPool }) => isPool) ?? null, engine.poolFault);
  };
  const mode = choice.mode;
  const detail = `${choice.detail}; ${await data()}`;
  if (mode === 'none' || (mode === 'measured' && config.diskQuota !== 'soft'))
    log.warn(`disk quota: ${detail}`);
  const mend = 'see docs/disk.md, or set BERTH_DISK_QUOTA=auto';
  parts.disk =
    mode === 'none'
      ? { status: 'degraded', detail, reason: 'unenforced', mend }
      : { status: 'ready', detail };
  const describe = async (): Promise<void> => {
    parts.disk = { ...parts.disk, detail: `${choice.detail}; ${await data()}` };
    parts.resources = viewPart(await engine.view.fault());
  };
  slot.describeWith(describe);
  await describe();
  if (disk.images !== null) slot.closeWith(disk.images.close);
  return disk;
}
