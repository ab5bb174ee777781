import type { ComponentChildren } from 'preact';
import { explain, waitSecondsOf } from '../api/explain.ts';
import { engineIsDown } from '../state/health.ts';
import { Button } from './button.tsx';
import { Countdown } from './countdown/countdown.tsx';
import { Icon } from './icon.tsx';

/** A failure, shown where it happened, and what to do next. */
export function Problem({ failure, children }: { failure: unknown; children?: ComponentChildren }) {
  const { title, link } = explain(failure, engineIsDown());
  return (
    <div class="problem" role="alert">
      <Icon name="warning" size={18} />
      <div>
        <strong>{title}</strong>
        <p>
          <Countdown
            seconds={waitSecondsOf(failure)}
            words={(left) => explain(failure, engineIsDown(), left).next}
          />
        </p>
        {link && (
          <a class="button plain" href={link.href}>
            {link.label}
          </a>
        )}
        {children}
      </div>
    </div>
  );
}

type LoadProblemProps = {
  readonly of: { readonly failure: unknown; readonly reload: () => Promise<void> };
};

/** Why something was not loaded, with another try; nothing while there is no failure. */
export const LoadProblem = ({ of: { failure, reload } }: LoadProblemProps) =>
  failure === null ? null : (
    <Problem failure={failure}>
      <Button onClick={() => void reload()}>Try again</Button>
    </Problem>
  );
