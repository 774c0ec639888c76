/** Each marked line must be an error, or this file is one. */
import { createClient, type Upload } from "./gateway.js";

declare const file: Upload;
const client = createClient({ url: "" });

export async function wrong(): Promise<void> {
  // @ts-expect-error the file is missing
  await client.call("user", "setAvatar", { set: { name: "Ann" }, get: {} });
  // @ts-expect-error a path is no file
  await client.call("user", "setAvatar", { set: { name: "Ann", avatar: "me.png" }, get: {} });
  // @ts-expect-error nor is nothing
  await client.call("user", "setAvatar", { set: { name: "Ann", avatar: null }, get: {} });
  // @ts-expect-error a name is no file
  await client.call("user", "setAvatar", { set: { name: file, avatar: file }, get: {} });
  // @ts-expect-error no such file
  await client.call("user", "setAvatar", { set: { name: "Ann", avatar: file, other: file }, get: {} });
}
