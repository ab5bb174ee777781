import type { Test } from 'tap';
import { type Child, runProcess } from './child.ts';
import { person } from './service.ts';

export type Server = Child & { readonly address: string; readonly dataDir: string };

export const ADMIN = { ...person('root'), username: 'root' };

/** The real program on the given database, without an engine, with an administrator made by its settings. */
export async function aServer(
  t: Test,
  databaseUrl: string,
  dataDir: string,
  settings: Record<string, string> = {},
): Promise<Server> {
  const env = {
    DATABASE_URL: databaseUrl,
    DOCKER_HOST: 'unix:///nonexistent/docker.sock',
    BERTH_ENGINE: 'external',
    BERTH_PORT: '0',
    BERTH_DATA_DIR: dataDir,
    BERTH_ADMIN_EMAIL: ADMIN.email,
    BERTH_ADMIN_PASSWORD: ADMIN.password,
    ...settings,
  };
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const child = runProcess(t, '/usr/bin/env', [
    ...assignments,
    process.execPath,
    'src/app/main/bin/server.ts',
  ]);
  for (;;) {
    const ready = /ready.*: (http:\S+)/.exec(await child.line());
    if (ready?.[1] !== undefined) return { ...child, address: ready[1], dataDir };
  }
}

/** A login token of the administrator, over HTTP. */
export async function signIn({ address }: Server): Promise<string> {
  const answer = await fetch(`${address}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: ADMIN.email, password: ADMIN.password }),
  });
  const { token } = (await answer.json()) as { token: string };
  return token;
}
