/** Parts that are loaded when they are first shown. */

import type { FunctionComponent } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** Return a hook that gives what is loaded when it is first used: undefined until it is there, text when it failed. */
export function loadedOnce<Part>(load: () => Promise<Part>): () => Part | string | undefined {
  let found: Part | string | undefined;
  // A style that did not load is not asked for again: the part would come without it.
  let loading: Promise<unknown> | undefined;
  return () => {
    const [part, setPart] = useState(() => found);
    useLayoutEffect(() => {
      loading ??= load().then(
        (loaded) => (found = loaded),
        (error: unknown) => (found = String(error)),
      );
      // Also when it is there by now: this was perhaps drawn just before it came.
      void loading.then(() => setPart(() => found));
    }, []);
    return part;
  };
}

export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  waiting = "Loading…",
): FunctionComponent<Props> {
  const usePart = loadedOnce(load);
  return function Lazy(props: Props) {
    const Part = usePart();
    if (!Part) return <p class="loading">{waiting}</p>;
    if (typeof Part !== "string") return <Part {...props} />;
    return (
      <p class="loading">
        This part did not load: {Part}{" "}
        <button type="button" class="button small" onClick={() => location.reload()}>
          Reload the page
        </button>
      </p>
    );
  };
}
