import { type Static, Type } from '@sinclair/typebox';
import { NamedClosed, NamedObject, Nullable, Text, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

const Code = Text({ minLength: 1, maxLength: 64 });
const MfaToken = Text({ minLength: 1, maxLength: 128 });
const Base64Url = (maxLength: number) => Type.String({ pattern: '^[A-Za-z0-9_-]*$', maxLength });

export const CodeRequest = NamedClosed('CodeRequest', { code: Code });

const Password = Text({ minLength: 1, maxLength: 1024 });

/** A first code, and the password unless the sign-in is recent. */
export const MfaConfirmRequest = NamedClosed('MfaConfirmRequest', {
  code: Code,
  password: Type.Optional(Password),
});

/** Empty after a recent sign-in; else the password, or a code where a second factor is on. */
export const ConfirmationRequest = NamedClosed('ConfirmationRequest', {
  password: Type.Optional(Password),
  code: Type.Optional(Code),
});

export const ConfirmedBody = NamedObject('Confirmed', { confirmed: Type.Literal(true) });

export const MfaStatusBody = NamedObject('MfaStatus', {
  enabled: Type.Boolean(),
  recovery_codes_left: Type.Integer(),
});

export const EnrolmentBody = NamedObject('Enrolment', {
  secret: Type.String(),
  otpauth_uri: Type.String(),
  qr_svg: Type.String(),
});

export const RecoveryCodesBody = NamedObject('RecoveryCodes', { recovery_codes: Type.Array(Type.String()) });

export const PasskeyBody = NamedObject('Passkey', {
  id: Type.String(),
  name: Type.String(),
  backed_up: Type.Boolean(),
  created_at: Timestamp,
  last_used_at: Nullable(Timestamp),
});

export const PasskeyList = NamedObject('PasskeyList', {
  passkeys: Type.Array(PasskeyBody),
  next_cursor: nextCursor,
});

/** Options for `navigator.credentials`, in their JSON form. */
export const BrowserOptionsBody = NamedObject(
  'BrowserOptions',
  { challenge: Type.String() },
  { additionalProperties: true },
);

// Browsers add fields as the standard grows: the used ones are validated, others ignored.
const open = { additionalProperties: true };
const answer = {
  id: Base64Url(2048),
  rawId: Base64Url(2048),
  type: Type.Literal('public-key'),
};

export const RegistrationAnswer = NamedObject(
  'RegistrationAnswer',
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

export const AssertionAnswer = NamedObject(
  'AssertionAnswer',
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

export const PasskeyRegistration = NamedClosed('PasskeyRegistration', {
  name: Type.Optional(PasskeyName),
  credential: RegistrationAnswer,
});

export const PasskeyChange = NamedClosed('PasskeyChange', { name: PasskeyName });
export const PasskeySignIn = NamedClosed('PasskeySignIn', { credential: AssertionAnswer });

/** Either a code or a passkey's answer. */
export const MfaRequest = NamedClosed('MfaRequest', {
  mfa_token: MfaToken,
  code: Type.Optional(Code),
  credential: Type.Optional(AssertionAnswer),
});

export const MfaOptionsRequest = NamedClosed('MfaOptionsRequest', { mfa_token: MfaToken });

const Passcode = Text({ minLength: 1, maxLength: 64 });

export const PasscodeRequest = NamedClosed('PasscodeRequest', { passcode: Passcode });
/** The current one is required if set. */
export const PasscodeChange = NamedClosed('PasscodeChange', {
  passcode: Passcode,
  current_passcode: Type.Optional(Passcode),
});
export const PasscodeRemoval = NamedClosed('PasscodeRemoval', { current_passcode: Type.Optional(Passcode) });
export const PasscodeSetBody = NamedObject('PasscodeSet', { passcode_set: Type.Boolean() });
export const LockBody = NamedObject('Lock', { locked: Type.Boolean() });
export const MfaDisabledBody = NamedObject('MfaDisabled', { enabled: Type.Boolean() });
export const DeletedBody = NamedObject('PasskeyDeleted', { id: Type.String(), deleted: Type.Boolean() });

export const PasskeyListQuery = listQuery(['created_at', 'name', 'last_used_at'], ['name']);

export type PasskeyBody = Static<typeof PasskeyBody>;
export type MfaRequest = Static<typeof MfaRequest>;
