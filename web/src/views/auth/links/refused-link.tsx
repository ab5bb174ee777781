import { BerthError } from '../../../api/errors.ts';
import { Problem } from '../../../ui/problem.tsx';
import { AuthFrame } from '../auth-frame.tsx';

const NO_CODE = new BerthError(404, 'link_not_valid', 'this link is not valid');

/** Instead of the form. */
export function RefusedLink({ title, failure }: { readonly title: string; readonly failure: unknown }) {
  return (
    <AuthFrame title={title}>
      <Problem failure={failure ?? NO_CODE} />
      <div class="auth-more">
        <p>
          Have an account? <a href="/sign-in">Sign in</a>
        </p>
      </div>
    </AuthFrame>
  );
}
