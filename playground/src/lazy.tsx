/** Parts that are loaded when they are first shown. */

import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  waiting = "Loading…",
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined;
  // A style that did not load is not asked for again: the part would come without it.
  let problem = "";
  return function Lazy(props: Props) {
    const [failed, setFailed] = useState(problem);
    const [, setReady] = useState(loaded !== undefined);
    useEffect(() => {
      let gone = false;
      if (!loaded && !problem)
        load().then(
          (part) => {
            loaded = part;
            if (!gone) setReady(true);
          },
          (error: unknown) => {
            problem = `This part did not load: ${String(error)}`;
            if (!gone) setFailed(problem);
          },
        );
      return () => {
        gone = true;
      };
    }, []);
    if (failed)
      return (
        <p class="loading">
          {failed}{" "}
          <button type="button" class="button small" onClick={() => location.reload()}>
            Reload the page
          </button>
        </p>
      );
    if (!loaded) return <p class="loading">{waiting}</p>;
    const Part = loaded;
    return <Part {...props} />;
  };
}
