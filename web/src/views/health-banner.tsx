import { useEffect } from 'preact/hooks';
import { sentence } from '../api/errors.ts';
import type { Fault } from '../api/health.ts';
import { causesIn, headlineOf } from '../lib/fault-words.ts';
import { session } from '../session/session.ts';
import { followHealth, health } from '../state/health.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Icon } from '../ui/icon.tsx';

/** Faults of the service, and for administrators how to fix them; nothing while there are none. */
export function HealthBanner() {
  useEffect(followHealth, []);
  const faults = causesIn(health.value?.faults ?? []);
  if (faults.length === 0) return null;
  const { value: who } = session;
  const isAdmin = who.kind === 'signed_in' && who.user.role === 'admin';
  return (
    <section class="banner" role="status" aria-label="Server status">
      {faults.map((fault) => (
        <FaultLine key={fault.component} fault={isAdmin ? fault : withoutCause(fault)} isAdmin={isAdmin} />
      ))}
      {!isAdmin && <p class="fault-note">Your administrators see why, and what to do.</p>}
    </section>
  );
}

/** Commands for root are no business of others, whoever was signed in here before. */
const withoutCause = ({ component, status }: Fault): Fault => ({
  component,
  status,
  detail: null,
  reason: null,
  advice: null,
  command: null,
});

function FaultLine({ fault, isAdmin }: { fault: Fault; isAdmin: boolean }) {
  return (
    <div class="fault">
      <Icon name="warning" size={18} />
      <div class="fault-text">
        <strong>{headlineOf(fault, isAdmin)}</strong>
        {fault.detail !== null && (
          <p>
            {sentence(fault.detail)} {fault.advice && `To fix it: ${fault.advice}.`}
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
