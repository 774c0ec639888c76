export * from "./collection";
export * from "./commands";
export * from "./drafts";
export * from "./empty";
export * from "./send";
export * from "./settings";
export * from "./storage";
export * from "./tabs";
