import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** How the API server says that an exec ended. */
export type ExecEnd =
  /** 0 is no proof of its end. */
  | { readonly kind: 'exited'; readonly code: number }
  /** It did not start, or the connection to it failed. */
  | { readonly kind: 'failed'; readonly message: string };

const Status = Type.Object({
  status: Type.Union([Type.Literal('Success'), Type.Literal('Failure')]),
  message: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  details: Type.Optional(
    Type.Object({
      causes: Type.Optional(
        Type.Array(
          Type.Object({ reason: Type.Optional(Type.String()), message: Type.Optional(Type.String()) }),
        ),
      ),
    }),
  ),
});

/** The `Status` on the error channel of an exec; null for anything else. */
export function execEnd(text: string): ExecEnd | null {
  const status = parsed(text);
  if (!Value.Check(Status, status)) return null;
  if (status.status === 'Success') return { kind: 'exited', code: 0 };
  const cause = status.details?.causes?.find(({ reason }) => reason === 'ExitCode');
  const code = cause?.message ?? '';
  if (status.reason === 'NonZeroExitCode' && /^\d{1,3}$/.test(code))
    return { kind: 'exited', code: Number(code) };
  return { kind: 'failed', message: status.message ?? status.reason ?? 'no reason' };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
