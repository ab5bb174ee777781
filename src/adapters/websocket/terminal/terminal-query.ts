import { type Static, Type } from '@sinclair/typebox';
import type { TerminalOptions } from '../../../app/terminals/opening/terminal-target.ts';
import { MAIN_CONNECTION } from '../../../domain/terminals/terminal.ts';

// Query values are text: 1 to 1000 without leading zeros.
const SCREEN = '^([1-9][0-9]{0,2}|1000)$';

export const TerminalQuery = Type.Object(
  {
    connection_id: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })),
    cols: Type.Optional(Type.String({ pattern: SCREEN })),
    rows: Type.Optional(Type.String({ pattern: SCREEN })),
    new: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false')])),
    record: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false')])),
    mode: Type.Optional(Type.Union([Type.Literal('view'), Type.Literal('control')])),
    // To resume a lost connection; both or neither.
    stream: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })),
    after: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
  },
  { additionalProperties: false },
);

export const toOptions = (query: Static<typeof TerminalQuery>): TerminalOptions => ({
  connectionId: query.connection_id ?? MAIN_CONNECTION,
  cols: Number(query.cols ?? 80),
  rows: Number(query.rows ?? 24),
  forceNew: query.new === 'true',
  record: query.record === 'true',
  viewOnly: query.mode === 'view',
  resume:
    query.stream === undefined || query.after === undefined
      ? null
      : { stream: query.stream, after: Number(query.after) },
});
