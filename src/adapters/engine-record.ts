import { mkdir, rename, writeFile } from 'node:fs/promises';
import { type Log, readText } from './docker/host/host-commands.ts';
import { type Layout, layoutOf } from './docker/private-engine/private-engine-paths.ts';

/** An engine that an installation has used: another one would not have its containers and volumes. */
export type Recorded = RecordedElsewhere | { readonly kind: 'private'; readonly remap: boolean };

export type RecordedElsewhere = {
  readonly kind: 'external' | 'swarm' | 'kubernetes';
  readonly endpoint: string;
  /** By which the engine is known at each of its addresses; absent when it has none. */
  readonly id?: string | undefined;
};

/** All engines that were used, the first of them first. A single record is the form of older versions. */
export async function readRecords(at: Layout): Promise<readonly Recorded[]> {
  const text = await readText(at.record);
  try {
    const read = text === null ? [] : (JSON.parse(text) as Recorded | readonly Recorded[]);
    return Array.isArray(read) ? read : [read as Recorded];
  } catch {
    return [];
  }
}

/** The name people use for a recorded engine: its id, or else its address. */
export const nameOfEngine = ({ id, endpoint }: RecordedElsewhere): string => id ?? endpoint;

/** The known ids of the recorded engines of a kind. */
export const idsOf = (records: readonly Recorded[], kind: RecordedElsewhere['kind']): readonly string[] =>
  records.flatMap((each) => (each.kind === kind && each.id !== undefined ? [each.id] : []));

/** Adds an engine to the record. Throws when it cannot be written. */
export async function addRecord(dataDir: string, used: Recorded): Promise<void> {
  const at = layoutOf(dataDir);
  const records = await readRecords(at);
  const known = records.find((each) => isSame(each, used));
  if (known === undefined) await write(at, [...records, used]);
  else if (lacksId(known, used))
    await write(
      at,
      records.map((each) => (each === known ? used : each)),
    );
}

/** Like `addRecord` for an engine that is used all the same when the record cannot be written. */
export const recordUse = (dataDir: string, used: Recorded, log: Pick<Log, 'warn'>): Promise<void> =>
  addRecord(dataDir, used).catch((error: unknown) =>
    log.warn(`the engine in use is not in the record that uninstalling needs: ${String(error)}`),
  );

/** Whether two ids are known, and differ. */
export const areOther = (one: string | null | undefined, other: string | null | undefined): boolean =>
  Boolean(one) && Boolean(other) && one !== other;

/** The recorded cluster that has containers which an engine of `kind` lacks; undefined without one. */
export const clusterBeside = (records: readonly Recorded[], kind: string): RecordedElsewhere | undefined =>
  records
    .filter((each) => each.kind !== 'private')
    .find((each) => each.kind !== 'external' && each.kind !== kind);

/** Why an engine of this kind must not be used for an installation, or null. */
export async function otherCluster(dataDir: string, kind: string): Promise<string | null> {
  const at = layoutOf(dataDir);
  const cluster = clusterBeside(await readRecords(at), kind);
  if (cluster === undefined) return null;
  const leave = cluster.kind === 'swarm' ? 'run `berth use-swarm --id none` and delete' : 'delete';
  return `set BERTH_ENGINE=${cluster.kind}, which this installation uses, with its other settings, or ${leave} ${at.record}`;
}

function isSame(one: Recorded, other: Recorded): boolean {
  if (one.kind === 'private' || other.kind === 'private') return one.kind === other.kind;
  return one.kind === other.kind && !areOther(one.id, other.id);
}

const lacksId = (known: Recorded, used: Recorded): boolean =>
  known.kind !== 'private' &&
  used.kind !== 'private' &&
  known.id === undefined &&
  used.id !== undefined &&
  known.endpoint === used.endpoint;

/** As a whole: half a record would be none. */
async function write(at: Layout, records: readonly Recorded[]): Promise<void> {
  await mkdir(at.home, { recursive: true, mode: 0o700 });
  await writeFile(`${at.record}.new`, `${JSON.stringify(records)}\n`, { mode: 0o600 });
  await rename(`${at.record}.new`, at.record);
}
