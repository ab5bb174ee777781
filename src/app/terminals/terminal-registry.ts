import { randomUUID } from 'node:crypto';
import { unreachable } from '../../domain/result.ts';
import { tooManyKept } from '../../domain/terminals/kept-terminals.ts';
import { CLOSE, type CloseReason, type TerminalKey } from '../../domain/terminals/terminal.ts';
import { EMPTY, needsOpening, nextSlot } from '../../domain/terminals/terminal-slot.ts';
import type { Leaving, SlotEffect, SlotEvent } from '../../domain/terminals/terminal-slot-types.ts';
import type { Logger } from '../../ports/logger.ts';
import type { HeadlessTerminals } from '../../ports/terminals/headless-terminal.ts';
import { type TerminalEnding, terminalCleanup } from './cleanup/terminal-cleanup.ts';
import type { TerminalLeases } from './cleanup/terminal-leases.ts';
import type { TerminalTarget } from './opening/locate-terminal.ts';
import { ptyTerminal } from './output/pty-terminal.ts';
import { type ReadScheduler, readScheduler } from './output/read-scheduler.ts';
import type { TerminalStream } from './output/terminal-stream.ts';
import type { LiveTerminal } from './terminal-connections.ts';
import {
  type AttachRequest,
  type Entry,
  isOtherMode,
  keptIn,
  type Opened,
  type TerminalListener,
} from './terminal-entries.ts';
import { TerminalSockets } from './terminal-sockets.ts';

type OpenEffect = Extract<SlotEffect, { do: 'open' }>;
export type TerminalRegistryDeps = {
  readonly leases: TerminalLeases;
  readonly log: Logger;
  readonly monotonicMs: () => number;
  readonly listener: TerminalListener;
  readonly screens: HeadlessTerminals;
};

/** The state of this process's terminals: slots by key, also of lost clients, their streams, and open sockets. */
export class TerminalRegistry {
  readonly #deps: TerminalRegistryDeps;
  readonly #slots = new Map<TerminalKey, Entry>();
  readonly #streams = new Map<string, Opened>();
  readonly #sockets = new TerminalSockets();
  readonly #turns: ReadScheduler;
  readonly #ending: TerminalEnding;

  constructor(deps: TerminalRegistryDeps) {
    this.#deps = deps;
    this.#turns = readScheduler(deps.monotonicMs);
    this.#ending = terminalCleanup(deps.leases, deps.log);
  }

  /**
   * The stream for a socket; null when the socket closed during the wait. Throws opening errors. The caller must call
   * `leave`.
   */
  connect(
    target: TerminalTarget,
    { terminal, resumes, forceNew, started }: AttachRequest,
  ): Promise<TerminalStream | null> {
    const stream = this.#sockets.add(terminal, started);
    const socket = terminal.id;
    const entry = this.#slots.get(target.key);
    const otherMode = entry !== undefined && isOtherMode(entry, target);
    if (entry !== undefined) entry.target = target;
    this.#apply(target, { type: 'connect', socket, fresh: randomUUID(), resumes, forceNew, otherMode });
    return stream;
  }

  /** Whether such a socket gets a new stream. */
  needsOpening(
    target: TerminalTarget,
    { resumes, forceNew }: Pick<AttachRequest, 'resumes' | 'forceNew'>,
  ): boolean {
    const entry = this.#slots.get(target.key);
    if (entry === undefined) return true;
    return needsOpening(entry.slot, { resumes, forceNew, otherMode: isOtherMode(entry, target) });
  }

  /** Resolves when the socket's stream has opened or failed, even if the socket has gone. */
  async opening(socket: string): Promise<void> {
    await this.#sockets.get(socket)?.opening;
  }

  /** The socket's client knows its stream. */
  shown(target: TerminalTarget, socket: string): void {
    this.#apply(target, { type: 'shown', socket });
  }

  /** The socket has closed, or will not be used. */
  leave(target: TerminalTarget, socket: string, how: Leaving): void {
    const entry = this.#slots.get(target.key);
    if (entry !== undefined) entry.lostAt = this.find(socket)?.recordedAt ?? entry.lostAt;
    this.#sockets.remove(socket);
    this.#apply(target, { type: 'left', socket, how, nowMs: this.#deps.monotonicMs() });
  }

  /** Closes the sockets and ends the streams of one container, or of all. */
  shut(reason: CloseReason, dbId: string | null = null): void {
    if (reason === CLOSE.serviceRestarting) this.#ending.leaveWhatStays();
    for (const target of this.targets(dbId)) this.#shutOne(target, reason);
  }

  shutWhere(reason: CloseReason, isMeant: (target: TerminalTarget) => boolean): void {
    for (const target of this.targets()) if (isMeant(target)) this.#shutOne(target, reason);
  }

  shutKey(key: TerminalKey, reason: CloseReason): void {
    const entry = this.#slots.get(key);
    if (entry !== undefined) this.#shutOne(entry.target, reason);
  }

  /** The connection to the program of this stream broke. */
  detached(key: TerminalKey, stream: string): void {
    const entry = this.#slots.get(key);
    if (entry !== undefined) this.#apply(entry.target, { type: 'detached', stream });
  }

  /** Another process shows the key's terminal. */
  taken(key: TerminalKey): void {
    const entry = this.#slots.get(key);
    if (entry !== undefined) this.#apply(entry.target, { type: 'taken', nowMs: this.#deps.monotonicMs() });
  }

  /** Those with an open socket. */
  all(): readonly LiveTerminal[] {
    return this.#sockets.terminals();
  }

  count(): number {
    return this.#sockets.count();
  }

  find(id: string): LiveTerminal | null {
    return this.#sockets.get(id)?.terminal ?? null;
  }

  /** The newest with that key. */
  underKey(key: TerminalKey): LiveTerminal | null {
    return this.all().findLast((terminal) => terminal.key === key) ?? null;
  }

  /** When the record of the key's lost client was made; null without one. */
  lostAt(key: TerminalKey): Date | null {
    return this.#slots.get(key)?.lostAt ?? null;
  }

  has(key: TerminalKey): boolean {
    return this.#slots.has(key);
  }

  /** The targets of terminals, open or waiting: in one container, or in all. */
  targets(dbId: string | null = null): readonly TerminalTarget[] {
    const all = [...this.#slots.values()].map(({ target }) => target);
    return dbId === null ? all : all.filter((target) => target.dbId === dbId);
  }

  /** Ends terminals not resumed in time, and those too many for their users; for a timer. */
  tick(): void {
    const nowMs = this.#deps.monotonicMs();
    for (const target of this.targets()) this.#apply(target, { type: 'tick', nowMs });
    for (const { target, untilMs } of tooManyKept(keptIn(this.#slots, this.#streams)))
      this.#apply(target, { type: 'tick', nowMs: untilMs });
  }

  /** Waits for all ends. */
  idle(): Promise<void> {
    return this.#ending.idle();
  }

  #apply(target: TerminalTarget, event: SlotEvent): void {
    const entry = this.#slots.get(target.key) ?? { target, slot: EMPTY, lostAt: null };
    const { slot, effects } = nextSlot(entry.slot, event, target.isMain);
    entry.slot = slot;
    if (slot.kind === 'empty') this.#slots.delete(target.key);
    else this.#slots.set(target.key, entry);
    for (const effect of effects) this.#perform(target, effect);
    if (slot.kind === 'empty') this.#deps.listener.emptied(target.key);
  }

  #perform(target: TerminalTarget, effect: SlotEffect): void {
    switch (effect.do) {
      case 'open':
        this.#startOpening(target, effect);
        break;
      case 'attach':
        this.#sockets.get(effect.socket)?.settle(this.#streams.get(effect.stream)?.stream ?? null);
        break;
      case 'refuse':
        this.#sockets.get(effect.socket)?.fail(effect.fault);
        break;
      case 'close_socket':
        this.find(effect.socket)?.connection.close(effect.reason);
        this.#sockets.get(effect.socket)?.settle(null);
        break;
      case 'end_stream':
        this.#end(effect);
        break;
      default:
        unreachable(effect);
    }
  }

  #startOpening(target: TerminalTarget, effect: OpenEffect): void {
    const opening = this.#open(target, effect);
    const connected = this.#sockets.get(effect.socket);
    if (connected !== undefined) connected.opening = opening;
  }

  async #open(target: TerminalTarget, { stream, forceNew }: OpenEffect): Promise<void> {
    const { leases, screens, listener, monotonicMs } = this.#deps;
    try {
      const startAfter = leases.take(stream, target);
      const onStarted: AttachRequest['started'] = (session) => this.#started(target.key, stream, session);
      const start = { marker: stream, forceNew, startAfter, onStarted };
      const [isNew, pty] = await Promise.all([startAfter, target.open(start)]);
      const onOver = (): void => this.#apply(target, { type: 'program_ended', stream });
      const made = ptyTerminal(stream, pty, onOver, this.#turns, { screens, size: target.size });
      this.#streams.set(stream, { target, stream: made });
      // A late one ends at once; the key's recording is not of it.
      if (this.#watcher(target.key, stream) !== null) listener.opened(target.key, made);
      const muxed = pty.muxSession !== null;
      this.#apply(target, { type: 'opened', stream, muxed, isNew, nowMs: monotonicMs() });
    } catch (error) {
      leases.leave(stream);
      this.#apply(target, { type: 'open_failed', stream, fault: error, nowMs: monotonicMs() });
    }
  }

  /** A client that left has no record of its terminal. */
  #started(key: TerminalKey, stream: string, muxSession: string | null): void {
    const watcher = this.#watcher(key, stream);
    if (watcher && 'socket' in watcher) this.#sockets.get(watcher.socket)?.started(muxSession);
  }

  /** Who awaits the stream; null when nobody does. */
  #watcher(key: TerminalKey, stream: string) {
    const slot = this.#slots.get(key)?.slot;
    return slot?.kind === 'opening' && slot.stream === stream ? slot.watcher : null;
  }

  #end({ stream, withContainer }: Extract<SlotEffect, { do: 'end_stream' }>): void {
    const opened = this.#streams.get(stream);
    this.#streams.delete(stream);
    if (opened !== undefined) this.#ending.end(opened.target, opened.stream, withContainer);
  }

  #shutOne(target: TerminalTarget, reason: CloseReason): void {
    this.#apply(target, { type: 'shut', reason, isParticipant: target.participation !== null });
  }
}
