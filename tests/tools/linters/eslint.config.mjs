// The sets that need types are for `use.ts`: what a program does with the module.
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  tseslint.configs[process.env.RULES],
  { languageOptions: { parserOptions: { projectService: true } } },
);
