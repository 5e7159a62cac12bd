import { createRequire } from "node:module";
import type jsQrType from "jsqr";
import type { Locator, Page } from "playwright-core";

/** A CommonJS module whose only export is the function. */
const readPixels = createRequire(import.meta.url)("jsqr") as typeof jsQrType.default;

interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: readonly number[];
}

/** What a camera pointed at the screen would read; undefined where it finds no code. */
export async function scanned(page: Page, where: Locator): Promise<string | undefined> {
  const picture = (await where.screenshot()).toString("base64");
  const { width, height, data } = (await page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob("${picture}"), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const { width, height, data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    return { width, height, data: [...data] };
  })()`)) as Pixels;
  return readPixels(Uint8ClampedArray.from(data), width, height)?.data;
}
