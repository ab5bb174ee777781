export type LoginClaims = { readonly userId: string; readonly sessionId: string };

/** Signed login tokens. They prove who asked for them; whether the session still holds is for the database. */
export interface LoginTokens {
  sign(claims: LoginClaims): { readonly token: string; readonly expiresAt: Date };
  /** null for anything that this installation did not sign, or that is past its time. */
  verify(token: string): LoginClaims | null;
}
