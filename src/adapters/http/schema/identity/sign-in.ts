import { type Static, Type } from '@sinclair/typebox';
import { Named, NamedClosed, NamedObject, Nullable, OneOf, Text, Timestamp } from '../common.ts';
import { UseLimitsBody } from '../containers/catalogue.ts';

export const UserBody = NamedObject('User', {
  id: Type.String(),
  email: Nullable(Type.String()),
  username: Type.String(),
  role: OneOf(['user', 'admin']),
  tier: Type.String(),
  created_at: Timestamp,
  disabled_at: Nullable(Timestamp),
  ends_at: Nullable(
    Type.String({ format: 'date-time', description: 'When the account is disabled by itself.' }),
  ),
});

export const LoginRequest = NamedClosed('LoginRequest', {
  email: Text({ maxLength: 254 }),
  password: Text({ maxLength: 1024 }),
});

const person = {
  email: Text({ maxLength: 254 }),
  username: Text({ maxLength: 39 }),
  password: Text({ maxLength: 1024 }),
};

export const RegisterRequest = NamedClosed('RegisterRequest', person);
const setupCode = { code: Text({ maxLength: 128 }) };
export const SetupRequest = NamedClosed('SetupRequest', { ...setupCode, ...person });
export const SetupCodeRequest = NamedClosed('SetupCodeRequest', setupCode);
export const SetupCodeBody = NamedObject('SetupCode', { valid: Type.Literal(true) });

export const SignedInBody = NamedObject('SignedIn', {
  token: Type.String(),
  expires_at: Timestamp,
  session_id: Type.String(),
  user: UserBody,
});

export const GuestRequest = NamedClosed('GuestRequest', { username: Type.Optional(Text({ maxLength: 39 })) });

/** The password was right; continue at /api/auth/mfa. */
export const MfaRequiredBody = NamedObject('MfaRequired', {
  mfa_required: Type.Literal(true),
  mfa_token: Type.String(),
  expires_at: Timestamp,
  methods: Type.Array(OneOf(['totp', 'recovery_code', 'passkey'])),
});

export const LoginBody = Named('Login', Type.Union([SignedInBody, MfaRequiredBody]));

/** `provider_sign_out_url`: where a browser may sign out of the OpenID provider, too; null after any other sign-in. */
export const LoggedOutBody = NamedObject('LoggedOut', {
  logged_out: Type.Boolean(),
  provider_sign_out_url: Nullable(Type.String()),
});

export const MeBody = Named(
  'Profile',
  Type.Composite([
    UserBody,
    Type.Object({
      guest_until: Nullable(Timestamp),
      locked: Type.Boolean(),
      password_set: Type.Boolean(),
      mfa_enabled: Type.Boolean(),
      passcode_set: Type.Boolean(),
      auto_lock_minutes: Nullable(Type.Integer()),
      limits: UseLimitsBody,
    }),
  ]),
);

export const MeChange = NamedClosed('ProfileChange', {
  username: Type.Optional(Text({ maxLength: 39 })),
  auto_lock_minutes: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1440 }))),
});

/** The first password of an account needs no old one, but the proofs of a confirmation, unless the sign-in is recent. */
export const PasswordChange = NamedClosed('PasswordChange', {
  old_password: Type.Optional(Text({ maxLength: 1024 })),
  new_password: Text({ maxLength: 1024 }),
  code: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
});

export const PasswordChangedBody = NamedObject('PasswordChanged', { changed: Type.Boolean() });

export const SignInOptionsBody = NamedObject('SignInOptions', {
  setup_required: Type.Boolean(),
  open_registration: Type.Boolean(),
  guests_enabled: Type.Boolean(),
  /** For "Sign in with …"; null without an OpenID provider. */
  provider: Nullable(Type.String()),
});

const userCode = { user_code: Text({ minLength: 1, maxLength: 32 }) };

/** `machine`: the name shown to who confirms. */
export const DeviceRequest = NamedClosed('DeviceRequest', { machine: Text({ minLength: 1, maxLength: 64 }) });

/** `verification_url_complete` has the code behind `#`. */
export const DeviceStartedBody = NamedObject('DeviceStarted', {
  device_code: Type.String(),
  user_code: Type.String(),
  verification_url: Type.String(),
  verification_url_complete: Type.String(),
  expires_at: Timestamp,
  interval_seconds: Type.Integer(),
});

export const DevicePoll = NamedClosed('DevicePoll', { device_code: Text({ minLength: 1, maxLength: 128 }) });

export const DeviceCodeRequest = NamedClosed('DeviceCodeRequest', userCode);

/** With the proofs of a confirmation, unless the sign-in is recent. */
export const DeviceApproval = NamedClosed('DeviceApproval', {
  ...userCode,
  password: Type.Optional(Text({ minLength: 1, maxLength: 1024 })),
  code: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
});

/** The program that shows a code; `machine` is its own claim. */
export const DeviceBody = NamedObject('Device', {
  machine: Type.String(),
  ip_address: Type.String(),
  user_agent: Type.String(),
  started_at: Timestamp,
  expires_at: Timestamp,
});

export const DeviceApprovedBody = NamedObject('DeviceApproved', { approved: Type.Literal(true) });
export const DeviceDeniedBody = NamedObject('DeviceDenied', { denied: Type.Literal(true) });

export type DeviceBody = Static<typeof DeviceBody>;
export type UserBody = Static<typeof UserBody>;
export type SignedInBody = Static<typeof SignedInBody>;
export type LoginBody = Static<typeof LoginBody>;
export type MfaRequiredBody = Static<typeof MfaRequiredBody>;
export type MeBody = Static<typeof MeBody>;
export type MeChange = Static<typeof MeChange>;
export type SignInOptionsBody = Static<typeof SignInOptionsBody>;
