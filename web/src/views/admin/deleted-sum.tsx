import { getKeptSum } from '../../api/admin.ts';
import { disk, plural } from '../../lib/format/format.ts';
import { useLoaded } from '../../ui/hooks/use-loaded.ts';
import { LoadProblem } from '../../ui/problem.tsx';
import { Loading, Section } from '../../ui/section.tsx';

/** What the deleted containers of all users still use. */
export function DeletedSum() {
  const { value, failure, reload } = useLoaded(getKeptSum);
  return (
    <Section
      title="Deleted containers"
      lead="Everyone's containers. They are kept for as long as you set above."
    >
      <LoadProblem of={{ failure, reload }} />
      {failure === null && value === null && <Loading />}
      {value !== null && (
        <dl class="limits">
          <div>
            <dt>Kept</dt>
            <dd>{plural(value.count, 'container')}</dd>
          </div>
          <div>
            <dt>
              Disk space <span>As last measured, before the delete.</span>
            </dt>
            <dd>{disk(value.used_mb)}</dd>
          </div>
        </dl>
      )}
    </Section>
  );
}
