import type { Test } from 'tap';

type Answer = { readonly statusCode: number; json(): { readonly fields?: object } };

/** Each body is refused, and its field alone is named. */
export async function refusesByField<Body>(
  t: Test,
  send: (body: Body) => Promise<Answer>,
  cases: readonly (readonly [body: Body, field: string])[],
): Promise<void> {
  for (const [body, field] of cases) {
    const answer = await send(body);
    t.same(
      [answer.statusCode, Object.keys(answer.json().fields ?? {})],
      [400, [field]],
      JSON.stringify(body),
    );
  }
}
