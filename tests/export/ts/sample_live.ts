import { createClient } from "./gateway.js";
import { count, equal, row } from "./shape.js";

declare const process: { argv: string[] };
declare const console: { log(text: string): void };

const client = createClient({ url: process.argv[2]! });
const role = { roleId: 1, name: 1, "scopeType?": 1, "scopeId?": 1 } as const;
const file = { _id: 1, name: 1, type: 1, size: 1, "sha256?": 1, "path?": 1 } as const;
const organization = { _id: 1, name: 1, "description?": 1 } as const;
const member = { _id: 1, first_name: 1, last_name: 1, email: 1, "position?": 1, isActive: 1, "features?": [{ feature: 1 }] } as const;

const login = await client.call("user", "login", {
  set: { email: "manager@example.com", password: "demo-manager" },
  get: { token: 1, roles: 1, user: { first_name: 1, organizations: 1, units: { name: 1 } } },
});
row(login, {
  token: 1,
  roles: [role],
  user: { _id: 1, first_name: 1, organizations: [organization], units: [{ name: 1 }] },
});
if (!login.user || !login.roles[0]) throw new Error("no user");

const nobody = await client.send({ model: "user", act: "getMe", details: { get: {} } });
equal(nobody.success || [nobody.status, nobody.body.code], [401, "unauthenticated"]);
client.token = login.token;

const activeRoleId = login.roles[0].roleId;
const organizations = login.user.organizations.map((one) => one._id);
const picture = await client.call("file", "addFile", { set: { name: "a.png", type: "image/png", size: 1 }, get: { name: 1 } });
row(picture, { _id: 1, name: 1 });
const nina = await client.call("user", "addUser", {
  set: {
    activeRoleId,
    first_name: "Nina",
    last_name: "New",
    email: "nina@example.com",
    password: "a long password",
    features: [{ feature: "reports" }],
    avatar: picture._id,
    organizations,
  },
  get: { first_name: 1, isActive: 1, position: 1, features: 1, roles: 1, avatar: 1, organizations: { name: 1 }, units: 1 },
});
row(nina, {
  _id: 1,
  first_name: 1,
  "position?": 1,
  isActive: 1,
  "features?": [{ feature: 1 }],
  "roles?": [role],
  "avatar?": file,
  organizations: [{ name: 1 }],
  units: [{ _id: 1, name: 1 }],
});
equal([nina.isActive, nina.avatar?.name, nina.organizations.length, nina.units], [true, "a.png", 1, []]);

row(await client.call("user", "getMe", { get: { _id: 0, email: 1, avatar: 1, units: {} } }), {
  email: 1,
  "avatar?": file,
  units: [{ _id: 1 }],
});
const filter = { organizations: organizations[0]! };
row((await client.call("user", "getUsers", { set: { limit: 3, filter }, get: { email: 1 } })).rows, [{ _id: 1, email: 1 }]);
row((await client.call("organization", "getOrganizations", { get: { name: 1, users: 1, units: { name: 1, _id: 1 } } })).rows, [
  { _id: 1, name: 1, users: [member], units: [{ _id: 1, name: 1 }] },
]);
row((await client.call("unit", "getUnits", { get: { organization: 1, members: { features: 1, email: 1 } } })).rows, [
  { _id: 1, organization, members: [{ "features?": [{ feature: 1 }], email: 1 }] },
]);
row(await client.call("country", "addCountry", { set: { name: "Iceland", population: 390000 }, get: { cities: 1, population: 1 } }), {
  _id: 1,
  population: 1,
  cities: [{ _id: 1, name: 1 }],
});
row(await client.call("user", "removeUser", { set: { activeRoleId, _id: nina._id }, get: { deletedCount: 1, cascaded: 0 } }), {
  deletedCount: 1,
});
console.log(`${count()} rows`);
