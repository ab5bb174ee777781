import { type Static, Type } from '@sinclair/typebox';
import { NamedObject, Nullable, OneOf, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

export const TerminalBody = NamedObject('Terminal', {
  id: Type.String(),
  user_id: Type.String(),
  username: Type.String(),
  container_id: Type.String(),
  container_name: Type.String(),
  connection_id: Type.String(),
  mux_session: Nullable(Type.String()),
  owner: Type.Boolean(),
  cols: Type.Integer(),
  rows: Type.Integer(),
  created_at: Timestamp,
  last_ping_at: Timestamp,
  client: Nullable(
    OneOf(['browser', 'command', 'ssh'], { description: '`command`: the command line, or another program.' }),
  ),
  ip_address: Nullable(Type.String({ description: 'Where it was opened from.' })),
  viewers: Type.Integer({ description: 'How many other terminals show the same session.' }),
  replica: Type.String(),
});

export const TerminalList = NamedObject('TerminalList', {
  terminals: Type.Array(TerminalBody),
  next_cursor: nextCursor,
});

export const ClosedTerminalBody = NamedObject('TerminalClosed', {
  id: Type.String(),
  closed: Type.Literal(true),
});

export const TerminalListQuery = listQuery(
  ['created_at', 'last_ping_at', 'username', 'container_name'],
  ['user_id', 'username', 'container_id', 'container_name', 'client', 'ip_address', 'replica'],
);

export type TerminalBody = Static<typeof TerminalBody>;
