import type { Page } from "playwright-core";

/**
 * What anybody can see to be wrong on a page, in a sentence each: wider than the screen, cut off where nothing scrolls, words that end
 * in dots and are nowhere whole, and targets too small for a finger.
 */
export async function visualFaults(page: Page): Promise<readonly string[]> {
  return await page.evaluate<string[]>(`(${findFaults})()`);
}

/** Runs in the page, where the types of the tests are not known. */
const findFaults = String.raw`() => {
  const least = 24;
  const faults = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) faults.push("the page is " + (scrollWidth - clientWidth) + " pixels wider than the screen");
  const visible = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    element.getBoundingClientRect().width > 1 &&
    element.closest("[aria-hidden='true'], .sr-only, .react-flow") === null;
  const nameOf = (element) => {
    const words = element.getAttribute("aria-label") ?? element.textContent ?? "";
    return element.tagName.toLowerCase() + " '" + words.trim().replaceAll(/\s+/g, " ").slice(0, 60) + "'";
  };
  const beyond = (element) => element.scrollWidth - element.clientWidth;
  // What is meant to scroll sideways can be reached with the keyboard, as can the links of a row of tabs; all else does so by mistake.
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const isMeantTo = (element) => scrolls(element) && (element.tabIndex >= 0 || element.tagName === "NAV");
  const isCut = (element) => getComputedStyle(element).overflowX === "hidden";
  const isWithin = (element, is) => element !== null && (is(element) || isWithin(element.parentElement, is));
  for (const element of document.body.querySelectorAll("*")) {
    if (!visible(element)) continue;
    const { overflowX, textOverflow } = getComputedStyle(element);
    if (scrolls(element) && beyond(element) > 1 && !isWithin(element, isMeantTo))
      faults.push(nameOf(element) + " scrolls sideways by " + beyond(element) + " pixels");
    if (overflowX === "hidden" && textOverflow === "ellipsis" && beyond(element) > 1 && element.closest("[title]") === null)
      faults.push(nameOf(element) + " ends in dots, and nothing says it whole");
    const { right, left } = element.getBoundingClientRect();
    const outside = Math.max(Math.round(right) - innerWidth, Math.round(-left));
    if (element.childElementCount === 0 && outside > 1 && !isWithin(element, (one) => isMeantTo(one) || isCut(one)))
      faults.push(nameOf(element) + " stands " + outside + " pixels outside of the screen");
  }
  const targets = [...document.body.querySelectorAll("button, select, input, [role='option']")].filter(visible);
  const centre = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x: x + width / 2, y: y + height / 2 };
  };
  // What is smaller is reached all the same where nothing else is within the room that it lacks.
  const isAlone = (element) => {
    const { x, y } = centre(element);
    return targets.every((other) => {
      if (other === element || other.contains(element) || element.contains(other)) return true;
      const to = other.getBoundingClientRect();
      const away = { x: Math.max(to.left - x, 0, x - to.right), y: Math.max(to.top - y, 0, y - to.bottom) };
      return Math.hypot(away.x, away.y) >= least / 2;
    });
  };
  for (const element of targets) {
    const { width, height } = (element.closest("label") ?? element).getBoundingClientRect();
    if ((width < least - 0.5 || height < least - 0.5) && !isAlone(element))
      faults.push(nameOf(element) + " is " + Math.round(width) + " by " + Math.round(height) + " pixels, too near to another");
  }
  return faults;
}`;
