import { Type } from '@sinclair/typebox';

// Query values are text: 1 to 200 without leading zeros.
const LIMIT = '^([1-9][0-9]?|1[0-9]{2}|200)$';

export const pageQuery = {
  cursor: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$' })),
  limit: Type.Optional(Type.String({ pattern: LIMIT, description: '1 to 200. Default 50.' })),
};
