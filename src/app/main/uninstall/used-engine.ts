import type { EngineLeftovers } from '../../../adapters/docker/uninstall/engine-leftovers.ts';
import { forgetHint } from '../../../adapters/docker/uninstall/machine-leftovers.ts';
import type { Recorded, RecordedElsewhere } from '../../../adapters/engine-record.ts';

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

/** An installation, by the id in its labels, and the default image of its catalogue, if known. */
export type Instance = { readonly id: string; readonly defaultImage: string | null };

/** Recorded engines. `forgotten`: gone for good, as the caller said, so nothing is asked of them. */
export type Records = {
  readonly kept: readonly Recorded[];
  readonly forgotten: readonly RecordedElsewhere[];
};

const KINDS = { external: 'engine', swarm: 'Swarm', kubernetes: 'cluster' } as const;

/** The kind's name in messages. */
export const kindOfEngine = ({ kind }: RecordedElsewhere): string => KINDS[kind];

/** Why an engine that answers is not taken for a recorded one. `setting`: the one that names its address. */
export const otherAt = (endpoint: string, record: RecordedElsewhere, setting: string): string =>
  `the ${kindOfEngine(record)} at ${endpoint} is not the one that this installation used at ${record.endpoint}: set ${setting} to an address of that one, or ${forgetHint(record)}`;
