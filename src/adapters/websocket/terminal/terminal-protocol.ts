import { type Static, Type } from '@sinclair/typebox';
import type { OnScreen } from '../../../ports/terminals/terminal-backend.ts';

/** First subprotocol of a terminal socket; the second one offered carries the token. */
export const TERMINAL_PROTOCOL = 'berth.terminal.v1';

const QuestionId = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** Text frames from the client. Binary frames are bytes for the terminal; unknown types are ignored. */
export const ClientMessage = Type.Union([
  Type.Object({
    type: Type.Literal('resize'),
    cols: Type.Integer({ minimum: 1, maximum: 1000 }),
    rows: Type.Integer({ minimum: 1, maximum: 1000 }),
  }),
  Type.Object({ type: Type.Literal('ping'), t: Type.Number() }),
  // The binary frames to come are input from this offset on.
  Type.Object({
    type: Type.Literal('input_from'),
    offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  }),
  // Somebody scrolls back. The answer has the id of the newest question.
  Type.Object({ type: Type.Literal('look_back'), id: Type.Optional(QuestionId) }),
  // The multiplexer is to draw its screen once more.
  Type.Object({ type: Type.Literal('redraw'), id: Type.Optional(QuestionId) }),
]);

export type ClientMessage = Static<typeof ClientMessage>;

/** Text frames from the service. Binary frames are bytes of the terminal. */
export type ServerMessage =
  | {
      readonly type: 'ready';
      readonly stream: string;
      /** Offset of the first output byte to follow. */
      readonly offset: number;
      /** What follows does not continue what the client has: its screen is drawn anew. */
      readonly redraw: boolean;
      /** Count of input bytes taken. */
      readonly input_offset: number;
      readonly cols: number;
      readonly rows: number;
      readonly connection_id: string;
      readonly mux_session: string | null;
      /** When the container was last started: programs of an earlier start have ended. */
      readonly started_at: string | null;
      /** tmux could not start: this is a plain shell. */
      readonly fallback: boolean;
      readonly owner: boolean;
      readonly mode: 'control' | 'view';
    }
  | { readonly type: 'ack'; readonly input_offset: number }
  | { readonly type: 'pong'; readonly t: number }
  | {
      readonly type: 'on_screen';
      readonly id: number | null;
      readonly program: OnScreen;
      /** Of a shell inside a multiplexer; else null. */
      readonly snapshot: {
        readonly cols: number;
        readonly rows: number;
        /** Rows above the screen, also those that are too old for `text`. */
        readonly history_rows: number;
        readonly cursor_x: number;
        readonly cursor_y: number;
        readonly text: string;
      } | null;
    }
  /** The multiplexer has been asked to draw; what it draws is output. */
  | { readonly type: 'redrawn'; readonly id: number | null }
  /** The size of the owner's window, which holds for all; nulls when everybody has their own again. */
  | { readonly type: 'size'; readonly cols: number | null; readonly rows: number | null }
  /** Who has the shared terminal open, the owner first; nobody when it is not shared any more. */
  | {
      readonly type: 'participants';
      readonly participants: readonly {
        readonly user_id: string;
        readonly username: string;
        readonly owner: boolean;
        readonly mode: 'control' | 'view';
      }[];
    }
  | { readonly type: 'notice'; readonly message: string }
  /** What this terminal shows is recorded from now on, or not any more. */
  | { readonly type: 'recording'; readonly on: boolean; readonly id: string }
  | { readonly type: 'exit'; readonly code: number | null };
