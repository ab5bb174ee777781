import type Docker from 'dockerode';
import { dockerAt } from '../../docker/engine/engine-client.ts';
import { addressOf, DEFAULT_SOCKET } from '../../docker/engine/engine-probe.ts';

/** A manager by DOCKER_HOST; null: by the usual socket. Opens no connection yet. */
export function managerAt(
  dockerHost: string | null,
  certPath: string | null,
): { readonly endpoint: string; readonly docker: Docker } {
  const endpoint = dockerHost ?? `unix://${DEFAULT_SOCKET}`;
  const docker = dockerAt(addressOf(endpoint, endpoint.startsWith('unix:') ? null : certPath));
  return { endpoint, docker };
}
