/** Runs inside the page, before any of its own scripts: how long things take there, as whoever sits in front of it has it. */
export const pageScript = `
const listen = EventSource.prototype.addEventListener;
EventSource.prototype.addEventListener = function (type, ...rest) {
  if (type === 'CHANGED') listen.call(this, type, ({ data }) => (bench.told += JSON.parse(data).resources.length));
  return listen.call(this, type, ...rest);
};
globalThis.bench = {
  /** Changes that the stream has told of so far. */
  told: 0,
  frame: () => new Promise((resolve) => requestAnimationFrame(resolve)),
  async until(selector) {
    while (document.querySelector(selector) === null) await bench.frame();
  },
  /** Milliseconds from when the address was asked for until this is on the screen. */
  async sinceAsked(selector) {
    await bench.until(selector);
    // What is in the page now is on the screen with the next frame.
    await bench.frame();
    return performance.now();
  },
  /** Scrolls the table at an even pace, and looks in every frame whether the rows that are drawn fill it. */
  async scroll(pixelsPerSecond, forMs) {
    const table = document.querySelector('[role=region][aria-label=Resources]');
    const head = table.querySelector('thead').getBoundingClientRect().height;
    const rowPixels = table.querySelector('tbody tr:not([aria-hidden])').getBoundingClientRect().height;
    const frames = [];
    let [blank, waited, past] = [0, 0, await bench.frame()];
    for (const endMs = past + forMs; past < endMs; ) {
      const now = await bench.frame();
      frames.push(now - past);
      const before = table.scrollTop;
      table.scrollTop = before + ((now - past) * pixelsPerSecond) / 1000;
      past = now;
      if (table.scrollTop <= before) waited++;
      const box = table.getBoundingClientRect();
      const rows = table.querySelectorAll('tbody tr:not([aria-hidden])');
      const top = rows[0]?.getBoundingClientRect().top ?? box.bottom;
      const bottom = rows[rows.length - 1]?.getBoundingClientRect().bottom ?? box.top;
      if (top > box.top + head + 3 || bottom < box.bottom - 3) blank++;
    }
    return { rows: Math.round(table.scrollTop / rowPixels), blank, waited, frames };
  },
  /** The intervals between frames, for as long as somebody pans. */
  async frames(forMs) {
    const found = [];
    let past = await bench.frame();
    for (const endMs = past + forMs; past < endMs; ) {
      const now = await bench.frame();
      found.push(now - past);
      past = now;
    }
    return found;
  },
  /** From a click on a card until what is known of it is on the screen. */
  async chooseCard(index) {
    const startMs = performance.now();
    document.querySelectorAll('.react-flow__node-card')[index].click();
    await bench.until('aside[aria-label="Chosen card"]');
    await bench.frame();
    const tookMs = performance.now() - startMs;
    document.querySelector('aside[aria-label="Chosen card"] header button').click();
    while (document.querySelector('aside[aria-label="Chosen card"]') !== null) await bench.frame();
    return tookMs;
  },
};
`;
