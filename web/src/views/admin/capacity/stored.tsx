import type { Capacity } from '../../../api/types.ts';
import { disk, plural } from '../../../lib/format/format.ts';
import { Section } from '../../../ui/section.tsx';

type Amount = Capacity['stored']['volumes'];

/** What is stored of all users, and of the engine. */
export function Stored({ capacity: { stored, nodes } }: { readonly capacity: Capacity }) {
  const { ready, making } = stored.warm_pool;
  return (
    <Section
      title="Stored"
      lead="Everyone's containers, snapshots and recordings. The disk of containers is as last measured."
    >
      <dl class="limits">
        <Row label="Containers" amount={stored.volumes} one="container" />
        <Row
          label="Deleted containers"
          note="Kept for their owners for a time."
          amount={stored.deleted_containers}
          one="container"
        />
        <Row label="Snapshots" amount={stored.snapshots} one="snapshot" />
        <Row
          label="Deleted snapshots"
          note="Kept as long as deleted containers."
          amount={stored.deleted_snapshots}
          one="snapshot"
        />
        <Row label="Recordings" amount={stored.recordings} one="recording" />
        {nodes.map(
          ({ name, images }) =>
            images !== null && (
              <Row
                key={name}
                label="Images"
                note="All of the engine's."
                amount={{ count: images.count, used_mb: images.size_mb }}
                one="image"
              />
            ),
        )}
        {ready + making > 0 && (
          <div>
            <dt>
              Warm pool <span>Started in advance, without an owner yet.</span>
            </dt>
            <dd>
              {ready} ready{making > 0 && `, ${making} starting`}
            </dd>
          </div>
        )}
      </dl>
    </Section>
  );
}

type RowProps = {
  readonly label: string;
  readonly note?: string;
  readonly amount: Amount;
  readonly one: string;
};

const Row = ({ label, note, amount: { count, used_mb }, one }: RowProps) => (
  <div>
    <dt>
      {label} {note && <span>{note}</span>}
    </dt>
    <dd>{count === 0 ? 'none' : `${plural(count, one)}, ${disk(used_mb)}`}</dd>
  </div>
);
