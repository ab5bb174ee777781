import type { ComponentChildren, RefObject } from 'preact';

type PageProps = {
  readonly title: string;
  /** The element of its heading, for `useHeadingFocus`. */
  readonly heading?: RefObject<HTMLHeadingElement | null>;
  /** Beside the heading. */
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** A page's heading, with the content below. */
export const Page = ({ title, heading, beside, children }: PageProps) => (
  <div class="page">
    <div class="page-head">
      <h1 tabIndex={-1} {...(heading && { ref: heading })}>
        {title}
      </h1>
      {beside}
    </div>
    {children}
  </div>
);

export const AllContainersLink = () => (
  <a class="button plain" href="/">
    All containers
  </a>
);
