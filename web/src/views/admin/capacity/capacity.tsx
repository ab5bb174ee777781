import { getCapacity } from '../../../api/admin.ts';
import { usePolled } from '../../../ui/hooks/use-loaded.ts';
import { Icon } from '../../../ui/icon.tsx';
import { LoadProblem } from '../../../ui/problem.tsx';
import { Loading, Section } from '../../../ui/section.tsx';
import { Machine } from './machine.tsx';
import { Stored } from './stored.tsx';
import { UsageByPerson } from './usage.tsx';

const EVERY_MS = 10_000;

/** How full the machine is, what is stored, and who uses it. */
export function CapacityPage() {
  const { value, failure, reload } = usePolled(getCapacity, EVERY_MS);
  const nodes = value?.nodes ?? [];
  const warnings = nodes.flatMap((node) => node.warnings);
  return (
    <>
      {value !== null && <LoadProblem of={{ failure, reload }} />}
      {warnings.length > 0 && (
        <ul class="capacity-warnings" aria-label="Warnings">
          {warnings.map(({ code, message }) => (
            <li key={`${code} ${message}`}>
              <Icon name="warning" size={18} />
              <span>{message}</span>
            </li>
          ))}
        </ul>
      )}
      {value === null && (
        <Section title="Machine">
          {failure === null ? <Loading /> : <LoadProblem of={{ failure, reload }} />}
        </Section>
      )}
      {nodes.map((node) => (
        <Machine
          key={node.name}
          node={node}
          title={nodes.length === 1 ? 'Machine' : `Machine ${node.name}`}
        />
      ))}
      {value !== null && <Stored capacity={value} />}
      <UsageByPerson />
    </>
  );
}
