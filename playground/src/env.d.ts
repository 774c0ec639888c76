declare module "*.css";
interface ImportMeta { readonly env: { readonly DEV: boolean } }
declare module "*.svg" { const url: string; export default url; }
