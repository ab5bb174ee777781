export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** A null hash takes the same time and is false, so timing does not reveal whether a user exists. */
  verify(hash: string | null, password: string): Promise<boolean>;
}
