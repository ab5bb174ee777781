import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import type { Test } from 'tap';
import { aFolder } from './folder.ts';

export type CutLine = {
  /** The address of the database, by way of this line. */
  readonly url: string;
  /** Ends every connection and takes no new ones. */
  cut(): void;
  /** Carries nothing any more, without a word to either side. */
  stall(): void;
  mend(): void;
};

/** A line to a database behind a unix socket that can be cut or fall silent. */
export async function aLineTo(t: Test, url: string): Promise<CutLine> {
  const target = new URL(url.replace('@/', '@socket/'));
  const name = '.s.PGSQL.5432';
  const real = path.join(target.searchParams.get('host') ?? '', name);
  const folder = aFolder(t, 0o711);
  const open = new Set<Socket>();
  let state: 'up' | 'cut' | 'silent' = 'up';

  const server = createServer((near) => {
    const far = connect(real);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on('data', (chunk) => state === 'silent' || far.write(chunk));
    far.on('data', (chunk) => state === 'silent' || near.write(chunk));
    if (state === 'cut') near.destroy();
  });
  server.listen(path.join(folder, name));
  await once(server, 'listening');
  const hangUp = (): void => {
    for (const socket of open) socket.destroy();
  };
  t.teardown(() => {
    hangUp();
    server.close();
    rmSync(path.join(folder, name), { force: true });
  });
  return {
    url: url.replace(/host=[^&]*/, `host=${encodeURIComponent(folder)}`),
    cut: () => {
      state = 'cut';
      hangUp();
    },
    stall: () => {
      state = 'silent';
    },
    // Connections on which bytes were lost are of no use any more.
    mend: () => {
      if (state === 'silent') hangUp();
      state = 'up';
    },
  };
}
