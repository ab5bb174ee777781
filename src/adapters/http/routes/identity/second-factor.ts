import type { SecondFactor } from '../../../../app/identity/sign-in/second-factor.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as refusals from '../../refusals.ts';
import * as schema from '../../schema/identity/second-factor.ts';
import { joinRoutes, type Routes } from '../../server.ts';

const config = { scope: 'login' } as const;
const change = { ...config, shutAfterReset: true } as const;

export const mfaRoutes = (secondFactor: SecondFactor): Routes =>
  joinRoutes(enrolmentRoutes(secondFactor), codeRoutes(secondFactor));

const enrolmentRoutes =
  (secondFactor: SecondFactor): Routes =>
  (http) => {
    http.get(
      '/api/me/mfa',
      operation('mfa.read', 'Read whether a second factor is on', {
        config,
        response: { 200: schema.MfaStatusBody },
      }),
      async ({ caller }) => {
        const { enabled, recoveryCodesLeft } = await secondFactor.status(caller);
        return { enabled, recovery_codes_left: recoveryCodesLeft };
      },
    );

    http.post(
      '/api/me/mfa',
      operation('mfa.enrol', 'Request a secret for one-time codes', {
        config: change,
        refusals: ['account_required', 'mfa_already_enabled'],
        response: { 200: schema.EnrolmentBody },
      }),
      async ({ caller }) => {
        const { secret, uri, qrSvg } = orThrow(await secondFactor.enrol(caller));
        return { secret, otpauth_uri: uri, qr_svg: qrSvg };
      },
    );

    http.post(
      '/api/me/mfa/confirm',
      operation('mfa.confirm', 'Turn one-time codes on with a first code', {
        config: change,
        refusals: [...refusals.CONFIRMATION, 'mfa_already_enabled', 'mfa_not_started'],
        body: schema.MfaConfirmRequest,
        response: { 200: schema.RecoveryCodesBody },
      }),
      async ({ caller, body, origin }) => ({
        recovery_codes: [...orThrow(await secondFactor.confirm(caller, body.code, body.password, origin))],
      }),
    );
  };

/** Changes that need a code. */
const codeRoutes =
  (secondFactor: SecondFactor): Routes =>
  (http) => {
    http.post(
      '/api/me/mfa/recovery-codes',
      operation('mfa.renewRecoveryCodes', 'Replace the recovery codes', {
        config: change,
        refusals: ['mfa_not_enabled', 'wrong_code'],
        body: schema.CodeRequest,
        response: { 200: schema.RecoveryCodesBody },
      }),
      async ({ caller, body, origin }) => ({
        recovery_codes: [...orThrow(await secondFactor.renewRecoveryCodes(caller, body.code, origin))],
      }),
    );

    http.delete(
      '/api/me/mfa',
      operation('mfa.disable', 'Turn one-time codes off', {
        config: change,
        refusals: ['mfa_not_enabled', 'wrong_code'],
        body: schema.CodeRequest,
        response: { 200: schema.MfaDisabledBody },
      }),
      async ({ caller, body, origin }) => {
        orThrow(await secondFactor.disable(caller, body.code, origin));
        return { enabled: false };
      },
    );
  };
