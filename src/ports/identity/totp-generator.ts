/** What an authenticator app needs. */
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
  /** The code's time step, at most one from that of `at`; null for a wrong code. */
  stepOf(secret: Buffer, code: string, at: Date): number | null;
}
