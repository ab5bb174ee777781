import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, Nullable, Text, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

const Code = Text({ minLength: 1, maxLength: 64 });
const MfaToken = Text({ minLength: 1, maxLength: 128 });
const Base64Url = (maxLength: number) => Type.String({ pattern: '^[A-Za-z0-9_-]*$', maxLength });

export const CodeRequest = Named('CodeRequest', Closed({ code: Code }));

const Password = Text({ minLength: 1, maxLength: 1024 });

/** A first code, and the password unless the sign-in is recent. */
export const MfaConfirmRequest = Named(
  'MfaConfirmRequest',
  Closed({ code: Code, password: Type.Optional(Password) }),
);

/** Empty after a recent sign-in; else the password, or a code where a second factor is on. */
export const ConfirmationRequest = Named(
  'ConfirmationRequest',
  Closed({
    password: Type.Optional(Password),
    code: Type.Optional(Code),
  }),
);

export const ConfirmedBody = Named('Confirmed', Type.Object({ confirmed: Type.Literal(true) }));

export const MfaStatusBody = Named(
  'MfaStatus',
  Type.Object({
    enabled: Type.Boolean(),
    recovery_codes_left: Type.Integer(),
  }),
);

export const EnrolmentBody = Named(
  'Enrolment',
  Type.Object({
    secret: Type.String(),
    otpauth_uri: Type.String(),
    qr_svg: Type.String(),
  }),
);

export const RecoveryCodesBody = Named(
  'RecoveryCodes',
  Type.Object({ recovery_codes: Type.Array(Type.String()) }),
);

export const PasskeyBody = Named(
  'Passkey',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    backed_up: Type.Boolean(),
    created_at: Timestamp,
    last_used_at: Nullable(Timestamp),
  }),
);

export const PasskeyList = Named(
  'PasskeyList',
  Type.Object({ passkeys: Type.Array(PasskeyBody), next_cursor: nextCursor }),
);

/** Options for `navigator.credentials`, in their JSON form. */
export const BrowserOptionsBody = Named(
  'BrowserOptions',
  Type.Object({ challenge: Type.String() }, { additionalProperties: true }),
);

// Browsers add fields as the standard grows: the used ones are validated, others ignored.
const open = { additionalProperties: true };
const answer = {
  id: Base64Url(2048),
  rawId: Base64Url(2048),
  type: Type.Literal('public-key'),
};

export const RegistrationAnswer = Named(
  'RegistrationAnswer',
  Type.Object(
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
  ),
);

export const AssertionAnswer = Named(
  'AssertionAnswer',
  Type.Object(
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
  ),
);

const PasskeyName = Text({ maxLength: 200 });

export const PasskeyRegistration = Named(
  'PasskeyRegistration',
  Closed({
    name: Type.Optional(PasskeyName),
    credential: RegistrationAnswer,
  }),
);

export const PasskeyChange = Named('PasskeyChange', Closed({ name: PasskeyName }));
export const PasskeySignIn = Named('PasskeySignIn', Closed({ credential: AssertionAnswer }));

/** Either a code or a passkey's answer. */
export const MfaRequest = Named(
  'MfaRequest',
  Closed({
    mfa_token: MfaToken,
    code: Type.Optional(Code),
    credential: Type.Optional(AssertionAnswer),
  }),
);

export const MfaOptionsRequest = Named('MfaOptionsRequest', Closed({ mfa_token: MfaToken }));

const Passcode = Text({ minLength: 1, maxLength: 64 });

export const PasscodeRequest = Named('PasscodeRequest', Closed({ passcode: Passcode }));
/** The current one is required if set. */
export const PasscodeChange = Named(
  'PasscodeChange',
  Closed({ passcode: Passcode, current_passcode: Type.Optional(Passcode) }),
);
export const PasscodeRemoval = Named(
  'PasscodeRemoval',
  Closed({ current_passcode: Type.Optional(Passcode) }),
);
export const PasscodeSetBody = Named('PasscodeSet', Type.Object({ passcode_set: Type.Boolean() }));
export const LockBody = Named('Lock', Type.Object({ locked: Type.Boolean() }));
export const MfaDisabledBody = Named('MfaDisabled', Type.Object({ enabled: Type.Boolean() }));
export const DeletedBody = Named(
  'PasskeyDeleted',
  Type.Object({ id: Type.String(), deleted: Type.Boolean() }),
);

export const PasskeyListQuery = listQuery(['created_at', 'name', 'last_used_at'], ['name']);

export type PasskeyBody = Static<typeof PasskeyBody>;
export type MfaRequest = Static<typeof MfaRequest>;
