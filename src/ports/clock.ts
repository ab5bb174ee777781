/** Wall-clock time. Credentials expire by the database's clock instead. */
export interface Clock {
  now(): Date;
}
