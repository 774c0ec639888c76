/** A picture that is here: chosen in the form, or fetched. */

import { useEffect, useState } from "preact/hooks";

/** The types of pictures that cannot hold a script. */
const SHOWN = /^image\/(avif|gif|jpeg|png|webp)$/;
/** The most bytes of one that is shown. */
const MOST_SHOWN = 10_000_000;

export function isShown(type: string, size: number): boolean {
  return SHOWN.test(type) && size <= MOST_SHOWN;
}

/** Nothing where it is no picture that may be shown. */
export function Picture({ blob, name, class: look }: { blob: Blob; name: string; class: string }) {
  const [address, setAddress] = useState("");
  useEffect(() => {
    if (!isShown(blob.type, blob.size)) return setAddress("");
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return address ? <img class={look} src={address} alt={`Preview of ${name}`} /> : null;
}
