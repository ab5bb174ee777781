import type { CatalogueRepository } from '../../../../ports/containers/catalogue-repository.ts';
import { ImageList, RoleList, TierList } from '../../schema/catalogue.ts';
import type { Routes } from '../../server.ts';
import { toRoleSummary, toTierBody } from './catalogue-body.ts';

const read = (what: string) => ({ scope: 'read', failure: `failed to list ${what}` }) as const;

export const catalogueRoutes =
  (catalogue: CatalogueRepository): Routes =>
  (http) => {
    http.get(
      '/api/images',
      {
        config: read('images'),
        schema: {
          operationId: 'images.list',
          summary: 'List the images to choose from',
          response: { 200: ImageList },
        },
      },
      async () => ({ images: [...(await catalogue.images())] }),
    );

    http.get(
      '/api/roles',
      {
        config: read('roles'),
        schema: {
          operationId: 'roles.list',
          summary: 'List the roles to choose from',
          response: { 200: RoleList },
        },
      },
      async () => ({
        roles: (await catalogue.roles()).map(toRoleSummary),
      }),
    );

    http.get(
      '/api/tiers',
      {
        config: read('tiers'),
        schema: {
          operationId: 'tiers.list',
          summary: 'List the tiers and their limits',
          response: { 200: TierList },
        },
      },
      async () => ({
        tiers: (await catalogue.tiers()).map(toTierBody),
      }),
    );
  };
