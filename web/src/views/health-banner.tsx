import { useEffect } from 'preact/hooks';
import { sentence } from '../api/errors.ts';
import type { Fault } from '../api/health.ts';
import { engineIsDown, followHealth, health } from '../state/health.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Icon } from '../ui/icon.tsx';

const HEADLINES: Readonly<Record<string, string>> = {
  engine: 'The container engine does not run, so containers cannot be started',
  image: 'The default image is not ready yet',
  disk: 'The size of volumes cannot be kept, so no container can be created',
  isolation: 'Containers are not shut off from each other and from this machine',
  database: 'The database cannot be reached',
};

/** What of the service is not well, and how to mend it. Nothing while all is. */
export function HealthBanner() {
  useEffect(followHealth, []);
  const now = health.value;
  const faults = now?.faults.filter(({ part }) => !['image', 'disk'].includes(part) || !engineIsDown()) ?? [];
  if (faults.length === 0) return null;
  return (
    <section class="banner" role="status" aria-label="State of the service">
      {faults.map((fault) => (
        <FaultLine key={fault.part} fault={fault} />
      ))}
      {faults.every(({ detail }) => detail === null) && (
        <p class="fault-note">Administrators see why, and how to mend it.</p>
      )}
    </section>
  );
}

function FaultLine({ fault }: { fault: Fault }) {
  return (
    <div class="fault">
      <Icon name="warning" size={18} />
      <div class="fault-text">
        <strong>{HEADLINES[fault.part] ?? `${fault.part} is not well`}</strong>
        {fault.detail !== null && (
          <p>
            {sentence(fault.detail)} {fault.mend && `To mend it: ${fault.mend}.`}
          </p>
        )}
        {fault.command && (
          <div class="command">
            <code>{fault.command}</code>
            <CopyButton text={fault.command} label="Copy the command" />
          </div>
        )}
      </div>
    </div>
  );
}
