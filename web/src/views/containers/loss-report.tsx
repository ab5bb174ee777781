import { useEffect, useState } from 'preact/hooks';
import { getChanges } from '../../api/containers/containers.ts';
import type { Changes } from '../../api/types.ts';
import { isUnlisted, lossLines } from '../../lib/loss-lines.ts';
import { Check } from '../../ui/fields/check.tsx';

type LossesProps = {
  readonly id: string;
  readonly keep: boolean;
  readonly onKeep: (keep: boolean) => void;
};

/** What recreating a container would lose, and the choice to keep it. */
export function Losses({ id, keep, onKeep }: LossesProps) {
  const [changes, setChanges] = useState<Changes | 'unknown' | null>(null);
  useEffect(
    () =>
      void getChanges(id).then(
        (found) => setChanges(isUnlisted(found) ? 'unknown' : found),
        () => setChanges('unknown'),
      ),
    [id],
  );
  const lines = changes === null || changes === 'unknown' ? [] : lossLines(changes);
  return (
    <>
      <Check
        label="Keep what was installed"
        checked={keep}
        onChange={onKeep}
        hint="This takes longer: Berth saves everything outside /workspace while the container is stopped."
      />
      <div class="losses" aria-live="polite">
        {changes === null && <p class="field-note">Checking what is outside /workspace…</p>}
        {changes === 'unknown' && <p class="field-note">Berth could not check what is outside /workspace.</p>}
        {changes !== null && changes !== 'unknown' && lines.length === 0 && (
          <p class="field-note">Nothing was installed outside /workspace.</p>
        )}
        {lines.length > 0 && (
          <>
            <p class="field-note">{keep ? 'This is kept:' : 'This would be lost:'}</p>
            <ul>
              {lines.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          </>
        )}
      </div>
    </>
  );
}
