import { Fragment, type ComponentChildren } from "preact";
import { classes } from "./button";
import { Icon, type IconName } from "./icons";

export interface Column<Row> {
  key: string;
  title: ComponentChildren;
  cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  numeric?: boolean;
}

export interface TableProps<Row> {
  /** What the table shows, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  /** What stands below a row, over its whole width. */
  below?: (row: Row) => ComponentChildren;
}

export function Table<Row>({ label, columns, rows, rowKey, below }: TableProps<Row>) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="table">
        <thead>
          <tr>
            {columns.map(({ key, title, numeric }) => (
              <th key={key} scope="col" class={classes(numeric && "numeric")}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Fragment key={rowKey(row)}>
              <tr>
                {columns.map(({ key, cell, numeric }) => (
                  <td key={key} class={classes(numeric && "numeric")}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
              {below && (
                <tr class="table-below">
                  <td colSpan={columns.length}>{below(row)}</td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What is shown where there is nothing, and what to do about it. */
export function Empty({ icon, title, children }: { icon?: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      {icon && <Icon name={icon} />}
      <p class="empty-title">{title}</p>
      {children && <div class="empty-text">{children}</div>}
    </div>
  );
}

/** A small mark with a word: `ok`, `bad`, `warn` or plain. */
export function Badge({ children, look }: { children: ComponentChildren; look?: "ok" | "bad" | "warn" }) {
  return <span class={classes("badge", look)}>{children}</span>;
}
