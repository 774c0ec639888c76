/** What other programs read: made by the server from the same catalog. */

import { useState } from "preact/hooks";
import { fetchBeside } from "../catalog";
import { Code } from "../code";
import { WithCode } from "../library/words";
import { Button, CopyButton, saveFile } from "../ui";
import "./downloads.css";

interface Export {
  file: string;
  title: string;
  type: string;
  purpose: string;
}

const EXPORTS: readonly Export[] = [
  {
    file: "gateway.ts",
    title: "TypeScript client",
    type: "text/typescript",
    purpose:
      "For front ends and Node: one module without dependencies. The type of a reply follows from your `get`, and the compiler reports fields you did not ask for.",
  },
  {
    file: "gateway_types.py",
    title: "Python client",
    type: "text/x-python",
    purpose: "For scripts, services and tests in Python: a typed client with a checked signature for each act.",
  },
  {
    file: "openapi.json",
    title: "OpenAPI 3.1",
    type: "application/json",
    purpose:
      "For tools that read OpenAPI, such as API gateways, documentation and contract tests. Reply types cover every possible `get`.",
  },
  {
    file: "schema.json",
    title: "JSON Schema",
    type: "application/json",
    purpose: "For validating requests, and for forms and editors: the request of each act as JSON Schema, draft 2020-12.",
  },
];

export function Downloads() {
  return (
    <div class="page downloads">
      <h2 class="page-title">Downloads</h2>
      <p class="muted downloads-lead">Generated from the current acts and models of this gateway.</p>
      <ul class="downloads-list">
        {EXPORTS.map((one) => (
          <Item key={one.file} {...one} />
        ))}
      </ul>
    </div>
  );
}

function Item({ file, title, type, purpose }: Export) {
  const [text, setText] = useState("");
  const [state, setState] = useState<"" | "loading" | "failed">("");
  const [problem, setProblem] = useState("");
  const load = async (use: (text: string) => void) => {
    setState("loading");
    try {
      use(text || (await fetchBeside(file)));
      setState("");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setState("failed");
    }
  };
  return (
    <li class="downloads-item">
      <div class="downloads-words">
        <h3>
          {title} <code class="muted">{file}</code>
        </h3>
        <p class="muted">
          <WithCode text={purpose} />
        </p>
      </div>
      <div class="row">
        <Button
          icon="download"
          disabled={state === "loading"}
          aria-label={`Download ${file}`}
          onClick={() => void load((got) => saveFile(file, got, type))}
        >
          Download
        </Button>
        <Button
          look="quiet"
          disabled={state === "loading"}
          aria-expanded={text !== ""}
          aria-label={`${text ? "Hide" : "Show"} ${file}`}
          onClick={() => (text ? setText("") : void load(setText))}
        >
          {text ? "Hide" : "Show"}
        </Button>
      </div>
      <p class="downloads-problem" role="alert">
        {state === "failed" ? `This server does not provide ${file}: ${problem}` : ""}
      </p>
      {text && <Shown file={file} text={text} />}
    </li>
  );
}

const MOST_SHOWN = 60_000;
const LANGUAGES: Partial<Record<string, "typescript" | "python">> = { ".ts": "typescript", ".py": "python" };

function Shown({ file, text }: { file: string; text: string }) {
  const isCut = text.length > MOST_SHOWN;
  return (
    <div class="downloads-shown">
      <div class="row">
        <CopyButton text={text} />
        {isCut && <span class="muted small">Only the beginning; the download is complete.</span>}
      </div>
      <pre tabIndex={0} role="region" aria-label={file}>
        <Code text={isCut ? text.slice(0, MOST_SHOWN) : text} language={LANGUAGES[file.slice(file.lastIndexOf("."))] ?? "json"} />
      </pre>
    </div>
  );
}
