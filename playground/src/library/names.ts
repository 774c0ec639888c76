/** Names of things and of files. */

/** Return a name that no other has: "name", "name 2". */
export function freeName(name: string, taken: readonly string[], between = " "): string {
  for (let count = 1; ; count++) {
    const tried = count === 1 ? name : `${name}${between}${count}`;
    if (!taken.includes(tried)) return tried;
  }
}

/** Return a file's name for a name: letters, digits, "-" and "_" only. */
export function fileName(name: string, between = "-"): string {
  const words = name.replace(/[^A-Za-z0-9_-]+/g, between);
  return words.replace(/^[-_]+|[-_]+$/g, "").slice(0, 60) || "unnamed";
}
