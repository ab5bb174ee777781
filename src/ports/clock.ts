/** Wall-clock time. Expiry of credentials is judged by the database's clock instead. */
export interface Clock {
  now(): Date;
}
