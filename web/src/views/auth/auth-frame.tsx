import type { ComponentChildren } from 'preact';
import { useTitle } from '../../ui/hooks/use-title.ts';
import { Icon } from '../../ui/icon.tsx';
import { ThemeButton } from '../theme-button.tsx';

type FrameProps = {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** The card around sign-in, registration and set-up. */
export function AuthFrame({ title, lead, children }: FrameProps) {
  useTitle(title);
  return (
    <main class="auth">
      <div class="auth-corner">
        <ThemeButton />
      </div>
      <div class="auth-card">
        <div class="auth-mark">
          <Icon name="anchor" size={28} />
          <span>Berth</span>
        </div>
        <h1>{title}</h1>
        {lead && <p class="lead">{lead}</p>}
        {children}
      </div>
    </main>
  );
}
