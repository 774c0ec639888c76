/** Files as they are sent: all of this must compile. */
import { createClient, type SetOf, type Upload } from "./gateway.js";

declare const file: Upload;
const client = createClient({ url: "" });

export async function right(): Promise<void> {
  const given: SetOf<"main", "user", "setAvatar"> = { name: "Ann", avatar: file, more: { tags: [] }, cover: file };
  await client.call("user", "setAvatar", { set: given, get: {} });
  await client.call("user", "setAvatar", { set: { name: "Ann", avatar: file }, get: {} });
  const own = { size: 1, type: "image/png", arrayBuffer: async () => new ArrayBuffer(1) };
  await client.send({ model: "user", act: "setAvatar", details: { set: { name: "Ann", avatar: own }, get: {} } });
}
