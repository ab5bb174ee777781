import type { Person } from '../../session/actions.ts';
import { PasswordField, TextField } from '../../ui/fields/field.tsx';
import { NAME_INPUT } from './sign-in.tsx';

type Field = {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly error: string | undefined;
};

export const NOBODY: Person = { email: '', username: '', password: '' };

type PersonFieldsProps = {
  readonly field: (name: keyof Person) => Field;
  /** What an invitation has decided. */
  readonly fixed?: { readonly email: boolean; readonly username: boolean };
};

/** The fields of every new account. */
export function PersonFields({ field, fixed }: PersonFieldsProps) {
  return (
    <>
      <TextField
        label="Email"
        {...field('email')}
        input={{
          name: 'email',
          type: 'email',
          autocomplete: 'email',
          required: true,
          readOnly: fixed?.email,
        }}
      />
      <UsernameField field={field('username')} readOnly={fixed?.username} />
      <PasswordField
        {...field('password')}
        hint="At least 8 characters. A few unrelated words make a good password."
        fresh
      />
    </>
  );
}

type UsernameFieldProps = { readonly field: Field; readonly readOnly?: boolean | undefined };

export const UsernameField = ({ field, readOnly }: UsernameFieldProps) => (
  <TextField
    label="Username"
    {...field}
    hint="Letters, digits, dots, hyphens and underscores."
    input={{
      name: 'username',
      autocomplete: 'username',
      required: true,
      maxLength: 39,
      readOnly,
      ...NAME_INPUT,
    }}
  />
);
