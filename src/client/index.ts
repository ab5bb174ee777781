/** `berth/client`: a typed client of the HTTP and WebSocket interface, for Node.js and browsers. See docs/client.md. */
export { Berth, type BerthOptions, type CreateOptions } from './berth.ts';
export { Container } from './container.ts';
export type {
  AccountEvent,
  AnnouncementEvent,
  ContainerEvent,
  Event,
  HealthEvent,
  Resync,
  ServiceEvent,
} from './events/event.ts';
export type { Events, EventsOptions } from './events/follow-events.ts';

export type { AuditFilter, AuditFormat } from './groups/audit.ts';
export type { ContainerChange } from './groups/containers.ts';
export { CommandError, type RunOptions, type RunResult } from './inside/command.ts';
export type { ExecOptions } from './inside/exec.ts';
export type { CommandOutput } from './inside/exec-link.ts';
export type { Files, FolderEntry, OpenedFile, SearchOptions } from './inside/files.ts';
export type { LogOptions } from './inside/logs.ts';
export { RunningCommand } from './inside/running-command.ts';
export type { SshStream } from './inside/ssh.ts';
export type { FileEvent, WatchOptions } from './inside/watch-files.ts';
export type { AttachOptions } from './processes/attach-frames.ts';
export { AttachedProcess } from './processes/attached-process.ts';
export { Process, type ProcessOutput } from './processes/process.ts';
export type { OutputEnd, OutputOptions, OutputPiece } from './processes/process-output.ts';
export type { Processes, StartOptions } from './processes/processes.ts';
export type { RecordingEvent } from './recordings/recording-events.ts';
export type { Api, CallOptions, ListQuery, Schemas } from './request/api.ts';
export { BerthError, type FieldFaults, hasStatus } from './request/errors.ts';
export type { List } from './request/pages.ts';
export type { TokenSource } from './request/requester.ts';
export type { RetryPolicy } from './request/retry.ts';
export { socketBy, type WebSocketClass } from './socket/node-socket.ts';
export type { OpenSocket, Socket, SocketListener } from './socket/socket.ts';
export type { ConnectionState } from './terminal/connection-types.ts';
export { Terminal, type TerminalEnd, type TerminalOptions } from './terminal/terminal.ts';
export type { Size } from './terminal/terminal-protocol.ts';
export type { TerminalResume } from './terminal/terminal-resume.ts';
