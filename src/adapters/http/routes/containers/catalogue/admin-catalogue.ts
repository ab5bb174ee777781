import type { TSchema } from '@sinclair/typebox';
import type { CatalogueAdmin, EntryAdmin } from '../../../../../app/containers/catalogue.ts';
import type { CatalogueKind } from '../../../../../domain/containers/catalogue.ts';
import type { CatalogueRepository } from '../../../../../ports/containers/catalogue-repository.ts';
import { orThrow } from '../../../errors.ts';
import { listBody } from '../../../list-pages.ts';
import { operation } from '../../../open-api/route-schema.ts';
import { IdParams } from '../../../schema/common.ts';
import * as schema from '../../../schema/containers/catalogue.ts';
import type { Routes } from '../../../server.ts';
import { toImage, toRole, toRoleBody, toTier, toTierBody, toTierChange } from './catalogue-body.ts';

/** Create, list, change and delete, for each kind of entry. */
export const adminCatalogueRoutes =
  (catalogue: CatalogueRepository, admin: CatalogueAdmin): Routes =>
  (http, tokens) => {
    entryRoutes({
      one: 'tier',
      list: schema.TierList,
      key: 'name',
      query: schema.TierListQuery,
      read: async () => (await catalogue.tiers()).map(toTierBody),
      body: schema.TierBody,
      toBody: toTierBody,
      created: schema.NewTierRequest,
      toEntry: toTier,
      changed: schema.TierChangeRequest,
      toChange: toTierChange,
      entries: admin.tiers,
    })(http, tokens);
    entryRoutes({
      one: 'image',
      list: schema.ImageList,
      key: 'key',
      query: schema.EntryListQuery,
      read: catalogue.images,
      body: schema.ImageBody,
      toBody: (image) => image,
      created: schema.NewImageRequest,
      toEntry: toImage,
      changed: schema.ImageChangeRequest,
      toChange: (change) => change,
      entries: admin.images,
    })(http, tokens);
    entryRoutes({
      one: 'role',
      list: schema.WholeRoleList,
      key: 'key',
      query: schema.EntryListQuery,
      read: async () => (await catalogue.roles()).map(toRoleBody),
      body: schema.RoleBody,
      toBody: toRoleBody,
      created: schema.NewRoleRequest,
      toEntry: toRole,
      changed: schema.RoleChangeRequest,
      toChange: (change) => change,
      entries: admin.roles,
    })(http, tokens);
  };

/** The wire form of one kind of entry; schemas have validated the bodies. */
type Entries<T> = {
  readonly one: CatalogueKind;
  readonly list: TSchema;
  /** The field that identifies an entry. */
  readonly key: string;
  readonly query: TSchema;
  readonly read: () => Promise<readonly object[]>;
  readonly body: TSchema;
  readonly toBody: (entry: T) => unknown;
  readonly created: TSchema;
  readonly toEntry: (body: never) => T;
  readonly changed: TSchema;
  readonly toChange: (body: never) => Partial<T>;
  readonly entries: EntryAdmin<T>;
};

const pathOf = (one: CatalogueKind): string => `/api/admin/${one}s`;

const groupOf = (one: CatalogueKind): string => `admin${one.charAt(0).toUpperCase()}${one.slice(1)}s`;

const config = (does: string) => ({ scope: 'admin', failure: `failed to ${does}` }) as const;

const listRoute =
  <T>(kind: Entries<T>): Routes =>
  (http) => {
    const { one } = kind;
    http.get(
      pathOf(one),
      operation(`${groupOf(one)}.list`, `List the ${one}s in full`, {
        config: config(`list ${one}s`),
        querystring: kind.query,
        response: { 200: kind.list },
      }),
      async ({ query }) => listBody(`${one}s`, await kind.read(), query as object, kind.key as never),
    );
  };

const entryRoutes =
  <T>(kind: Entries<T>): Routes =>
  (http, tokens) => {
    const { one, entries, toBody } = kind;
    const [path, group] = [pathOf(one), groupOf(one)];
    listRoute(kind)(http, tokens);

    http.post(
      path,
      operation(`${group}.create`, `Add a${one === 'image' ? 'n' : ''} ${one}`, {
        config: config(`create ${one}`),
        refusals: ['catalogue_key_taken'],
        body: kind.created,
        response: { 201: kind.body },
      }),
      async ({ body, caller, origin }, reply) => {
        const made = orThrow(await entries.create(kind.toEntry(body as never), caller, origin));
        return reply.code(201).send(toBody(made));
      },
    );

    http.patch(
      `${path}/:id`,
      operation(`${group}.update`, `Change a${one === 'image' ? 'n' : ''} ${one}`, {
        config: config(`update ${one}`),
        refusals: [`${one}_not_found`],
        params: IdParams,
        body: kind.changed,
        response: { 200: kind.body },
      }),
      async ({ params, body, caller, origin }) =>
        toBody(orThrow(await entries.change(params.id, kind.toChange(body as never), caller, origin))),
    );

    http.delete(
      `${path}/:id`,
      operation(`${group}.delete`, `Delete a${one === 'image' ? 'n' : ''} ${one}`, {
        config: config(`delete ${one}`),
        refusals: [`${one}_not_found`, 'catalogue_entry_in_use', 'catalogue_entry_needed'],
        params: IdParams,
        response: { 200: schema.RemovedEntryBody },
      }),
      async ({ params: { id: key }, caller, origin }) => {
        orThrow(await entries.remove(key, caller, origin));
        return { key, deleted: true as const };
      },
    );
  };
