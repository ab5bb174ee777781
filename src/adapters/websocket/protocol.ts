import { type Static, Type } from '@sinclair/typebox';

/** First subprotocol of a terminal socket; the second one offered carries the token. */
export const TERMINAL_PROTOCOL = 'berth.terminal.v1';

/** Text frames from the client. Binary frames are bytes for the terminal; unknown types are ignored. */
export const ClientMessage = Type.Union([
  Type.Object({
    type: Type.Literal('resize'),
    cols: Type.Integer({ minimum: 1, maximum: 1000 }),
    rows: Type.Integer({ minimum: 1, maximum: 1000 }),
  }),
  Type.Object({ type: Type.Literal('ping'), t: Type.Number() }),
]);

export type ClientMessage = Static<typeof ClientMessage>;

/** Text frames from the service. Binary frames are bytes of the terminal. */
export type ServerMessage =
  | {
      readonly type: 'ready';
      readonly stream: string;
      /** Offset of the first output byte to follow. */
      readonly offset: number;
      readonly input_offset: number;
      readonly cols: number;
      readonly rows: number;
      readonly connection_id: string;
      readonly mux_session: string | null;
      readonly owner: boolean;
      readonly mode: 'control' | 'view';
    }
  | { readonly type: 'ack'; readonly input_offset: number }
  | { readonly type: 'pong'; readonly t: number }
  | { readonly type: 'notice'; readonly message: string }
  | { readonly type: 'exit'; readonly code: number | null };
