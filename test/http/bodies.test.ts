import { Type } from '@sinclair/typebox';
import t from 'tap';
import { bodyOf, fieldsOf } from '../../src/adapters/http/replies/bodies.ts';
import { NamedObject, Nullable, OneOf, Timestamp } from '../../src/adapters/http/schema/common.ts';

const Size = Type.Object({ disk_mb: Type.Integer() });
const toBody = bodyOf(
  NamedObject('Thing', {
    id: Type.String(),
    state: OneOf(['new', 'old']),
    created_at: Timestamp,
    ended_at: Nullable(Timestamp),
    present_size: Nullable(Size),
    all_sizes: Type.Array(Size),
    labels: Type.Record(Type.String(), Type.String()),
    restored_at: Type.Optional(Timestamp),
  }),
);
const AT = new Date('2026-01-02T03:04:05.678Z');
const THING = {
  id: 'a',
  state: 'new',
  createdAt: AT,
  endedAt: null,
  presentSize: { diskMb: 1 },
  allSizes: [{ diskMb: 2 }],
  labels: { someKey: 'x' },
} as const;
const BODY = {
  id: 'a',
  state: 'new',
  created_at: AT.toISOString(),
  ended_at: null,
  present_size: { disk_mb: 1 },
  all_sizes: [{ disk_mb: 2 }],
  labels: { someKey: 'x' },
};

t.test('a body has the names and times of the wire, at every depth', async (t) => {
  t.strictSame(toBody(THING), BODY);
  t.strictSame(toBody({ ...THING, endedAt: AT, presentSize: null, restoredAt: AT }), {
    ...BODY,
    ended_at: AT.toISOString(),
    present_size: null,
    restored_at: AT.toISOString(),
  });
});

t.test('a body has nothing that its schema does not name', async (t) => {
  const leaking = { ...THING, passwordHash: 'secret', presentSize: { diskMb: 1, secret: 'secret' } };
  t.strictSame(toBody(leaking), BODY);
});

t.test('a schema that does not name all fields makes no bodies, at any depth', async (t) => {
  const another = Type.Object({ name: Type.String() });
  for (const schema of [
    Type.Unknown(),
    Type.Any(),
    Type.Ref('Size'),
    Type.Unsafe({ type: 'object' }),
    Type.Intersect([Size, another]),
    Type.Union([Size, another]),
    Type.Union([Size, Type.String()]),
    Type.Record(Type.String(), Size),
  ]) {
    t.throws(() => bodyOf(schema), /names its fields/);
    t.throws(() => bodyOf(Type.Array(Nullable(Type.Object({ inner: schema })))), /names its fields/);
  }
});

t.test('the fields of a body have the names of the domain, and absent ones stay absent', async (t) => {
  t.strictSame(fieldsOf({ max_idle_seconds: 0, ends_at: null, labels: { a_b: 'x' } }), {
    maxIdleSeconds: 0,
    endsAt: null,
    labels: { a_b: 'x' },
  });
});
