/** What other programs read: made by the server from the same catalog. */

import { useState } from "preact/hooks";
import { fetchBeside } from "../catalog";
import { Code } from "../code";
import { WithCode } from "../library/words";
import { Button, CopyButton, saveFile } from "../ui";
import "./downloads.css";

interface Export {
  file: string;
  /** On its tile: the language or the kind of file. */
  mark: string;
  title: string;
  type: string;
  purpose: string;
}

const EXPORTS: readonly Export[] = [
  {
    file: "gateway.ts",
    mark: "TS",
    title: "TypeScript client",
    type: "text/typescript",
    purpose:
      "For front ends and Node. One module, no dependencies. Reply types follow your `get`, so the compiler catches fields you did not request.",
  },
  {
    file: "gateway_types.py",
    mark: "PY",
    title: "Python client",
    type: "text/x-python",
    purpose: "For Python scripts, services and tests. A typed client with a checked signature for every act.",
  },
  {
    file: "openapi.json",
    mark: "API",
    title: "OpenAPI 3.1",
    type: "application/json",
    purpose:
      "For API gateways, documentation and contract tests. Reply types cover every possible `get`.",
  },
  {
    file: "schema.json",
    mark: "{ }",
    title: "JSON Schema",
    type: "application/json",
    purpose: "For validation, forms and editors. The request of every act as JSON Schema (draft 2020-12).",
  },
];

export function Downloads() {
  return (
    <div class="page downloads">
      <h2 class="page-title">Downloads</h2>
      <p class="muted downloads-lead">Generated from the current acts and models.</p>
      <ul class="downloads-list">
        {EXPORTS.map((one) => (
          <Item key={one.file} {...one} />
        ))}
      </ul>
    </div>
  );
}

function Item({ file, mark, title, type, purpose }: Export) {
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
          <span class="downloads-mark" aria-hidden="true" data-mark={mark} />
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
        {isCut && <span class="muted small">Shows the beginning only. The download is complete.</span>}
      </div>
      <pre tabIndex={0} role="region" aria-label={file}>
        <Code text={isCut ? text.slice(0, MOST_SHOWN) : text} language={LANGUAGES[file.slice(file.lastIndexOf("."))] ?? "json"} />
      </pre>
    </div>
  );
}
