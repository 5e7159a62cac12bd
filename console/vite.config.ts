import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Static files with hashes in their names. Nothing is inlined: the page's policy allows files of this server alone. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react(), tailwindcss()],
  publicDir: false,
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2024",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    // On a busy machine it would tell whoever starts Setpoint which plugin took how long.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  server: { proxy: { "/v1": "http://127.0.0.1:7780", "/sign-in": "http://127.0.0.1:7780" } },
});
