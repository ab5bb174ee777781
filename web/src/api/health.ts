import { exchange } from './request.ts';

/** One part of the service that is not well, and the command that mends it, where there is one. */
export type Fault = { readonly part: string; readonly message: string; readonly command: string | null };

export type Health = {
  readonly status: 'ready' | 'degraded' | 'starting';
  readonly faults: readonly Fault[];
};

type WirePart = { readonly state?: unknown; readonly detail?: unknown; readonly command?: unknown };

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const GOOD = new Set(['ready', 'ok', 'up', 'running']);

/** Reads the answer of /readyz, whatever its status. */
export function healthOf(body: unknown): Health {
  const parts = Object.entries((body as { parts?: Record<string, WirePart> } | null)?.parts ?? {});
  const faults = parts
    .filter(([, part]) => !GOOD.has(String(part.state)))
    .map(([part, { state, detail, command }]) => ({
      part,
      message: text(detail) ?? `is ${String(state)}`,
      command: text(command),
    }));
  const status = (body as { status?: unknown } | null)?.status;
  if (status === 'ready' && faults.length === 0) return { status: 'ready', faults };
  return { status: status === 'starting' ? 'starting' : 'degraded', faults };
}

export const getHealth = async (): Promise<Health> => healthOf((await exchange('/readyz')).body);
