/** What a refused request is told: the message, and each error with a way to its field. */

import type { Failure } from "../state";
import { notify } from "../ui";

export function FailureBox({ failure }: { failure: Failure }) {
  const errors = Object.entries(failure.errors ?? {});
  return (
    <div class="failure">
      <p>
        <strong>{headOf(failure, errors[0]?.[0])}</strong>
        {failure.code && <code>{failure.code}</code>}
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.map(([path, texts]) => (
            <li key={path}>
              <span>
                <button type="button" class="failure-path" onClick={() => goTo(path)}>
                  {path}
                </button>
                {numbered(path)}
              </span>{" "}
              <span>{texts.join(" ")}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The message without the errors, each of which has its own line. */
function headOf({ message }: Failure, path: string | undefined): string {
  const end = path === undefined ? -1 : message.indexOf(`: ${path}: `);
  return end > 0 ? message.slice(0, end) : message;
}

/** How the form calls an item of a list: it counts from 1, and paths from 0. */
function numbered(path: string): string {
  const item = /([^.]+)\.(\d+)(?!.*\.\d)/.exec(path);
  return item ? ` (${item[1]} ${Number(item[2]) + 1})` : "";
}

/** Put the focus on the field of a path, or the nearest above it. */
function goTo(path: string): void {
  for (let at = path; at; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const named = (attribute: string) => document.querySelector<HTMLElement>(`[${attribute}="${CSS.escape(at)}"]`);
    const field = named("data-path") ?? named("data-switch");
    if (!field) continue;
    field.scrollIntoView({ block: "center" });
    field.focus();
    return;
  }
  notify("This field is not in the form.");
}
