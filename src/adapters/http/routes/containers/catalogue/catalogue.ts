import type { CatalogueRepository } from '../../../../../ports/containers/catalogue-repository.ts';
import { pageOf } from '../../../list-pages.ts';
import { operation } from '../../../open-api/route-schema.ts';
import {
  EntryListQuery,
  ImageList,
  RoleList,
  TierList,
  TierListQuery,
} from '../../../schema/containers/catalogue.ts';
import type { Routes } from '../../../server.ts';
import { toRoleSummary, toTierBody } from './catalogue-body.ts';

const read = (what: string) => ({ scope: 'read', failure: `failed to list ${what}` }) as const;

export const catalogueRoutes =
  (catalogue: CatalogueRepository): Routes =>
  (http) => {
    http.get(
      '/api/images',
      operation('images.list', 'List the images to choose from', {
        config: read('images'),
        querystring: EntryListQuery,
        response: { 200: ImageList },
      }),
      async ({ query }) => {
        const { items, next } = pageOf(await catalogue.images(), query, 'key');
        return { images: items, ...next };
      },
    );

    http.get(
      '/api/roles',
      operation('roles.list', 'List the roles to choose from', {
        config: read('roles'),
        querystring: EntryListQuery,
        response: { 200: RoleList },
      }),
      async ({ query }) => {
        const { items, next } = pageOf((await catalogue.roles()).map(toRoleSummary), query, 'key');
        return { roles: items, ...next };
      },
    );

    http.get(
      '/api/tiers',
      operation('tiers.list', 'List the tiers and their limits', {
        config: read('tiers'),
        querystring: TierListQuery,
        response: { 200: TierList },
      }),
      async ({ query }) => {
        const { items, next } = pageOf((await catalogue.tiers()).map(toTierBody), query, 'name');
        return { tiers: items, ...next };
      },
    );
  };
