import { type Static, Type } from '@sinclair/typebox';
import { NamedClosed, NamedObject, Text } from '../common.ts';

/** As in src/domain/containers/files.ts. */
const MAX_MATCHES = 10_000;

export const SearchRequestBody = NamedClosed('FileSearchRequest', {
  path: Type.Optional(
    Type.String({ maxLength: 16_384, description: 'A folder or file; `/workspace` by default.' }),
  ),
  pattern: Text({ minLength: 1, maxLength: 1_000 }),
  regex: Type.Optional(
    Type.Boolean({ description: 'The pattern is an extended regular expression (POSIX). Default false.' }),
  ),
  ignore_case: Type.Optional(
    Type.Boolean({ description: 'ASCII letters match in either case. Default false.' }),
  ),
  include: Type.Optional(Text({ minLength: 1, maxLength: 1_000 })),
  max: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_MATCHES, description: 'Default 1000.' })),
});

export const FoundBody = NamedObject('FileMatches', {
  matches: Type.Array(
    Type.Object({
      path: Type.String(),
      line: Type.Integer(),
      column: Type.Integer({ description: 'In characters from 1; beyond 800 bytes of a line, in bytes.' }),
      text: Type.String({ description: 'The line, or at most 1,000 bytes of it with the match.' }),
    }),
  ),
  complete: Type.Boolean({ description: 'False: cut by `max`, by 20 s, or by 1 MiB of matches.' }),
});

export type SearchRequestBody = Static<typeof SearchRequestBody>;
