import { useTitle } from '../ui/use-title.ts';

/** A path that leads nowhere. */
export function NotFound() {
  useTitle('Not found');
  return (
    <div class="empty">
      <h1>There is nothing here</h1>
      <p>
        The address may be mistyped, or what was here is gone. <a href="/">Go to your containers</a>
      </p>
    </div>
  );
}
