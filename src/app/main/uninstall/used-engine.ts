import type { EngineLeftovers } from '../../../adapters/docker/uninstall/engine-leftovers.ts';
import { forgetHint } from '../../../adapters/docker/uninstall/machine-leftovers.ts';
import {
  idsOf,
  nameOfEngine,
  type Recorded,
  type RecordedElsewhere,
} from '../../../adapters/engine-record.ts';
import type { Config } from '../config.ts';

/** An engine that Berth did not start, with what it has of an installation. */
export type UsedEngine = {
  /** For the list of what is removed: `the engine`. */
  readonly name: string;
  readonly leftovers: EngineLeftovers;
  /** In sentences, what a removal does not reach. */
  readonly stays: readonly string[];
  /** Returns in sentences what could not be removed. */
  remove(): Promise<readonly string[]>;
};

export type UsedEngines = {
  readonly engines: readonly UsedEngine[];
  /** Messages about configured engines that cannot be used and are not recorded. */
  readonly skippedMessages: readonly string[];
};

export type Instance = {
  /** In the labels of what the installation has made. */
  readonly id: string;
  /** Of its catalogue; null when it is not known. */
  readonly defaultImage: string | null;
  /** The Swarm that its database records; null for none. */
  readonly swarmId: string | null;
  /** Whether an administrator has chosen that no Swarm is used. */
  readonly hasLeftSwarms: boolean;
};

/** Recorded engines. `forgotten`: gone for good, as the caller said, so nothing is asked of them. */
export type Records = {
  readonly kept: readonly Recorded[];
  readonly forgotten: readonly RecordedElsewhere[];
  /** The names of Swarms that the installation has left, and from which to remove all the same. */
  readonly oldSwarms: readonly string[];
};

/** Recorded engines, by name. */
export type NamedEngines = {
  /** Gone for good: nothing is removed from them. */
  readonly forgotten?: readonly string[] | undefined;
  /** Swarms that the installation has left: it is removed from them, too. */
  readonly oldSwarms?: readonly string[] | undefined;
};

const KINDS = { external: 'engine', swarm: 'Swarm', kubernetes: 'cluster' } as const;

/** The kind's name in messages. */
export const kindOfEngine = ({ kind }: RecordedElsewhere): string => KINDS[kind];

/** Why an engine that answers is not taken for a recorded one. `setting`: the one that names its address. */
export const otherAt = (endpoint: string, record: RecordedElsewhere, setting: string): string =>
  `the ${kindOfEngine(record)} at ${endpoint} is not the one that this installation used at ${record.endpoint}: set ${setting} to an address of that one, or ${forgetHint(record)}`;

/** Adds the named Swarms that are not recorded any more. The managers of the settings find them. */
export function withOldSwarms(records: Records, { engine, swarm: { managers } }: Config): Records {
  const [endpoint] = managers;
  if (engine !== 'swarm' || endpoint === undefined) return records;
  const known = idsOf([...records.kept, ...records.forgotten], 'swarm');
  const unknown = records.oldSwarms.filter((name) => !known.includes(name) && !name.includes('://'));
  const added = unknown.map((id) => ({ kind: 'swarm', endpoint, id }) as const);
  return { ...records, kept: [...records.kept, ...added] };
}

/** Why a name of the caller is that of no recorded engine; null when all are known. */
export function unknownName(
  { kept, forgotten, oldSwarms }: Records,
  forgottenNames: readonly string[],
): string | null {
  const recorded = [...forgotten, ...kept].flatMap((each) => (each.kind === 'private' ? [] : [each]));
  const swarms = recorded.filter(({ kind }) => kind === 'swarm');
  return (
    unknownOf('--forget-engine', 'an engine', forgottenNames, recorded) ??
    unknownOf('--old-swarm', 'a Swarm', oldSwarms, swarms, OF_NO_RECORD)
  );
}

const OF_NO_RECORD =
  ' For a Swarm whose record was deleted, set BERTH_ENGINE=swarm and BERTH_SWARM_MANAGERS to its managers.';

function unknownOf(
  option: string,
  kind: string,
  wanted: readonly string[],
  recorded: readonly RecordedElsewhere[],
  hint = '',
): string | null {
  const names = recorded.map(nameOfEngine);
  const unknown = wanted.find((name) => !names.includes(name));
  return unknown === undefined
    ? null
    : `${option}: this installation has not used ${kind} named ${unknown}. It has used: ${names.join(', ') || 'none that has a name'}.${hint}`;
}
