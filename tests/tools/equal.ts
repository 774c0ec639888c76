/** Fail unless two values are the same JSON. */
export function equal(found: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${left} is not ${right}`);
}
