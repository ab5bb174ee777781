import type { OperationKind } from '../../../src/domain/containers/operation.ts';
import { anAdmin, aPerson, as, small, type TestService } from './service.ts';

/** A container of Ada's that is ready for an operation, and the request for that; a transfer gives it to Bob. */
export async function aRequestOf(service: TestService, kind: OperationKind) {
  const root = await anAdmin(service);
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const call = as(service, ada);
  const create = () => call('POST', '/api/containers', { name: 'dev', ...small });
  const id = kind === 'create' ? '' : (await create()).json().db_id;
  const path = `/api/containers/${id}`;
  if (kind === 'start') await call('POST', `${path}/stop`);
  if (kind === 'restore') await call('DELETE', path);
  const request = {
    create,
    start: () => call('POST', `${path}/start`),
    stop: () => call('POST', `${path}/stop`),
    update: () => call('PATCH', path, { name: 'dev', ...small, memory_mb: 512 }),
    delete: () => call('DELETE', path),
    restore: () => call('POST', `${path}/restore`),
    snapshot: () => call('POST', `${path}/snapshots`, { name: 'base' }),
    transfer: () => as(service, root)('POST', `/api/admin/containers/${id}/transfer`, { to: bob.id }),
  }[kind];
  return { root, bob, call, request };
}
