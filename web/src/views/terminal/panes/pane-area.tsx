import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { HEALTHY } from '../../../../../src/client/terminal/connection-types.ts';
import { reach } from '../../../lib/browser/server-reachability.ts';
import { adviceOnStop } from '../../../lib/format/disk-space.ts';
import { faultOf } from '../../../lib/outcome.ts';
import { start } from '../../../state/containers.ts';
import type { TerminalAction } from '../../../terminal/panes/shortcuts.ts';
import type { TerminalController } from '../controller/terminal-controller.ts';
import { TerminalOverlay } from '../overlay.tsx';
import { commonOverlay, type Known, nameOf, type Overlay, overlayOf } from '../overlay-state.ts';
import { PaneDivider } from './pane-divider.tsx';
import { PaneView } from './pane-view.tsx';
import type { Pane, Workspace } from './pane-workspace.ts';

/** Measures the workspace's area, before it is painted. */
function useArea(area: RefObject<HTMLElement | null>, workspace: Workspace): void {
  useLayoutEffect(() => {
    const element = area.current;
    if (element === null) return;
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = element;
      const now = workspace.area.peek();
      if (now.width !== width || now.height !== height) workspace.area.value = { width, height };
    };
    const observer = new ResizeObserver(measure);
    measure();
    observer.observe(element);
    return () => observer.disconnect();
  }, [workspace]);
}

const terminalsOf = (panes: readonly Pane[]): readonly TerminalController[] =>
  panes.flatMap(({ terminal }) => terminal.peek() ?? []);

/** Starts the container, and shows its terminals again. */
function useStart(known: Known, refresh: () => Promise<void>, workspace: Workspace) {
  const [starting, setStarting] = useState(false);
  const onStart = async (): Promise<void> => {
    if (typeof known !== 'object') return;
    setStarting(true);
    const started = await start(known);
    await refresh();
    setStarting(false);
    if (!started) return;
    // why: a stop and a start between two polls would go unnoticed
    for (const terminal of terminalsOf(workspace.panes.peek()))
      if (terminal.connection.peek()?.kind === 'over') terminal.open(false);
  };
  return { starting, onStart: () => void onStart() };
}

function overlayOfPane({ terminal: { value: terminal } }: Pane, known: Known): Overlay {
  const facts = {
    connection: terminal?.connection.value ?? null,
    everOpen: terminal?.everOpen.value ?? false,
    health: terminal?.health.value ?? HEALTHY,
    reach: reach.value,
  };
  return overlayOf(facts, known);
}

type OverlayOverProps = ReturnType<typeof useStart> & {
  readonly overlay: Overlay;
  readonly panes: readonly Pane[];
  readonly known: Known;
  readonly name: string;
  readonly takeFocus: boolean;
};

/** The overlay of some panes, whose terminals it opens again. */
function OverlayOver({ panes, known, ...overlay }: OverlayOverProps) {
  const container = typeof known === 'object' ? known : null;
  const sharedBy = container?.collaboration ? container.owner.username : null;
  return (
    <TerminalOverlay
      {...overlay}
      fault={container === null ? null : (faultOf(container)?.words ?? null)}
      spaceAdvice={container === null ? null : adviceOnStop(container)}
      sharedBy={sharedBy}
      isAgent={container?.agent !== undefined}
      onRetry={() => {
        for (const terminal of terminalsOf(panes)) terminal.nudge();
      }}
      onReopen={(fresh) => {
        for (const terminal of terminalsOf(panes)) terminal.open(fresh && sharedBy === null);
      }}
    />
  );
}

type PaneAreaProps = {
  readonly containerId: string;
  readonly workspace: Workspace;
  readonly known: Known;
  readonly refresh: () => Promise<void>;
  readonly onAction: (action: TerminalAction) => void;
};

/** All panes, their dividers, and their overlays. */
export function PaneArea({ containerId, workspace, known, refresh, onAction }: PaneAreaProps) {
  const area = useRef<HTMLElement>(null);
  useArea(area, workspace);
  const starting = useStart(known, refresh, workspace);
  // A container that is gone, or no longer shared, keeps its name here.
  const name = useRef<string | undefined>(undefined);
  name.current = nameOf(known, name.current);
  const [geometry, panes, active] = [workspace.geometry.value, workspace.panes.value, workspace.active.value];
  const overlays = new Map(panes.map((pane) => [pane, overlayOfPane(pane, known)]));
  // The countdown is that of the first, the active pane.
  const others = panes.filter((pane) => pane !== active);
  const common = commonOverlay([active, ...others].flatMap((pane) => overlays.get(pane) ?? []));
  const over = (overlay: Overlay, of: readonly Pane[], takeFocus: boolean) => (
    <OverlayOver
      {...starting}
      overlay={overlay}
      known={known}
      takeFocus={takeFocus}
      panes={of}
      name={name.current ?? ''}
    />
  );
  return (
    <main class="terminal-area" ref={area}>
      {geometry?.dividers.map((divider) => (
        <PaneDivider
          key={divider.path}
          divider={divider}
          origin={() => area.current?.getBoundingClientRect() ?? { left: 0, top: 0 }}
          onMove={(share) => workspace.resize(divider.path, share)}
        />
      ))}
      {geometry?.panes.map(({ pane: id, box }, at) => {
        const pane = workspace.pane(id);
        const overlay = overlays.get(pane) ?? { kind: 'none' };
        return (
          <PaneView
            key={id}
            containerId={containerId}
            workspace={workspace}
            pane={pane}
            box={box}
            label={panes.length > 1 ? `Pane ${at + 1} of ${panes.length}` : null}
            stacked={geometry.stacked}
            known={known}
            isOver={overlay.kind === 'over'}
            onAction={onAction}
          >
            {common === null && over(overlay, [pane], pane === active)}
          </PaneView>
        );
      })}
      {common !== null && over(common, panes, true)}
    </main>
  );
}
