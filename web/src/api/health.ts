import type { ReadyAnswer } from '../../../src/adapters/http/schema/service/service.ts';
import { exchange, request } from './request.ts';

/** A component of the service that is not ready. */
export type Fault = {
  readonly component: string;
  readonly status: string;
  /** null unless the user is an administrator. */
  readonly detail: string | null;
  /** Why it is so; null unless the user is an administrator. */
  readonly reason: ReadyAnswer['parts']['engine']['reason'] | null;
  /** How to fix it, in words; null when there is nothing to say. */
  readonly advice: string | null;
  /** The command in those words that can be copied; null when there is none. */
  readonly command: string | null;
};

const COMMAND = /\b(?:sudo|apt-get|systemctl|npm)\s[^,;()]*/;

/** `start Docker (sudo systemctl start docker) or …` has a command to copy, `see the log` has none. */
export const commandIn = (words: string): string | null => COMMAND.exec(words)?.[0].trim() ?? null;

export type Health = { readonly status: ReadyAnswer['status']; readonly faults: readonly Fault[] };

type Parts = Readonly<Record<string, ReadyAnswer['parts']['engine']>>;

/** Reads any answer of /readyz. One from a proxy in between counts as unready. */
export function healthOf(body: Partial<ReadyAnswer> | null): Health {
  const parts: Parts = body?.parts ?? {};
  const faults = Object.entries(parts)
    .filter(([, { status }]) => status !== 'ready' && status !== 'testing')
    .map(([component, { status, detail = null, reason = null, mend = '' }]) => {
      const command = commandIn(mend);
      const advice = mend === '' || mend === command ? null : mend;
      return { component, status, detail, reason, advice, command };
    });
  return { status: body?.status ?? 'unready', faults };
}

/** `token`: an administrator's, who sees the reasons; else null. */
export const getHealth = async (token: string | null): Promise<Health> => {
  const { body } = await exchange('/readyz', token === null ? {} : { token });
  return healthOf(body as Partial<ReadyAnswer> | null);
};

/** The version of the service. */
export const getVersion = async (): Promise<string> =>
  (await request<{ readonly version: string }>('/api/version')).version;
