import { createClient, GatewayError, type Reply, type Result } from "./gateway.js";
import type { Assert, Equal, Same } from "./shape.js";

type Card = { _id: string; first_name: string; organizations: { name: string }[] };
export type Cards = Assert<Equal<Result<"user", { first_name: 1; organizations: { name: 1 } }>, Card>>;

export async function cards(url: string, token: string): Promise<Card[]> {
  const client = createClient({ url, token });
  const { rows } = await client.call("user", "getUsers", { get: { first_name: 1, organizations: { name: 1 } } });
  return rows satisfies Same<typeof rows, Card[]>;
}

export async function rename(url: string, token: string, _id: string): Promise<string> {
  const client = createClient({ url, token, onError: (error) => error.code });
  const set = { activeRoleId: "1", _id, features: [{ feature: "exports" }] } as const;
  const reply = await client.send({ model: "user", act: "updateUser", details: { set, get: { email: 1, avatar: { path: 1 } } } });
  reply satisfies Same<typeof reply, Reply<{ _id: string; email: string; avatar?: { path?: string } }>>;
  return reply.success ? (reply.body.avatar?.path ?? reply.body.email) : reply.body.message;
}

export async function signIn(url: string): Promise<string | null> {
  try {
    const set = { email: "manager@example.com", password: "demo-manager" };
    const { token, roles } = await createClient({ url }).call("user", "login", { set, get: { token: 1, roles: 1 } });
    return roles.some((role) => role.name === "Manager") ? token : null;
  } catch (error) {
    if (error instanceof GatewayError && error.status === 401) return null;
    throw error;
  }
}
