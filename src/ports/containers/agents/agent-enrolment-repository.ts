export type NewEnrolment = {
  readonly userId: string;
  /** SHA-256 of the code. */
  readonly codeHash: Buffer;
  readonly lifeSeconds: number;
};

/** One-time codes that a machine exchanges for an API token. */
export interface AgentEnrolmentRepository {
  /** Removes the user's expired codes first. Returns the end of the new one. */
  insert(enrolment: NewEnrolment): Promise<Date>;
  /** Usable ones. Exact while the user's row is locked. */
  count(userId: string): Promise<number>;
  /** The user of a usable code, which stays. */
  userOf(codeHash: Buffer): Promise<string | null>;
  /** Removes the code and returns its user; null when it is unknown, used or over. */
  take(codeHash: Buffer): Promise<string | null>;
  /** Removes all of the user's codes. */
  endAll(userId: string): Promise<void>;
}
