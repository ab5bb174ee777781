import { type Static, Type } from '@sinclair/typebox';
import { Closed, Nullable, Text, Timestamp } from './common.ts';

const Code = Text({ minLength: 1, maxLength: 64 });
const MfaToken = Text({ minLength: 1, maxLength: 128 });
const Base64Url = (maxLength: number) => Type.String({ pattern: '^[A-Za-z0-9_-]*$', maxLength });

export const CodeRequest = Closed({ code: Code });

const Password = Text({ minLength: 1, maxLength: 1024 });

/** A first code, and the password unless the sign-in is recent. */
export const MfaConfirmRequest = Closed({ code: Code, password: Type.Optional(Password) });

/** Empty after a recent sign-in; else the password, or a code where a second factor is on. */
export const ConfirmationRequest = Closed({
  password: Type.Optional(Password),
  code: Type.Optional(Code),
});

export const ConfirmedBody = Type.Object({ confirmed: Type.Literal(true) });

export const MfaStatusBody = Type.Object({
  enabled: Type.Boolean(),
  recovery_codes_left: Type.Integer(),
});

export const EnrolmentBody = Type.Object({
  secret: Type.String(),
  otpauth_uri: Type.String(),
  qr_svg: Type.String(),
});

export const RecoveryCodesBody = Type.Object({ recovery_codes: Type.Array(Type.String()) });

export const PasskeyBody = Type.Object({
  id: Type.String(),
  name: Type.String(),
  backed_up: Type.Boolean(),
  created_at: Timestamp,
  last_used_at: Nullable(Timestamp),
});

export const PasskeyList = Type.Object({ passkeys: Type.Array(PasskeyBody) });

/** Options for `navigator.credentials`, in their JSON form. */
export const BrowserOptionsBody = Type.Object({ challenge: Type.String() }, { additionalProperties: true });

// Browsers add fields as the standard grows: the used ones are validated, others ignored.
const open = { additionalProperties: true };
const answer = {
  id: Base64Url(2048),
  rawId: Base64Url(2048),
  type: Type.Literal('public-key'),
};

export const RegistrationAnswer = Type.Object(
  {
    ...answer,
    response: Type.Object(
      {
        clientDataJSON: Base64Url(16_384),
        attestationObject: Base64Url(49_152),
        transports: Type.Optional(Type.Array(Text({ maxLength: 32 }), { maxItems: 16 })),
      },
      open,
    ),
  },
  open,
);

export const AssertionAnswer = Type.Object(
  {
    ...answer,
    response: Type.Object(
      {
        clientDataJSON: Base64Url(16_384),
        authenticatorData: Base64Url(16_384),
        signature: Base64Url(16_384),
        userHandle: Type.Optional(Nullable(Base64Url(128))),
      },
      open,
    ),
  },
  open,
);

const PasskeyName = Text({ maxLength: 200 });

export const PasskeyRegistration = Closed({
  name: Type.Optional(PasskeyName),
  credential: RegistrationAnswer,
});

export const PasskeyChange = Closed({ name: PasskeyName });
export const PasskeySignIn = Closed({ credential: AssertionAnswer });

/** Either a code or a passkey's answer. */
export const MfaRequest = Closed({
  mfa_token: MfaToken,
  code: Type.Optional(Code),
  credential: Type.Optional(AssertionAnswer),
});

export const MfaOptionsRequest = Closed({ mfa_token: MfaToken });

const Passcode = Text({ minLength: 1, maxLength: 64 });

export const PasscodeRequest = Closed({ passcode: Passcode });
/** The current one is required if set. */
export const PasscodeChange = Closed({ passcode: Passcode, current_passcode: Type.Optional(Passcode) });
export const PasscodeRemoval = Closed({ current_passcode: Type.Optional(Passcode) });
export const PasscodeSetBody = Type.Object({ passcode_set: Type.Boolean() });
export const LockBody = Type.Object({ locked: Type.Boolean() });
export const MfaDisabledBody = Type.Object({ enabled: Type.Boolean() });
export const DeletedBody = Type.Object({ id: Type.String(), deleted: Type.Boolean() });

export type PasskeyBody = Static<typeof PasskeyBody>;
export type MfaRequest = Static<typeof MfaRequest>;
