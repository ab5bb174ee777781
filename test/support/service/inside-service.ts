import { fixedClock, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import type { Ports } from '../../../src/app/main/compose-options.ts';
import { aPerson, aService, as } from './service.ts';

export const NDJSON = { accept: 'application/x-ndjson' };
export const JSON_LIST = { accept: 'application/json' };

/** The service with somebody who has a running container, and short forms for its files. */
export async function aBoxOfAda(ports: Partial<Ports> = {}) {
  const runtime = memoryRuntime();
  const clock = fixedClock();
  const service = await aService({ runtime, clock, ...ports });
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const box = (await call('POST', '/api/containers', { name: 'dev', disk_mb: 512 })).json();
  const url = `/api/containers/${box.db_id}`;
  const put = (path: string, payload: string | Buffer, headers: Record<string, string> = {}) =>
    service.http.inject({
      method: 'PUT',
      url: `${url}/files?path=${encodeURIComponent(path)}`,
      headers: { authorization: `Bearer ${ada.token}`, ...headers },
      payload,
    });
  const get = (path: string, headers: Record<string, string> = {}) =>
    call('GET', `${url}/files?path=${encodeURIComponent(path)}`, undefined, headers);
  return { runtime, clock, service, ada, call, box, url, put, get };
}
