import { existsSync } from 'node:fs';
import path from 'node:path';
import { isRoot } from '../../../adapters/docker/host/host-commands.ts';
import { layoutOf } from '../../../adapters/docker/private-engine/private-engine-paths.ts';
import {
  hasRemapUser,
  hasUsedEngine,
  installedPackages,
  isDataFolder,
  otherEngine,
  removeFromMachine,
  removePrivateEngine,
  removeRemapUser,
} from '../../../adapters/docker/uninstall/machine-leftovers.ts';
import {
  nameOfEngine,
  type Recorded,
  type RecordedElsewhere,
  readRecords,
} from '../../../adapters/engine-record.ts';
import { lockDataDirOrNull } from '../../../adapters/filesystem/data-dir-lock.ts';
import { openDatabase, openPool } from '../../../adapters/postgres/connection/database.ts';
import { postgresCatalogue } from '../../../adapters/postgres/containers/catalogue-repository.ts';
import { startEmbedded } from '../../../adapters/postgres/embedded/index.ts';
import { installationId, recordedSwarm } from '../../../adapters/postgres/installation-repository.ts';
import { presentFrom } from '../../../adapters/postgres/notification-listener.ts';
import type { Db } from '../../../adapters/postgres/schema/database-schema.ts';
import { DEFAULT_IMAGE_KEY } from '../../../domain/containers/catalogue.ts';
import type { Config } from '../config.ts';
import { missingDatabase } from '../database/command-database.ts';
import type { Outcome } from '../outcome.ts';
import { say } from '../process/console-progress.ts';
import { removeDataFolder } from './data-folder.ts';
import { usedEngines } from './engine.ts';
import { removeUnit, unitOf } from './unit.ts';
import {
  type Instance,
  kindOfEngine,
  type NamedEngines,
  type Records,
  type UsedEngines,
  unknownName,
  withOldSwarms,
} from './used-engine.ts';

type Found = UsedEngines & {
  /** In the labels of everything that the installation has made; null when nothing of that is left. */
  readonly instanceId: string | null;
  /** Whether it has, or could have begun to make, an engine in the data folder. */
  readonly hasPrivate: boolean;
  /** Whether it has used a cluster, from which nothing is removed. */
  readonly hasCluster: boolean;
  readonly hasUser: boolean;
  readonly unit: string | null;
  /** Engines that are gone for good, as the caller said: nothing is removed from them. */
  readonly forgotten: readonly RecordedElsewhere[];
};

/**
 * Removes the installation of a data folder for good: containers, volumes, networks, rules, users, the systemd unit and
 * the folder. `root` is the folder of the program. `confirm` is asked after the list. Repeatable when
 * interrupted.
 */
export async function uninstall(
  config: Config,
  root: string,
  confirm: () => Promise<boolean>,
  { forgotten = [], oldSwarms = [] }: NamedEngines = {},
): Promise<Outcome> {
  const { dataDir } = config;
  if (!(await isDataFolder(dataDir)))
    return { code: 1, says: `${dataDir} is not a data folder of Berth: set BERTH_DATA_DIR to the right one` };
  const missing = (await needsId(config)) ? missingDatabase(config) : null;
  if (missing !== null) return missing;
  const records = withOldSwarms({ ...(await recordsOf(dataDir, forgotten)), oldSwarms }, config);
  const unknown = unknownName(records, forgotten);
  if (unknown !== null) return { code: 64, says: unknown };
  const other = otherEngine(dataDir, records.kept, config.engine);
  if (other !== null) return { code: 78, says: other };
  const lock = lockDataDirOrNull(dataDir);
  if (lock === null) return { code: 1, says: 'Berth is running: stop it first' };
  try {
    const running = await runningElsewhere(config);
    if (running !== null) return running;
    const found = await find(config, root, records);
    for (const line of listOf(config, found)) say(line);
    if (!(await confirm())) return { code: 1, says: 'Nothing was removed.' };
    const startedSince = await runningElsewhere(config);
    if (startedSince !== null) return startedSince;
    const left = await remove(config, found);
    return {
      code: 0,
      says: ['Berth is uninstalled.', ...left, ...(await remaining(config, found))].join('\n'),
    };
  } finally {
    lock.release();
  }
}

async function recordsOf(dataDir: string, names: readonly string[]): Promise<Omit<Records, 'oldSwarms'>> {
  const records = await readRecords(layoutOf(dataDir));
  const isNamed = (each: Recorded): each is RecordedElsewhere =>
    each.kind !== 'private' && names.includes(nameOfEngine(each));
  return { kept: records.filter((each) => !isNamed(each)), forgotten: records.filter(isNamed) };
}

async function find(config: Config, root: string, records: Records): Promise<Found> {
  const { kept, forgotten } = records;
  const instance = await instanceOf(config);
  const { engines, skippedMessages } =
    instance === null ? { engines: [], skippedMessages: [] } : await usedEngines(config, records, instance);
  const has = (kind: Recorded['kind']): boolean => kept.some((each) => each.kind === kind);
  const hasNone = kept.length + forgotten.length + engines.length === 0;
  return {
    instanceId: instance?.id ?? null,
    engines,
    skippedMessages,
    hasPrivate: has('private') || (hasNone && config.engine !== 'kubernetes'),
    hasCluster: [...kept, ...forgotten].some(isCluster) || config.engine === 'kubernetes',
    hasUser: await hasRemapUser(config.dataDir),
    unit: await unitOf(root),
    forgotten,
  };
}

const isCluster = ({ kind }: Recorded): boolean => kind === 'kubernetes';

/** The refusal while other processes of the service run, whose containers have the same label; null without any. */
async function runningElsewhere(config: Config): Promise<Outcome | null> {
  // An embedded database is that of one process, which would have the lock of the data folder.
  if (config.databaseUrl === null) return null;
  const addresses = await inDatabase(config, presentFrom);
  if (addresses.length === 0) return null;
  const clients = addresses.map((address) => address ?? 'this machine').join(', ');
  return {
    code: 1,
    says: `Other processes of Berth run on this database (connected from ${clients}), and would lose their containers: stop them first`,
  };
}

/** False after a first start that failed before it had a database, and when an earlier removal got to the files. */
const needsId = async ({ dataDir }: Config): Promise<boolean> =>
  (await hasUsedEngine(dataDir)) && !existsSync(path.join(dataDir, 'postgres'));

const instanceOf = async (config: Config): Promise<Instance | null> =>
  missingDatabase(config) === null
    ? await inDatabase(config, async (db) => {
        const id = await installationId(db);
        if (id === null) return null;
        return { id, defaultImage: await defaultImageOf(db), ...(await recordedSwarm(db)) };
      })
    : null;

/** Null in a database whose migrations have not ended. */
const defaultImageOf = async (db: Db): Promise<string | null> => {
  const images = await postgresCatalogue(db)
    .images()
    .catch(() => []);
  return images.find(({ key }) => key === DEFAULT_IMAGE_KEY)?.reference ?? null;
};

async function inDatabase<T>({ databaseUrl, dataDir }: Config, work: (db: Db) => Promise<T>): Promise<T> {
  const server = databaseUrl === null ? await startEmbedded(path.join(dataDir, 'postgres')) : null;
  const db = openDatabase(openPool({ url: databaseUrl ?? server?.url() ?? '', poolSize: 1 }));
  try {
    return await work(db);
  } finally {
    await db.destroy();
    await server?.stop();
  }
}

function listOf({ dataDir, databaseUrl }: Config, found: Found): readonly string[] {
  const { hasUser, unit, hasCluster } = found;
  return [
    'This removes for good:',
    ...containersOf(dataDir, found),
    ...(hasUser ? ['- the user dockremap, unless another engine runs with it'] : []),
    ...(unit === null ? [] : [`- ${unit} with changes of your own, and /etc/berth`]),
    `- ${dataDir}: ${databaseUrl === null ? 'all accounts, ' : ''}recordings and keys`,
    ...found.engines.flatMap(({ stays }) => stays),
    ...found.forgotten.map(
      (each) =>
        `Nothing is removed from the ${kindOfEngine(each)} ${nameOfEngine(each)} at ${each.endpoint}.`,
    ),
    ...found.skippedMessages,
    ...(databaseUrl === null ? [] : ['The database in DATABASE_URL stays.']),
    ...(hasCluster
      ? [
          'Pods, volumes and secrets in the cluster stay: delete those with the label berth.instance yourself.',
        ]
      : []),
  ];
}

function containersOf(
  dataDir: string,
  { engines, hasPrivate, hasCluster, instanceId }: Found,
): readonly string[] {
  const isElsewhere = hasCluster && engines.length === 0 && !hasPrivate;
  if (isElsewhere) return [];
  if (instanceId === null) return ['- what a failed first start, or an earlier removal, has left'];
  return [
    ...engines.map(
      ({ name, leftovers: { containers, volumes } }) =>
        `- containers (${containers}) and volumes (${volumes}) in ${name}, with all files`,
    ),
    ...(hasPrivate ? [`- all containers and their files, with the private engine in ${dataDir}`] : []),
    '- the network of the containers and its packet filter rules',
  ];
}

/** What could not be removed, in sentences. */
async function remove({ dataDir }: Config, found: Found): Promise<readonly string[]> {
  const { engines, instanceId, hasUser, unit } = found;
  const left: string[] = [];
  for (const engine of engines) left.push(...(await engine.remove()));
  if (isRoot()) {
    await removePrivateEngine(dataDir);
    if (instanceId !== null) left.push(...(await removeFromMachine(instanceId)));
  }
  if (unit !== null) await removeUnit(unit);
  const userLeft = hasUser && !(await removeRemapUser());
  const filesLeft = await removeDataFolder(dataDir);
  return [
    ...left,
    ...(userLeft ? ['The user dockremap stays: another engine uses it.'] : []),
    ...(filesLeft.length > 0 ? [`Not from Berth, so left in ${dataDir}: ${filesLeft.join(', ')}`] : []),
  ];
}

async function remaining({ databaseUrl }: Config, { hasPrivate }: Found): Promise<readonly string[]> {
  const packages = hasPrivate && isRoot() ? await installedPackages() : [];
  return [
    ...(databaseUrl === null ? [] : ['Drop its database yourself.']),
    ...(packages.length === 0
      ? []
      : [
          `Packages stay. To remove those that nothing else needs: apt-get purge --autoremove ${packages.join(' ')}`,
          'Raised kernel limits and IP forwarding last until the next boot.',
        ]),
  ];
}
