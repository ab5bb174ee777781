import { existsSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findPostmaster, stopPostmaster } from '../../../src/adapters/postgres/embedded/postmaster.ts';
import type { Need, Parts } from '../infra.ts';

/** Something that runs for the tests. */
export type Part<N extends Need = Need> = { readonly value: Parts[N]; readonly stop: () => Promise<void> };

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Ends the database servers that killed runs left, and removes their folders. */
export async function sweepDeadRuns(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const run = /^berth-test-(\d+)$/.exec(name)?.[1];
    if (run === undefined || existsSync(`/proc/${run}`)) continue;
    const folder = path.join(tmpdir(), name);
    const data = path.join(folder, 'postgres', 'pgdata');
    const pid = await findPostmaster(data);
    if (pid !== null) await stopPostmaster(data, pid);
    rmSync(folder, { recursive: true, force: true });
  }
}
