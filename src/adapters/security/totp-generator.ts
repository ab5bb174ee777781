import { Secret, TOTP } from 'otpauth';
import { toString as toQr } from 'qrcode';
import { TOTP as RULES } from '../../domain/identity/second-factor.ts';
import type { OneTimeCodes } from '../../ports/identity/totp-generator.ts';

const ISSUER = 'Berth';

/** What every authenticator app supports: SHA-1, six digits, thirty seconds. */
const totpOf = (secret: Buffer, label: string): TOTP =>
  new TOTP({
    issuer: ISSUER,
    label,
    algorithm: 'SHA1',
    digits: RULES.digits,
    period: RULES.stepSeconds,
    // A copy: a buffer may be a view of a larger pool, all of which would become the secret.
    secret: new Secret({ buffer: new Uint8Array(secret).buffer }),
  });

export const oneTimeCodes = (): OneTimeCodes => ({
  async enrolment(secret, account) {
    const totp = totpOf(secret, account);
    const uri = totp.toString();
    const qrSvg = await toQr(uri, { type: 'svg', errorCorrectionLevel: 'M' });
    return { secret: totp.secret.base32, uri, qrSvg };
  },

  stepOf(secret, code, at) {
    const timestamp = at.getTime();
    const delta = totpOf(secret, '').validate({ token: code, timestamp, window: RULES.window });
    return delta === null ? null : Math.floor(timestamp / 1000 / RULES.stepSeconds) + delta;
  },
});
