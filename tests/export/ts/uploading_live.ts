import { createClient, GatewayError } from "./gateway.js";
import { equal } from "./shape.js";

declare const process: { argv: string[] };
declare const console: { log(text: string): void };
declare const Blob: new (parts: unknown[], options?: object) => Blob;
declare const File: new (parts: unknown[], name: string) => Blob;
interface Blob { readonly size: number; readonly type: string; arrayBuffer(): Promise<ArrayBuffer> }

const client = createClient({ url: process.argv[2]! });
const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 1, 2]);
const one = await client.call("user", "setAvatar", { set: { name: "é", avatar: new Blob([png]) }, get: {} });
equal(one, { name: "é", files: [["blob", "image/png", 18], null], whole: true });

const more = { tags: [] };
const cover = new Blob(["cover"]);
const named = new File([png], "é \"x\".png");
const both = await client.call("user", "setAvatar", { set: { name: "Ann", avatar: named, more, cover }, get: {} });
equal(both, { name: "Ann", files: [["é \"x\".png", "image/png", 18], ["blob", "application/octet-stream", 5]], whole: true });

const lying = client.call("user", "setAvatar", { set: { name: "Ann", avatar: new File(["<svg/>"], "a.png") }, get: {} });
const refused = await lying.catch((error: unknown) => error);
equal(refused instanceof GatewayError && [refused.status, refused.message], [
  415,
  "set.avatar: the content must be image/png or image/jpeg",
]);
console.log("sent");
