import type { CatalogueRepository } from '../../../../../ports/containers/catalogue-repository.ts';
import { listBody } from '../../../list-pages.ts';
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
      async ({ query }) => listBody('images', await catalogue.images(), query, 'key'),
    );

    http.get(
      '/api/roles',
      operation('roles.list', 'List the toolsets to choose from', {
        config: read('roles'),
        querystring: EntryListQuery,
        response: { 200: RoleList },
      }),
      async ({ query }) => listBody('roles', (await catalogue.roles()).map(toRoleSummary), query, 'key'),
    );

    http.get(
      '/api/tiers',
      operation('tiers.list', 'List the tiers and their limits', {
        config: read('tiers'),
        querystring: TierListQuery,
        response: { 200: TierList },
      }),
      async ({ query }) => listBody('tiers', (await catalogue.tiers()).map(toTierBody), query, 'name'),
    );
  };
