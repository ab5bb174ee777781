import { useEffect } from 'preact/hooks';
import { sentence } from '../api/errors.ts';
import type { Fault } from '../api/health.ts';
import { session } from '../session/session.ts';
import { engineIsDown, followHealth, health } from '../state/health.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Icon } from '../ui/icon.tsx';

/** For those who can do nothing about it: what it means for them. */
const PLAINLY: Readonly<Record<string, string>> = {
  engine: 'Containers cannot start at the moment',
  image: 'New containers are not ready yet',
  disk: 'No container can be created at the moment',
  isolation: 'A security check of this service has failed',
  database: 'Berth is not fully working at the moment',
};

/** For administrators. */
const HEADLINES: Readonly<Record<string, string>> = {
  engine: 'The container engine is not running, so containers cannot start',
  image: 'The default image is not ready yet',
  disk: 'Disk quotas cannot be enforced, so no container can be created',
  isolation: 'Containers are not isolated from each other and from what is around them',
  database: 'Berth cannot reach its database',
};

/** Faults of the service, and for administrators how to fix them; nothing while there are none. */
export function HealthBanner() {
  useEffect(followHealth, []);
  const now = health.value;
  const faults = now?.faults.filter(({ part }) => !['image', 'disk'].includes(part) || !engineIsDown()) ?? [];
  if (faults.length === 0) return null;
  const { value: who } = session;
  const isAdmin = who.kind === 'signed_in' && who.user.role === 'admin';
  return (
    <section class="banner" role="status" aria-label="Service status">
      {faults.map((fault) => (
        <FaultLine key={fault.part} fault={isAdmin ? fault : withoutCause(fault)} isAdmin={isAdmin} />
      ))}
      {!isAdmin && <p class="fault-note">Your administrators see why, and what to do.</p>}
    </section>
  );
}

/** Commands for root are no business of others, whoever was signed in here before. */
const withoutCause = ({ part, status }: Fault): Fault => ({
  ...{ part, status, detail: null, mend: null, command: null },
});

function FaultLine({ fault, isAdmin }: { fault: Fault; isAdmin: boolean }) {
  const words = isAdmin ? HEADLINES : PLAINLY;
  return (
    <div class="fault">
      <Icon name="warning" size={18} />
      <div class="fault-text">
        <strong>{words[fault.part] ?? `${fault.part} has a problem`}</strong>
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
