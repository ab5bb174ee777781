import type { SearchRequest } from '../../../../../app/containers/file-search/search-files.ts';
import type { ContainerAccess } from '../../../../../app/containers/inside/container-access.ts';
import { pathText, SEARCH_LIMITS } from '../../../../../domain/containers/files.ts';
import { orThrow } from '../../../errors.ts';
import { operation } from '../../../open-api/route-schema.ts';
import * as refusals from '../../../refusals.ts';
import { ContainerParams } from '../../../schema/common.ts';
import { FoundBody, SearchRequestBody } from '../../../schema/containers/file-search.ts';
import type { Routes } from '../../../server.ts';

/** Finds lines in files. */
export const fileSearchRoutes =
  (access: Pick<ContainerAccess, 'searchFiles'>): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/files/search',
      operation('files.search', 'Find lines in files', {
        config: {
          scope: 'read',
          forRestricted: true,
          failure: 'failed to search files',
          lasting: 'downloads',
        },
        refusals: [...refusals.INSIDE, ...refusals.FILE],
        params: ContainerParams,
        body: SearchRequestBody,
        response: { 200: FoundBody },
      }),
      async ({ params, body, caller, origin }) => {
        const found = orThrow(await access.searchFiles(params.id, toRequest(body), caller, origin));
        const matches = found.matches.map(({ path, ...match }) => ({ path: pathText(path), ...match }));
        return { matches, complete: found.isComplete };
      },
    );
  };

const toRequest = ({
  path,
  pattern,
  regex,
  ignore_case,
  include,
  max,
}: SearchRequestBody): SearchRequest => ({
  path: path ?? '',
  pattern,
  isRegex: regex ?? false,
  ignoresCase: ignore_case ?? false,
  include: include ?? '*',
  maxMatches: max ?? SEARCH_LIMITS.defaultMatches,
});
