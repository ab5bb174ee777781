import type { FieldFaults } from '../../api/errors.ts';
import type { Person } from '../../session/actions.ts';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { NAME_INPUT } from './sign-in.tsx';

type PersonFieldsProps = {
  readonly person: Person;
  readonly onChange: (person: Person) => void;
  readonly faults: FieldFaults;
};

export const NOBODY: Person = { email: '', username: '', password: '' };

/** What every new account gives. */
export function PersonFields({ person, onChange, faults }: PersonFieldsProps) {
  return (
    <>
      <TextField
        label="Email"
        value={person.email}
        onInput={(email) => onChange({ ...person, email })}
        error={faults['email']}
        input={{ name: 'email', type: 'email', autocomplete: 'email', required: true }}
      />
      <TextField
        label="Username"
        value={person.username}
        onInput={(username) => onChange({ ...person, username })}
        error={faults['username']}
        hint="Letters, digits, dots, hyphens and underscores."
        input={{ name: 'username', autocomplete: 'username', required: true, maxLength: 39, ...NAME_INPUT }}
      />
      <PasswordField
        value={person.password}
        onInput={(password) => onChange({ ...person, password })}
        error={faults['password']}
        hint="At least 8 characters. A few unrelated words make a good password."
        fresh
      />
    </>
  );
}
