/** What a command of the service prints, and its exit code. */
export type Outcome = { readonly code: number; readonly says: string };
