import type { Me } from '../../api/types.ts';
import { limitLines } from '../../lib/format/use-limits.ts';
import { Section } from '../../ui/section.tsx';

/** The limits of the user's tier. */
export function Limits({ profile: { tier, limits } }: { profile: Me }) {
  return (
    <Section
      title="Your limits"
      lead={`Your tier is “${tier}”. All your sessions and API tokens share its limits. An administrator can change your tier.`}
    >
      <dl class="limits">
        {limitLines(limits).map(({ label, value, note }) => (
          <div key={label}>
            <dt>
              {label}
              <span>{note}</span>
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
