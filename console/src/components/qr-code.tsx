import { encode } from "uqr";

/** Read by a camera in both themes: dark modules on a light ground, with the four modules of silence that readers look for. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, data } = encode(text, { ecc: "M", border: 4 });
  const modules = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-52 shrink-0 rounded-md border border-line"
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path fill="#000000" d={modules.join("")} />
    </svg>
  );
}
