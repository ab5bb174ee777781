import { bodyOf } from '../../replies/bodies.ts';
import { UserBody } from '../../schema/identity/sign-in.ts';

export const serializeUser = bodyOf(UserBody);
