import type { ReadyBody } from '../../../src/adapters/http/schema/system.ts';
import { exchange } from './request.ts';

/** One part of the service that is not well, and the command or step that mends it, where there is one. */
export type Fault = {
  readonly part: string;
  readonly status: string;
  readonly detail: string;
  readonly mend: string | null;
};

export type Health = { readonly status: ReadyBody['status']; readonly faults: readonly Fault[] };

type Parts = Readonly<Record<string, ReadyBody['parts']['engine']>>;

/** Reads the answer of /readyz, whatever its status. An answer of something in between counts as unready. */
export function healthOf(body: Partial<ReadyBody> | null): Health {
  const parts: Parts = body?.parts ?? {};
  const faults = Object.entries(parts)
    .filter(([, { status }]) => status !== 'ready')
    .map(([part, { status, detail, mend }]) => ({ part, status, detail, mend: mend ?? null }));
  return { status: body?.status ?? 'unready', faults };
}

export const getHealth = async (): Promise<Health> =>
  healthOf((await exchange('/readyz')).body as Partial<ReadyBody> | null);
