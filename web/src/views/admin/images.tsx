import { useState } from 'preact/hooks';
import type { Image } from '../../api/types.ts';
import { TextField, VERBATIM } from '../../ui/fields/field.tsx';
import { EntriesPage, type FormProps } from './entries.tsx';
import { EntryForm, NameFields } from './entry-form.tsx';

/** Images for new containers. */
export const Images = () => (
  <EntriesPage
    kind="images"
    title="Images"
    lead="Images for new containers. Existing containers keep theirs."
    add="Add an image"
    keyOf={({ key }) => key}
    labelOf={({ label }) => label}
    facts={({ key, reference, digest }) => (
      <>
        {key} · <span class="mono">{reference}</span> {digest !== null && '· pinned'}
      </>
    )}
    form={ImageForm}
  />
);

const NEW: Image = { key: '', label: '', reference: '', digest: null, shell: '/bin/bash' };
const FIELDS = ['key', 'label', 'reference', 'digest', 'shell'];

function ImageForm({ before, ...ending }: FormProps<Image>) {
  const [image, setImage] = useState(before ?? NEW);
  const set = (fields: Partial<Image>): void => setImage({ ...image, ...fields });
  const { key: _, ...change } = image;
  return (
    <EntryForm
      kind="images"
      noun="an image"
      before={before}
      label={image.label}
      body={() => (before === null ? image : change)}
      fields={FIELDS}
      {...ending}
    >
      {(faults) => (
        <>
          <NameFields of={image} isNew={before === null} example="alpine-3" onInput={set} faults={faults} />
          <TextField
            label="Reference"
            value={image.reference}
            onInput={(reference) => set({ reference: reference.trim() })}
            error={faults['reference']}
            hint="As in docker pull, for example docker.io/library/alpine:3.20."
            input={VERBATIM}
          />
          <TextField
            label="Digest"
            value={image.digest ?? ''}
            onInput={(digest) => set({ digest: digest.trim() === '' ? null : digest.trim() })}
            error={faults['digest']}
            hint="sha256:… pins this exact image. Leave it empty to use what the tag points to."
            input={VERBATIM}
          />
          <TextField
            label="Shell"
            value={image.shell}
            onInput={(shell) => set({ shell })}
            error={faults['shell']}
            hint="The program that terminals start."
            input={VERBATIM}
          />
        </>
      )}
    </EntryForm>
  );
}
