import { type Static, Type } from '@sinclair/typebox';
import { Closed, Nullable, Text, Timestamp } from './common.ts';

export const UserBody = Type.Object({
  id: Type.String(),
  email: Nullable(Type.String()),
  username: Type.String(),
  role: Type.Union([Type.Literal('user'), Type.Literal('admin')]),
  tier: Type.String(),
  created_at: Timestamp,
  disabled_at: Nullable(Timestamp),
});

export const LoginRequest = Closed({ email: Text({ maxLength: 254 }), password: Text({ maxLength: 1024 }) });

const person = {
  email: Text({ maxLength: 254 }),
  username: Text({ maxLength: 39 }),
  password: Text({ maxLength: 1024 }),
};

export const RegisterRequest = Closed(person);
export const SetupRequest = Closed({ code: Text({ maxLength: 128 }), ...person });

export const SignedInBody = Type.Object({
  token: Type.String(),
  expires_at: Timestamp,
  session_id: Type.String(),
  user: UserBody,
});

export const SignInOptionsBody = Type.Object({
  setup_required: Type.Boolean(),
  open_registration: Type.Boolean(),
});

export type UserBody = Static<typeof UserBody>;
export type SignedInBody = Static<typeof SignedInBody>;
export type SignInOptionsBody = Static<typeof SignInOptionsBody>;
