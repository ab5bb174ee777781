import type { SecondFactor } from '../../../../app/identity/sign-in/second-factor.ts';
import { orThrow } from '../../errors.ts';
import * as schema from '../../schema/second-factor.ts';
import type { Routes } from '../../server.ts';

const config = { scope: 'login' } as const;

export const mfaRoutes =
  (secondFactor: SecondFactor): Routes =>
  (http) => {
    http.get(
      '/api/me/mfa',
      { config, schema: { response: { 200: schema.MfaStatusBody } } },
      async ({ caller }) => {
        const { enabled, recoveryCodesLeft } = await secondFactor.status(caller);
        return { enabled, recovery_codes_left: recoveryCodesLeft };
      },
    );

    http.post(
      '/api/me/mfa',
      { config, schema: { response: { 200: schema.EnrolmentBody } } },
      async ({ caller }) => {
        const { secret, uri, qrSvg } = orThrow(await secondFactor.enrol(caller));
        return { secret, otpauth_uri: uri, qr_svg: qrSvg };
      },
    );

    http.post(
      '/api/me/mfa/confirm',
      {
        config,
        schema: { body: schema.MfaConfirmRequest, response: { 200: schema.RecoveryCodesBody } },
      },
      async ({ caller, body, origin }) => ({
        recovery_codes: [...orThrow(await secondFactor.confirm(caller, body.code, body.password, origin))],
      }),
    );

    http.post(
      '/api/me/mfa/recovery-codes',
      { config, schema: { body: schema.CodeRequest, response: { 200: schema.RecoveryCodesBody } } },
      async ({ caller, body, origin }) => ({
        recovery_codes: [...orThrow(await secondFactor.renewRecoveryCodes(caller, body.code, origin))],
      }),
    );

    http.delete(
      '/api/me/mfa',
      { config, schema: { body: schema.CodeRequest, response: { 200: schema.MfaDisabledBody } } },
      async ({ caller, body, origin }) => {
        orThrow(await secondFactor.disable(caller, body.code, origin));
        return { enabled: false };
      },
    );
  };
