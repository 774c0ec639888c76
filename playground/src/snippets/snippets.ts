/** A request as a command or program that sends it. */

import { hasNumerals, stringify, type JsonObject } from "../json";
import { bodyOf, type ActRequest } from "../state/request";
import { carriers, tokenHeaders } from "../state/carriers";
import { headers } from "../state/settings";
import { literal, python, shellWord, typescript } from "./literals";

export interface Snippet {
  language: "curl" | "httpie" | "python" | "client" | "typescript";
  label: string;
  text: string;
  /** In whose colours it is shown. */
  syntax: "shell" | "python" | "typescript";
}

interface Options {
  /** Without one the snippets read it from the environment variable GATEWAY_TOKEN and send it when it is there. */
  token?: string;
  /** The `Idempotency-Key`; empty for none. */
  key?: string;
  /** Of the request; the snippets read them from the folder where they run. */
  files?: readonly SentFile[];
}
interface SentFile {
  /** Of its field: `set.avatar`. */
  path: string;
  name: string;
}

/**
 * Return the request in several languages, with the headers that are on. A body with numbers whose digits
 * the languages would not keep is a text.
 *
 * `url` is that of the endpoint.
 */
export function snippets(request: ActRequest, url: string, { token, key = "", files = [] }: Options = {}): Snippet[] {
  const given: Given = { body: bodyOf(request), headers: headersNow(key, files.length > 0), url, token, files };
  return [
    { language: "curl", label: "curl", text: curlOf(given), syntax: "shell" },
    { language: "httpie", label: "HTTPie", text: httpieOf(given), syntax: "shell" },
    { language: "python", label: "Python", text: pythonOf(given), syntax: "python" },
    { language: "client", label: "Generated client", text: clientOf(request, given), syntax: "python" },
    { language: "typescript", label: "TypeScript", text: typescriptOf(given), syntax: "typescript" },
  ];
}

interface Given {
  body: ReturnType<typeof bodyOf>;
  headers: [string, string][];
  url: string;
  token: string | undefined;
  files: readonly SentFile[];
}

function headersNow(key: string, isForm: boolean): [string, string][] {
  const own = headers.value
    .filter(({ name, on }) => on && name.trim() && !isOwn(name.trim().toLowerCase()))
    .map(({ name, value }): [string, string] => [name.trim(), value.trim()]);
  const type: [string, string] = isForm ? ["X-Gateway", "1"] : ["Content-Type", "application/json"];
  return [type, ...(key ? [["Idempotency-Key", key] as [string, string]] : []), ...own];
}

function isOwn(name: string): boolean {
  return ["content-type", "idempotency-key"].includes(name) || tokenHeaders().some((own) => own.name.toLowerCase() === name);
}

/** Two words, each for itself: zsh does not split what one expansion gives. */
function fromEnvironment(name: string, before: string): string {
  return `\${GATEWAY_TOKEN:+-H} \${GATEWAY_TOKEN:+"${name}: ${before}$GATEWAY_TOKEN"}`;
}

function curlOf({ body, headers, url, token, files }: Given): string {
  const named = headers.map(([name, value]) => `-H ${shellWord(value ? `${name}: ${value}` : `${name};`)}`);
  const own = tokenHeaders().map(({ name, before }) =>
    token === undefined ? fromEnvironment(name, before) : token && `-H ${shellWord(`${name}: ${before}${token}`)}`,
  );
  const words = [
    `curl -sS --globoff ${shellWord(url)}`,
    ...named,
    ...own,
    ...(files.length ? [`--form-string ${shellWord(`${BODY_PART}=${stringify(body, 2)}`)}`] : [`--data-raw ${shellWord(stringify(body, 2))}`]),
    ...files.map(({ path, name }) => `-F ${shellWord(`${path}=@"${name.replace(/[\\"]/g, "\\$&")}"`)}`),
  ];
  return words.filter(Boolean).join(" \\\n  ") + "\n";
}

/** The part of a form that is the JSON. */
const BODY_PART = "gateway-body";

/** Names and values with a backslash or a separator of HTTPie in them would be read otherwise: those are escaped. */
function httpieOf({ body, headers, url, token, files }: Given): string {
  const plain = (name: string) => name.replace(/[\\:=@;]/g, "\\$&");
  const named = headers.map(([name, value]) => shellWord(value ? `${plain(name)}:${value}` : `${plain(name)};`));
  const own = tokenHeaders().map(({ name, before }) =>
    token === undefined
      ? `\${GATEWAY_TOKEN:+"${name}:${before}$GATEWAY_TOKEN"}`
      : token && shellWord(`${plain(name)}:${before}${token}`),
  );
  const parts = files.map(({ path, name }) => shellWord(`${plain(path)}@${name}`));
  const sent = files.length ? [shellWord(`${BODY_PART}=${stringify(body, 2)}`), ...parts] : [`--raw ${shellWord(stringify(body, 2))}`];
  const words = [`http --ignore-stdin ${files.length ? "--multipart " : ""}POST ${shellWord(url)}`, ...named, ...own, ...sent];
  return words.filter(Boolean).join(" \\\n  ") + "\n";
}

/** A program with the client of the view of downloads. */
function clientOf({ service, model, act, set, get }: ActRequest, { headers, url, token, files }: Given): string {
  const sent = token === undefined ? `os.environ.get("GATEWAY_TOKEN")` : token ? literal(token) : "None";
  const place = carriers.value[0];
  const isUsual = !place || (place.in === "header" && place.name === "token");
  const more = Object.fromEntries(headers.filter(([name]) => name !== "Content-Type" && name !== "X-Gateway"));
  const options = [
    ...(Object.keys(more).length ? [`headers=${python(more)}`] : []),
    ...(isUsual ? [] : [`token_from=${place.in}(${place.in === "bearer" ? "" : literal(place.name)})`]),
  ];
  // The digits of numbers stay as they are written.
  const part = (value: JsonObject) =>
    hasNumerals(value) ? `json.loads(${literal(stringify(value))})` : python(value, "    ");
  const whose = service === "main" ? "" : `\n    service=${literal(service)},`;
  const imports = [
    hasNumerals({ set, get }) && "import json\n",
    token === undefined && "import os\n",
    files.length > 0 && "from pathlib import Path\n",
  ].filter(Boolean).join("");
  const placed = files.map(({ path, name }) => `given${path.split(".").slice(1).map(indexOf).join("")} = Path(${literal(name)})\n`);
  const given = files.length ? `given = ${hasNumerals(set) ? part(set) : python(set)}\n${placed.join("")}` : "";
  return `${imports && `${imports}\n`}from gateway_types import Client${isUsual ? "" : `, ${place.in}`}  # of the downloads

client = Client(${[literal(url), sent, ...options].join(", ")})
${given}reply = client.call(
    ${literal(model)},
    ${literal(act)},${whose}
    set=${given ? "given" : part(set)},
    get=${part(get)},
)
print(reply)
`;
}

/** A key or an index of a path, in brackets. */
function indexOf(step: string): string {
  return `[${/^\d+$/.test(step) ? step : literal(step)}]`;
}

function pythonOf({ body, headers, url, token, files }: Given): string {
  const named = headers.map(([name, value]) => `    ${literal(name)}: ${literal(value)},\n`).join("");
  const given = tokenHeaders().map(({ name, before }) => token && `    ${literal(name)}: ${literal(before + token)},\n`);
  const [value, encoded] = hasNumerals(body)
    ? [literal(stringify(body)), "BODY.encode()"]
    : [python(body), "json.dumps(BODY).encode()"];
  const sent = files.length ? "form()" : encoded;
  const names = files.map(({ path, name }) => `    ${literal(path)}: ${literal(name)},\n`).join("");
  const form = `FILES = {
${names}}
BOUNDARY = secrets.token_hex(16)
HEADERS["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"


def form():
    parts = [("${BODY_PART}", "", ${encoded})]
    for path, name in FILES.items():
        with open(name, "rb") as file:
            quoted = name.replace('"', "%22")
            parts.append((path, f'; filename="{quoted}"', file.read()))
    lines = []
    for name, more, content in parts:
        head = f'--{BOUNDARY}\\r\\nContent-Disposition: form-data; name="{name}"{more}\\r\\n\\r\\n'
        lines += [head.encode(), content, b"\\r\\n"]
    return b"".join([*lines, f"--{BOUNDARY}--\\r\\n".encode()])


`;
  const read = tokenHeaders().map(({ name, before }) => `    HEADERS[${literal(name)}] = ${before ? `f"${before}{token}"` : "token"}\n`);
  const own = token === undefined ? `if token := os.environ.get("GATEWAY_TOKEN"):\n${read.join("")}` : "";
  return `import json
${own && "import os\n"}${files.length ? "import secrets\n" : ""}import urllib.error
import urllib.request

URL = ${literal(url)}
HEADERS = {
${named}${given.filter(Boolean).join("")}}
BODY = ${value}
${files.length ? form : "\n"}${own}request = urllib.request.Request(URL, ${sent}, HEADERS)
try:
    with urllib.request.urlopen(request, timeout=30) as reply:
        envelope = json.load(reply)
except urllib.error.HTTPError as refused:
    envelope = json.load(refused)
print(json.dumps(envelope, indent=2))
`;
}

function typescriptOf({ body, headers, url, token, files }: Given): string {
  const named = headers.map(([name, value]) => `    ${literal(name)}: ${literal(value)},\n`).join("");
  const given = tokenHeaders().map(({ name, before }) => token && `    ${keyOf(name)}: ${literal(before + token)},\n`);
  const sent = hasNumerals(body) ? literal(stringify(body)) : `JSON.stringify(${typescript(body, "  ")})`;
  const read = tokenHeaders().map(({ name, before }) => {
    const value = "process.env.GATEWAY_TOKEN";
    return `${keyOf(name)}: ${before ? `\`${before}\${${value}}\`` : value}`;
  });
  const own = token === undefined ? `    ...(process.env.GATEWAY_TOKEN ? { ${read.join(", ")} } : {}),\n` : "";
  const parts = files.map(({ path, name }) => `form.append(${literal(path)}, await openAsBlob(${literal(name)}), ${literal(name)});\n`);
  const form = `const form = new FormData();
form.append("${BODY_PART}", ${sent});
${parts.join("")}
`;
  const start = files.length ? `import { openAsBlob } from "node:fs";\n\n` : "";
  return `${start}type Envelope = { success: true; body: unknown } | { success: false; body: { message: string } };

${files.length ? form : ""}const reply = await fetch(${literal(url)}, {
  method: "POST",
  headers: {
${named}${given.filter(Boolean).join("")}${own}  },
  body: ${files.length ? "form" : sent},
});
const envelope = (await reply.json()) as Envelope;
console.log(JSON.stringify(envelope, null, 2));
export {};
`;
}

function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : literal(name);
}
