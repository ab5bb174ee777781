import { useEffect } from 'preact/hooks';
import { sentence } from '../api/errors.ts';
import type { Fault } from '../api/health.ts';
import { engineIsDown, followHealth, health } from '../state/health.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Icon } from '../ui/icon.tsx';

const HEADLINES: Readonly<Record<string, string>> = {
  engine: 'The container engine is not running, so containers cannot start',
  image: 'The default image is not ready yet',
  disk: 'Disk quotas cannot be enforced, so no container can be created',
  isolation: 'Containers are not isolated from each other and from this machine',
  database: 'Berth cannot reach its database',
};

/** Faults of the service, and how to fix them; nothing while there are none. */
export function HealthBanner() {
  useEffect(followHealth, []);
  const now = health.value;
  const faults = now?.faults.filter(({ part }) => !['image', 'disk'].includes(part) || !engineIsDown()) ?? [];
  if (faults.length === 0) return null;
  return (
    <section class="banner" role="status" aria-label="Service status">
      {faults.map((fault) => (
        <FaultLine key={fault.part} fault={fault} />
      ))}
      {faults.every(({ detail }) => detail === null) && (
        <p class="fault-note">Administrators can see the cause and how to fix it.</p>
      )}
    </section>
  );
}

function FaultLine({ fault }: { fault: Fault }) {
  return (
    <div class="fault">
      <Icon name="warning" size={18} />
      <div class="fault-text">
        <strong>{HEADLINES[fault.part] ?? `${fault.part} has a problem`}</strong>
        {fault.detail !== null && (
          <p>
            {sentence(fault.detail)} {fault.mend && `To fix it: ${fault.mend}.`}
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
