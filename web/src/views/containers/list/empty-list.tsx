import { Button } from '../../../ui/button.tsx';
import { Icon } from '../../../ui/icon.tsx';

type EmptyProps = {
  readonly onCreate: () => void;
  /** Whether some can be restored. */
  readonly hasDeleted: boolean;
};

export function EmptyList({ onCreate, hasDeleted }: EmptyProps) {
  if (hasDeleted) {
    return (
      <div class="empty">
        <Icon name="anchor" size={44} />
        <h2>No containers</h2>
        <p>
          Create one, or restore one that was <a href="/deleted">recently deleted</a>.
        </p>
        <Button kind="primary" icon="plus" onClick={onCreate}>
          Create a container
        </Button>
      </div>
    );
  }
  return (
    <div class="empty">
      <Icon name="anchor" size={44} />
      <h2>No containers yet</h2>
      <p>
        A container is your own Linux machine, isolated from those of other people. It starts in seconds, and
        files in <code>/workspace</code> are kept.
      </p>
      <Button kind="primary" icon="plus" onClick={onCreate}>
        Create your first container
      </Button>
    </div>
  );
}

export function NothingFound({ text, onClear }: { text: string; onClear: () => void }) {
  return (
    <div class="empty small">
      <p>
        No containers match
        {text === '' ? (
          ' this state'
        ) : (
          <>
            {' '}
            “<strong>{text}</strong>”
          </>
        )}
        .
      </p>
      <Button onClick={onClear}>Show all</Button>
    </div>
  );
}
