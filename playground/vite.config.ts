import { defineConfig } from "vite";

// Relative URLs: the page works below any prefix. Equal source gives equal bytes: names hold a hash, nothing a time.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../gatewayfw/playground/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
});
