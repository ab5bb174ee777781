export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** A null hash costs the same time and is false, so that time does not tell whether a user exists. */
  verify(hash: string | null, password: string): Promise<boolean>;
}
