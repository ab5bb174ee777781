import type { Test } from 'tap';
import { small } from '../process/fault-scene.ts';
import {
  aQuickInstallation,
  client,
  type Installation,
  type Running,
  signInAdmin,
  startService,
} from '../process/running-service.ts';
import { type SshHome, sshHome, sshPrograms } from './ssh-programs.ts';

type Call = ReturnType<typeof client>;
/** A service with an SSH port, and a running container `dev` of a user who has a key. */
export type SshScene = {
  readonly installation: Installation;
  readonly service: Running;
  readonly address: string;
  readonly token: string;
  readonly call: Call;
  readonly dbId: string;
  readonly port: number;
  readonly home: SshHome;
  readonly knownHosts: readonly string[];
};

/** null where no engine can run. `env`: more of the service's settings. */
export async function anSshScene(
  t: Test,
  env: Readonly<Record<string, string>> = {},
): Promise<SshScene | null> {
  const installation = await aQuickInstallation(t, { BERTH_SSH_PORT: '0', ...env });
  return installation === null ? null : await sshSceneOf(t, installation);
}

/** The same for an installation on any engine, whose settings have an SSH port. */
export async function sshSceneOf(t: Test, installation: Installation): Promise<SshScene> {
  await sshPrograms();
  const service = await startService(t, installation);
  const { address } = service;
  const token = await signInAdmin(service);
  const call = client(address, token);
  const { body } = await client(address)('GET', '/api/ssh/host-keys');
  const { port, keys } = body as { port: number; keys: { known_hosts_line: string }[] };
  const knownHosts = keys.map((key) => key.known_hosts_line);
  const home = await sshHome(t, { port, knownHosts });
  await call('POST', '/api/me/ssh-keys', { public_key: home.publicKey });
  const made = await call('POST', '/api/containers', { name: 'dev', ...small });
  return {
    installation,
    service,
    address,
    token,
    call,
    port,
    home,
    knownHosts,
    dbId: made.body['db_id'] as string,
  };
}
