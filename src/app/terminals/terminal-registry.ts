import { randomUUID } from 'node:crypto';
import { unreachable } from '../../domain/result.ts';
import { CLOSE, type CloseReason, type TerminalKey } from '../../domain/terminals/terminal.ts';
import {
  EMPTY,
  type Leaving,
  needsOpening,
  nextSlot,
  type Slot,
  type SlotEffect,
  type SlotEvent,
} from '../../domain/terminals/terminal-slot.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Screens } from '../../ports/terminals/headless-terminal.ts';
import type { Place } from './locate-terminal.ts';
import { type OutputTurns, outputTurns } from './output/read-scheduler.ts';
import { type TerminalStream, terminalStream } from './output/terminal-stream.ts';
import { type TerminalEnding, terminalEnding } from './terminal-cleanup.ts';
import type { TerminalLeases } from './terminal-leases.ts';

/** A socket that asks for a terminal. */
export type Asking = {
  readonly socket: string;
  readonly resumes: string | null;
  readonly forceNew: boolean;
  close(reason: CloseReason): void;
};

type Entry = { place: Place; slot: Slot };
/** `place` is where it was opened: a later socket of its key may ask for another session. */
type Opened = { readonly place: Place; readonly stream: TerminalStream };
type Present = {
  close: Asking['close'];
  settle(stream: TerminalStream | null): void;
  fail(error: unknown): void;
};

export type TerminalSlotsDeps = {
  readonly leases: TerminalLeases;
  readonly log: Logger;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
  /** Hears of every stream, and of keys under which there is none any more. */
  readonly listener: {
    opened(key: TerminalKey, stream: TerminalStream): void;
    emptied(key: TerminalKey): void;
  };
  readonly screens: Screens;
};

/** Whether the open stream and the new socket differ in mode: one may type, the other may only view. */
const isOtherMode = (entry: Entry, place: Place): boolean => entry.place.part?.mode !== place.part?.mode;

/** The terminals of this process by their key, also those that wait for a client whose line was lost. */
export class TerminalSlots {
  readonly #deps: TerminalSlotsDeps;
  readonly #slots = new Map<TerminalKey, Entry>();
  readonly #streams = new Map<string, Opened>();
  readonly #sockets = new Map<string, Present>();
  /** By the socket that asked. */
  readonly #opens = new Map<string, Promise<void>>();
  readonly #turns: OutputTurns;
  readonly #ending: TerminalEnding;

  constructor(deps: TerminalSlotsDeps) {
    this.#deps = deps;
    this.#turns = outputTurns(deps.monotonicMs);
    this.#ending = terminalEnding(deps.leases, deps.log);
  }

  /**
   * The stream to show to a socket; null when it was closed while it waited. Throws what opening throws. Whoever
   * asked must tell when it leaves.
   */
  connect(place: Place, { socket, resumes, forceNew, close }: Asking): Promise<TerminalStream | null> {
    const { promise, resolve, reject } = Promise.withResolvers<TerminalStream | null>();
    this.#sockets.set(socket, { close, settle: resolve, fail: reject });
    const entry = this.#slots.get(place.key);
    const otherMode = entry !== undefined && isOtherMode(entry, place);
    if (entry !== undefined) entry.place = place;
    this.#apply(place, { type: 'connect', socket, fresh: randomUUID(), resumes, forceNew, otherMode });
    return promise;
  }

  /** Whether a socket that asks for this gets a stream of its own. */
  needsOpening(place: Place, { resumes, forceNew }: Pick<Asking, 'resumes' | 'forceNew'>): boolean {
    const entry = this.#slots.get(place.key);
    if (entry === undefined) return true;
    return needsOpening(entry.slot, { resumes, forceNew, otherMode: isOtherMode(entry, place) });
  }

  /** When what the socket asked for was opened, or could not be, though the socket may have gone. */
  async opening(socket: string): Promise<void> {
    await this.#opens.get(socket);
  }

  /** The client of the socket was told of its stream. */
  shown(place: Place, socket: string): void {
    this.#apply(place, { type: 'shown', socket });
  }

  /** The socket has closed, or will not be used. */
  leave(place: Place, socket: string, how: Leaving): void {
    this.#sockets.get(socket)?.settle(null);
    this.#sockets.delete(socket);
    this.#apply(place, { type: 'left', socket, how, nowMs: this.#deps.monotonicMs() });
  }

  /** Closes the sockets and ends the streams of one container, or of all. */
  shut(reason: CloseReason, dbId: string | null = null): void {
    if (reason === CLOSE.serviceRestarting) this.#ending.leaveWhatStays();
    for (const place of this.places(dbId)) this.#shutOne(place, reason);
  }

  /** The same for those that are so. */
  shutWhere(reason: CloseReason, isMeant: (place: Place) => boolean): void {
    for (const place of this.places()) if (isMeant(place)) this.#shutOne(place, reason);
  }

  shutKey(key: TerminalKey, reason: CloseReason): void {
    const entry = this.#slots.get(key);
    if (entry !== undefined) this.#shutOne(entry.place, reason);
  }

  /** The line to this stream of the key broke, and with it what could be shown of the program. */
  detached(key: TerminalKey, stream: string): void {
    const entry = this.#slots.get(key);
    if (entry !== undefined) this.#apply(entry.place, { type: 'detached', stream });
  }

  /** Another process shows what is under the key. */
  taken(key: TerminalKey): void {
    const entry = this.#slots.get(key);
    if (entry !== undefined) this.#apply(entry.place, { type: 'taken', nowMs: this.#deps.monotonicMs() });
  }

  has(key: TerminalKey): boolean {
    return this.#slots.has(key);
  }

  /** Where there are terminals, open or waiting: in one container, or in all. */
  places(dbId: string | null = null): readonly Place[] {
    const all = [...this.#slots.values()].map(({ place }) => place);
    return dbId === null ? all : all.filter((place) => place.dbId === dbId);
  }

  /** Ends what was not resumed in time; for a timer. */
  tick(): void {
    const nowMs = this.#deps.monotonicMs();
    for (const place of this.places()) this.#apply(place, { type: 'tick', nowMs });
  }

  /** When all that was to end has ended. */
  idle(): Promise<void> {
    return this.#ending.idle();
  }

  #apply(place: Place, event: SlotEvent): void {
    const entry = this.#slots.get(place.key) ?? { place, slot: EMPTY };
    const { slot, effects } = nextSlot(entry.slot, event, place.isMain);
    entry.slot = slot;
    if (slot.kind === 'empty') this.#slots.delete(place.key);
    else this.#slots.set(place.key, entry);
    for (const effect of effects) this.#perform(place, effect);
    if (slot.kind === 'empty') this.#deps.listener.emptied(place.key);
  }

  #perform(place: Place, effect: SlotEffect): void {
    switch (effect.do) {
      case 'open':
        this.#opens.set(effect.socket, this.#open(place, effect));
        break;
      case 'attach':
        this.#sockets.get(effect.socket)?.settle(this.#streams.get(effect.stream)?.stream ?? null);
        break;
      case 'refuse':
        this.#sockets.get(effect.socket)?.fail(effect.fault);
        break;
      case 'close_socket':
        this.#sockets.get(effect.socket)?.close(effect.reason);
        this.#sockets.get(effect.socket)?.settle(null);
        break;
      case 'end_stream':
        this.#end(effect);
        break;
      default:
        unreachable(effect);
    }
  }

  async #open(
    place: Place,
    { stream, socket, forceNew }: Extract<SlotEffect, { do: 'open' }>,
  ): Promise<void> {
    const { leases, screens, listener, monotonicMs } = this.#deps;
    try {
      const isNew = await leases.take(stream, place);
      const pty = await place.open(stream, forceNew);
      const onOver = (): void => this.#apply(place, { type: 'program_ended', stream });
      const made = terminalStream(stream, pty, onOver, this.#turns, { screens, size: place.size });
      this.#streams.set(stream, { place, stream: made });
      // One that came too late is ended at once: what is recorded under the key is not of it.
      if (this.#isAwaited(place.key, stream)) listener.opened(place.key, made);
      const muxed = pty.muxSession !== null;
      this.#apply(place, { type: 'opened', stream, muxed, isNew, nowMs: monotonicMs() });
    } catch (error) {
      leases.leave(stream);
      this.#apply(place, { type: 'open_failed', stream, fault: error });
    } finally {
      this.#opens.delete(socket);
    }
  }

  #isAwaited(key: TerminalKey, stream: string): boolean {
    const slot = this.#slots.get(key)?.slot;
    return slot?.kind === 'opening' && slot.stream === stream;
  }

  #end({ stream, withContainer }: Extract<SlotEffect, { do: 'end_stream' }>): void {
    const opened = this.#streams.get(stream);
    this.#streams.delete(stream);
    if (opened !== undefined) this.#ending.end(opened.place, opened.stream, withContainer);
  }

  #shutOne(place: Place, reason: CloseReason): void {
    this.#apply(place, { type: 'shut', reason, takesPart: place.part !== null });
  }
}
