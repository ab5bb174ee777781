import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbedded } from '../../../src/adapters/postgres/embedded/index.ts';

/** An empty database with the settings of production, removed by `stop`. */
export async function emptyDatabase(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const root = await mkdtemp(path.join(tmpdir(), 'berth-bench-'));
  const server = await startEmbedded(root);
  return {
    url: server.url(),
    stop: async () => {
      await server.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}
