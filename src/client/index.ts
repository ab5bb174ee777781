/** `berth/client`: a typed client of the HTTP and WebSocket interface, for Node.js and browsers. See docs/client.md. */
export { Berth, type BerthOptions, type CreateOptions } from './berth.ts';
export { Container } from './container.ts';
export type { AuditFilter, AuditFormat } from './groups/audit.ts';
export type { ContainerChange } from './groups/containers.ts';
export type { Api, CallOptions, ListQuery, Schemas } from './request/api.ts';
export { BerthError, type FieldFaults, hasStatus } from './request/errors.ts';
export type { List } from './request/pages.ts';
export type { TokenSource } from './request/requester.ts';
export type { RetryPolicy } from './request/retry.ts';
