import { useTitle } from '../ui/hooks/use-title.ts';

/** A path that leads nowhere. */
export function NotFound() {
  useTitle('Page not found');
  return (
    <div class="empty">
      <h1>Page not found</h1>
      <p>
        Check the address. The page may have been removed. <a href="/">Go to your containers</a>
      </p>
    </div>
  );
}
