/** What an authenticator app needs to make the codes of a secret. */
export type Enrolment = {
  /** Base32, to be typed. */
  readonly secret: string;
  /** otpauth:// */
  readonly uri: string;
  readonly qrSvg: string;
};

/** Codes of authenticator apps (TOTP, RFC 6238). */
export interface OneTimeCodes {
  enrolment(secret: Buffer, account: string): Promise<Enrolment>;
  /** The step of time that the code belongs to, at most one away from that of `at`; null for a wrong code. */
  stepOf(secret: Buffer, code: string, at: Date): number | null;
}
