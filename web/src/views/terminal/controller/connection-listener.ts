import type { ConnectionListener } from '../../../../../src/client/terminal/connection-types.ts';
import type { Resumed } from '../../../../../src/client/terminal/resume.ts';
import type { EndReason, Size } from '../../../../../src/client/terminal/terminal-protocol.ts';
import type { ServerFrame } from '../../../../../src/protocol/terminal-frames.ts';
import { noteUnseen } from '../../../lib/browser/tab-icon.ts';
import type { OutputGate } from '../../../terminal/output-gate.ts';
import type { Screen } from '../../../terminal/screen/screen.ts';
import type { TerminalView } from './terminal-view.ts';

type RuledSize = { readonly [S in keyof Size]: number | null };

function rule(view: TerminalView, screen: Screen, { cols, rows }: RuledSize): void {
  const size = cols === null || rows === null ? undefined : { cols, rows };
  view.ruled.value = size !== undefined;
  screen.fit(size);
}

/** The note of a plain shell says the same, and stays. */
const OF_A_PLAIN_SHELL = /^tmux could not start/;

function onFrame(view: TerminalView, screen: Screen, frame: ServerFrame): void {
  if (frame.type === 'pong') view.latencyMs.value = Math.max(0, Math.round(performance.now() - frame.t));
  else if (frame.type === 'notice')
    view.notice.value = OF_A_PLAIN_SHELL.test(frame.message) ? null : frame.message;
  else if (frame.type === 'participants') view.people.value = frame.participants;
  else if (frame.type === 'size') rule(view, screen, frame);
  else if (frame.type === 'recording') view.recording.value = frame.on ? frame.id : null;
  else if (frame.type === 'on_screen') screen.scrollback.answered(frame);
  else if (frame.type === 'redrawn') screen.scrollback.redrawn(frame.id);
}

/** Ends after which the user may no longer see the output. */
const NOT_THEIRS: readonly EndReason[] = ['collaboration_ended', 'unauthorized', 'refused'];

export const connectionListener = (
  view: TerminalView,
  screen: Screen,
  gate: OutputGate,
  onResumed: (how: Resumed) => void,
): ConnectionListener => ({
  state: (state) => {
    view.connection.value = state;
    if (state.kind === 'open') view.everOpen.value = true;
    if (state.kind === 'over') screen.scrollback.ended();
    if (state.kind === 'over' && NOT_THEIRS.includes(state.why)) screen.terminal.reset();
  },
  health: (health) => {
    view.health.value = health;
  },
  bytes: (data) => {
    screen.scrollback.output();
    noteUnseen('output');
    gate.push(data);
  },
  resumed: (how, ready) => {
    const isMuxed = ready.mux_session !== null;
    view.readOnly.value = ready.mode === 'view';
    if (how !== 'exact') view.plainShell.value = ready.fallback;
    gate.connected(isMuxed, how === 'exact');
    screen.scrollback.connected(isMuxed, how === 'exact');
    view.isOwner.value = ready.owner;
    // The service announces a running recording again.
    view.recording.value = null;
    screen.terminal.options.disableStdin = view.readOnly.value;
    view.people.value = [];
    rule(view, screen, { cols: null, rows: null });
    onResumed(how);
  },
  frame: (frame) => onFrame(view, screen, frame),
});
