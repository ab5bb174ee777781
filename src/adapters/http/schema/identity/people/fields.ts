import { Type } from '@sinclair/typebox';
import { OneOf, Text } from '../../common.ts';

export const UserRole = OneOf(['user', 'admin']);

/** What confirms a request that needs a recent sign-in. */
export const proofs = {
  password: Type.Optional(Text({ minLength: 1, maxLength: 1024 })),
  code: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
};
