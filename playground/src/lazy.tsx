/** Parts that are loaded when they are first shown. */

import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  waiting = "Loading…",
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined;
  return function Lazy(props: Props) {
    const [failed, setFailed] = useState("");
    const [, setReady] = useState(loaded !== undefined);
    useEffect(() => {
      let gone = false;
      if (!loaded)
        load().then(
          (part) => {
            loaded = part;
            if (!gone) setReady(true);
          },
          (error: unknown) => gone || setFailed(`This part did not load: ${String(error)}`),
        );
      return () => {
        gone = true;
      };
    }, []);
    if (!loaded) return <p class="loading">{failed || waiting}</p>;
    const Part = loaded;
    return <Part {...props} />;
  };
}
