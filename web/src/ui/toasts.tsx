import { dismiss, keepToast, type ToastAction, toasts } from '../state/toasts.ts';
import { Button, IconButton } from './button.tsx';
import { Countdown } from './countdown/countdown.tsx';
import { Icon } from './icon.tsx';

/** Messages, read out as they come. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={`toast ${toast.kind}`} {...keeping(toast.id)}>
          <Icon name={toast.kind === 'ok' ? 'check' : 'warning'} size={18} />
          <div class="toast-text">
            <strong>{toast.title}</strong>
            {toast.next && (
              <p>{typeof toast.next === 'string' ? toast.next : <Countdown {...toast.next} />}</p>
            )}
          </div>
          {toast.action && <ToastButton id={toast.id} action={toast.action} />}
          <IconButton icon="close" label="Dismiss" onClick={() => dismiss(toast.id)} />
        </div>
      ))}
    </div>
  );
}

const keeping = (id: number) => ({
  onMouseEnter: () => keepToast(id, true),
  onMouseLeave: (event: MouseEvent) => keepToast(id, isRead(event.currentTarget)),
  onFocusIn: () => keepToast(id, true),
  onFocusOut: (event: FocusEvent) => keepToast(id, isRead(event.currentTarget)),
});

const isRead = (toast: EventTarget | null): boolean =>
  toast instanceof Element && (toast.matches(':hover') || toast.contains(document.activeElement));

function ToastButton({ id, action }: { id: number; action: ToastAction }) {
  const run = (): void => {
    dismiss(id);
    action.run();
  };
  return <Button onClick={run}>{action.label}</Button>;
}
