import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { randomKey } from '../../../../../src/client/random-key.ts';
import { storedInTab, storeInTab } from '../../../lib/browser/storage.ts';
import { toastWarning } from '../../../state/toasts.ts';
import {
  type Area,
  type Direction,
  type Geometry,
  geometryOf,
  mayHalve,
  neighbourOf,
} from '../../../terminal/panes/pane-geometry.ts';
import { answerClaims, areTaken } from '../../../terminal/panes/pane-ownership.ts';
import {
  type Axis,
  closePane,
  MAIN_PANE,
  MAX_PANES,
  ONE_PANE,
  type PaneState,
  type Path,
  paneId,
  panesOf,
  readPanes,
  resizeSplit,
  splitPane,
} from '../../../terminal/panes/pane-tree.ts';
import type { PaneAction } from '../../../terminal/panes/shortcuts.ts';
import type { TerminalController } from '../controller/terminal-controller.ts';

/** A terminal of the page, by its connection id. */
export type Pane = {
  readonly id: string;
  /** null until its screen is there and fits. */
  readonly terminal: Signal<TerminalController | null>;
  /** How often the search has been requested since it opened; 0 while it is closed. */
  readonly searches: Signal<number>;
  /** Whether a split opened it on this page. */
  readonly isOpened: boolean;
};

const AXES: Partial<Readonly<Record<PaneAction, Axis>>> = { split_right: 'row', split_below: 'column' };
const DIRECTIONS: Partial<Readonly<Record<PaneAction, Direction>>> = {
  go_left: 'left',
  go_right: 'right',
  go_up: 'up',
  go_down: 'down',
};

/** The tab's stored panes; one pane when another tab has these now, as after a tab was duplicated. */
async function restored(key: string): Promise<PaneState> {
  const kept = readPanes(storedInTab(key));
  if (kept === null) return ONE_PANE;
  const others = panesOf(kept.layout).filter((pane) => pane !== MAIN_PANE);
  return others.length > 0 && (await areTaken(others)) ? ONE_PANE : kept;
}

/** The panes of a container's page: their layout, and which one is active. */
export class Workspace {
  /** The size of the panes' area. */
  readonly area = signal<Area>({ width: 0, height: 0 });
  /** Whether there may be more panes than one: a shared terminal is the main one alone. */
  readonly mayDivide = signal(false);
  readonly panes: ReadonlySignal<readonly Pane[]>;
  readonly active: ReadonlySignal<Pane>;
  /** null until the tab's stored panes are read. */
  readonly geometry: ReadonlySignal<Geometry | null>;
  readonly #key: string;
  readonly #state = signal<PaneState | null>(null);
  readonly #known = new Map<string, Pane>();

  /** The layout is stored for this user in this tab: another user starts with one pane. */
  constructor(containerId: string, userId: string) {
    this.#key = `panes.${userId}.${containerId}`;
    this.panes = computed(() => this.#ids(this.#state.value).map((id) => this.pane(id)));
    this.active = computed(() => this.pane(this.#state.value?.active ?? MAIN_PANE));
    this.geometry = computed(
      () => this.#state.value && geometryOf(this.#state.value.layout, this.area.value),
    );
  }

  /** Restores the tab's panes and stores their changes, until the returned function is called. */
  begin(): () => void {
    let gone = false;
    const cleanups: (() => void)[] = [];
    void restored(this.#key).then((state) => {
      if (gone) return;
      this.#state.value = state;
      cleanups.push(
        effect(() => this.#keep()),
        answerClaims((id) => id !== MAIN_PANE && this.has(id)),
      );
    });
    return () => {
      gone = true;
      for (const cleanup of cleanups) cleanup();
    };
  }

  pane(id: string, isOpened = false): Pane {
    const pane = this.#known.get(id) ?? { id, terminal: signal(null), searches: signal(0), isOpened };
    this.#known.set(id, pane);
    return pane;
  }

  has(id: string): boolean {
    return this.#ids(this.#state.peek()).includes(id);
  }

  activate(id: string): void {
    const now = this.#state.peek();
    if (now !== null && now.active !== id) this.#state.value = { ...now, active: id };
  }

  resize(path: Path, share: number): void {
    const now = this.#state.peek();
    if (now !== null) this.#state.value = { ...now, layout: resizeSplit(now.layout, path, share) };
  }

  /** A pane's shell has ended, so it goes; the main one stays, and says so. */
  ended(id: string): void {
    if (id !== MAIN_PANE) this.#remove(id);
  }

  act(action: PaneAction): void {
    if (!this.mayDivide.peek()) return;
    const [axis, direction] = [AXES[action], DIRECTIONS[action]];
    if (axis !== undefined) this.#split(axis);
    else if (direction !== undefined) this.#go(direction);
    else this.#close();
  }

  #split(axis: Axis): void {
    const [now, geometry] = [this.#state.peek(), this.geometry.peek()];
    if (now === null || geometry === null) return;
    if (geometry.panes.length >= MAX_PANES) {
      toastWarning(`You can have at most ${MAX_PANES} panes`, 'Close one of them first.');
    } else if (!mayHalve(geometry, now.active, axis)) {
      toastWarning('This pane is too small to split', 'Enlarge the pane or the window.');
    } else {
      const { id } = this.pane(paneId(randomKey()), true);
      this.#state.value = { layout: splitPane(now.layout, now.active, axis, id), active: id };
    }
  }

  #go(direction: Direction): void {
    const [now, geometry] = [this.#state.peek(), this.geometry.peek()];
    const next = now && geometry && neighbourOf(geometry, now.active, direction);
    if (next !== null) this.activate(next);
  }

  #close(): void {
    const { id } = this.active.peek();
    if (id !== MAIN_PANE) this.#remove(id);
    else
      toastWarning(
        'The main pane cannot be closed',
        'Its programs keep running when you leave the page. Close the other panes.',
      );
  }

  #remove(id: string): void {
    const now = this.#state.peek();
    const closed = now && closePane(now.layout, id);
    if (now === null || closed === null) return;
    this.#state.value = { layout: closed.layout, active: now.active === id ? closed.heir : now.active };
    this.#known.delete(id);
  }

  #keep(): void {
    const state = this.#state.value;
    storeInTab(this.#key, state === null || state.layout === MAIN_PANE ? null : JSON.stringify(state));
  }

  #ids(state: PaneState | null): readonly string[] {
    return state === null ? [] : panesOf(state.layout);
  }
}
