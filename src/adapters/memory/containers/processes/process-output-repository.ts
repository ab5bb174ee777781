import { mayLackOutput } from '../../../../domain/containers/processes/process.ts';
import { MAX_STORED_BYTES_OF_OWNER } from '../../../../domain/containers/processes/stored-output.ts';
import {
  MAX_UNSTORED,
  type ProcessOutputRepository,
  type Unstored,
} from '../../../../ports/containers/processes/process-output-repository.ts';
import type { MemoryState } from '../../memory-state.ts';

const STREAMS = ['stdout', 'stderr'] as const;

type Row = MemoryState['processOutputs'][number];

export const memoryProcessOutputs = (state: MemoryState): ProcessOutputRepository => {
  const rowOf = (processId: string) => state.processOutputs.find((row) => row.processId === processId);
  return {
    async store(processId, ownerId, { stdout, stderr, isWhole }) {
      if (rowOf(processId)?.isWhole) return;
      const others = state.processOutputs.filter((row) => row.processId !== processId);
      const bytes = (data: Buffer): string => data.toString('latin1');
      const stored: Row = {
        processId,
        ownerId,
        isWhole,
        stdout: { firstKept: stdout.firstKept, data: bytes(stdout.data) },
        stderr: { firstKept: stderr.firstKept, data: bytes(stderr.data) },
      };
      let total = 0;
      state.processOutputs = [...others, stored].reverse().map((row) => {
        if (row.ownerId !== ownerId) return row;
        total += row.stdout.data.length + row.stderr.data.length;
        return total > MAX_STORED_BYTES_OF_OWNER ? emptied(row) : row;
      });
      state.processOutputs.reverse();
    },

    async find(processId) {
      const row = rowOf(processId);
      if (row === undefined) return null;
      const [stdout, stderr] = STREAMS.map((name) => ({
        firstKept: row[name].firstKept,
        data: Buffer.from(row[name].data, 'latin1'),
      }));
      return stdout === undefined || stderr === undefined ? null : { stdout, stderr, isWhole: row.isWhole };
    },

    unstored: async () => {
      const all = state.processes.flatMap((process): Unstored[] => {
        const box = state.containers.find(({ dbId }) => dbId === process.dbId);
        const isHere = box?.state === 'running' && box.runtimeId === process.runtimeId;
        if (!isHere || process.state.kind !== 'ended') return [];
        const row = rowOf(process.id);
        if (row?.isWhole || (row !== undefined && mayLackOutput(process))) return [];
        return [{ processId: process.id, dbId: box.dbId, ownerId: box.ownerId }];
      });
      const ofOwners = Map.groupBy(shuffled(all), ({ ownerId }) => ownerId);
      return [...ofOwners.values()].flatMap((ofOwner) => ofOwner.slice(0, MAX_UNSTORED));
    },
  };
};

const emptied = (row: Row): Row => ({
  ...row,
  stdout: { firstKept: row.stdout.firstKept + row.stdout.data.length, data: '' },
  stderr: { firstKept: row.stderr.firstKept + row.stderr.data.length, data: '' },
});

const shuffled = <T>(items: readonly T[]): readonly T[] =>
  items
    .map((item) => ({ item, turn: Math.random() }))
    .sort((one, other) => one.turn - other.turn)
    .map(({ item }) => item);
