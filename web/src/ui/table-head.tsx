type TableHeadProps = {
  readonly columns: readonly (readonly [words: string, className?: string])[];
};

/** The heads of a table's columns; the last column has the buttons of the rows. */
export const TableHead = ({ columns }: TableHeadProps) => (
  <thead>
    <tr>
      {columns.map(([words, className]) => (
        <th key={words} scope="col" class={className}>
          {words}
        </th>
      ))}
      <td />
    </tr>
  </thead>
);
