/** When the peer of a WebSocket was pinged, and whether it answered. */
export type Pulse = {
  /** When the oldest unanswered ping was sent, in ms of `performance.now()`; null when all are answered. */
  readonly askedAtMs: number | null;
  /** When the browser reported that the line is down: only the answer to a later ping counts. */
  readonly doubtedAtMs: number | null;
};

export type PulseTimes = {
  /** Without an answer for this long, the peer is `overdue`. */
  readonly overdueAfterMs: number;
  /** Without an answer for this long, the line is given up. */
  readonly silentAfterMs: number;
};

export type HeartbeatTimes = PulseTimes & { readonly pingEveryMs: () => number };

export type PulseState = 'answering' | 'overdue' | 'silent';

export const STEADY_PULSE: Pulse = { askedAtMs: null, doubtedAtMs: null };

/** A ping was sent. */
export const asked = (pulse: Pulse, nowMs: number): Pulse => ({
  ...pulse,
  askedAtMs: pulse.askedAtMs ?? nowMs,
});

/** Something arrived that may have been sent a while ago. */
export const heard = (pulse: Pulse): Pulse => (pulse.doubtedAtMs === null ? STEADY_PULSE : pulse);

/** The ping that was sent at `pingedAtMs` is answered. */
export const answered = (pulse: Pulse, pingedAtMs: number): Pulse =>
  pulse.doubtedAtMs === null || pingedAtMs >= pulse.doubtedAtMs ? STEADY_PULSE : pulse;

/** The browser reports that it is offline. That can be wrong, so the line stays open while the peer answers. */
export const doubted = (pulse: Pulse, nowMs: number): Pulse => ({
  askedAtMs: pulse.askedAtMs ?? nowMs,
  doubtedAtMs: nowMs,
});

export function pulseState(pulse: Pulse, nowMs: number, times: PulseTimes): PulseState {
  if (pulse.askedAtMs === null) return 'answering';
  const waitedMs = nowMs - pulse.askedAtMs;
  if (waitedMs >= times.silentAfterMs) return 'silent';
  return pulse.doubtedAtMs !== null || waitedMs >= times.overdueAfterMs ? 'overdue' : 'answering';
}

/** How long until the state changes by itself; null for never. */
export function untilChangeMs(pulse: Pulse, nowMs: number, times: PulseTimes): number | null {
  if (pulse.askedAtMs === null) return null;
  const waitedMs = nowMs - pulse.askedAtMs;
  const isOverdue = pulseState(pulse, nowMs, times) !== 'answering';
  return Math.max(0, (isOverdue ? times.silentAfterMs : times.overdueAfterMs) - waitedMs);
}

const VISIBLE_PING_EVERY_MS = 2_500;
const HIDDEN_PING_EVERY_MS = 25_000;

/** Outside of pages there is no document. */
type MaybePage = { readonly document?: { readonly visibilityState: string } };

/** A dead line is noticed within 5 s while the page is visible; a hidden page pings less often. */
export const HEARTBEAT_TIMES: HeartbeatTimes = {
  pingEveryMs: () =>
    (globalThis as MaybePage).document?.visibilityState === 'hidden'
      ? HIDDEN_PING_EVERY_MS
      : VISIBLE_PING_EVERY_MS,
  overdueAfterMs: 2_000,
  silentAfterMs: 8_000,
};

export type HeartbeatListener = {
  /** Send a ping that carries `t`. */
  ping(t: number): void;
  overdue(isOverdue: boolean): void;
  silent(): void;
};

/** A timer that fires this late shows that the program was busy or asleep, and answers may be waiting to be read. */
const LATE_MS = 500;

/** Pings at an interval, and reports missing answers. After `silent` or `stop` it reports nothing more. */
export class Heartbeat {
  readonly #times: HeartbeatTimes;
  readonly #listener: HeartbeatListener;
  #pulse: Pulse = STEADY_PULSE;
  #isOverdue = false;
  #wasLate = false;
  #beat: ReturnType<typeof setTimeout> | undefined;
  #deadline: ReturnType<typeof setTimeout> | undefined;

  constructor(times: HeartbeatTimes, listener: HeartbeatListener) {
    this.#times = times;
    this.#listener = listener;
  }

  get isOverdue(): boolean {
    return this.#isOverdue;
  }

  /** The first ping follows after `firstMs`. */
  begin(firstMs: number = this.#times.pingEveryMs()): void {
    clearTimeout(this.#beat);
    this.#beat = setTimeout(() => this.check(), firstMs);
  }

  /** Pings now; the next ping follows at the interval. */
  check(): void {
    this.begin();
    this.#become(asked(this.#pulse, performance.now()));
    this.#listener.ping(Math.round(performance.now()));
  }

  /** Overdue from now on, until a ping that is sent now or later is answered. */
  doubt(): void {
    this.#become(doubted(this.#pulse, Math.round(performance.now())));
    this.check();
  }

  heard(): void {
    if (this.#pulse.askedAtMs !== null) this.#become(heard(this.#pulse));
  }

  answered(pingedAtMs: number): void {
    this.#become(answered(this.#pulse, pingedAtMs));
  }

  /** Expects no answers until `begin`. */
  rest(): void {
    this.stop();
    this.#become(STEADY_PULSE);
  }

  stop(): void {
    clearTimeout(this.#beat);
    clearTimeout(this.#deadline);
  }

  #become(pulse: Pulse): void {
    this.#pulse = pulse;
    if (pulse.askedAtMs === null) this.#wasLate = false;
    this.#judge();
  }

  #judge(): void {
    const nowMs = performance.now();
    const state = pulseState(this.#pulse, nowMs, this.#times);
    const isOverdue = state !== 'answering';
    clearTimeout(this.#deadline);
    if (state === 'silent') {
      this.stop();
      this.#listener.silent();
      return;
    }
    const waitMs = untilChangeMs(this.#pulse, nowMs, this.#times);
    if (waitMs !== null) this.#deadline = setTimeout(() => this.#due(nowMs + waitMs), waitMs);
    if (isOverdue === this.#isOverdue) return;
    this.#isOverdue = isOverdue;
    this.#listener.overdue(isOverdue);
  }

  #due(dueAtMs: number): void {
    if (performance.now() - dueAtMs < LATE_MS || this.#wasLate) {
      this.#judge();
      return;
    }
    this.#wasLate = true;
    this.#deadline = setTimeout(() => this.#judge(), LATE_MS);
  }
}
