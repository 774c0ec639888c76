/** Code in colours; as plain text until that which colours it is loaded. */

import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { CodeProps } from "./coloured";

let loaded: FunctionComponent<CodeProps> | undefined;

export function Code(props: CodeProps) {
  const [, setReady] = useState(loaded !== undefined);
  useEffect(() => {
    const load = async () => {
      loaded = (await import("./coloured")).Coloured;
      setReady(true);
    };
    if (!loaded) load().catch(() => undefined); // It can be read without.
  }, []);
  const Coloured = loaded;
  return Coloured ? <Coloured {...props} /> : <>{props.text}</>;
}
