import type { ReactNode } from "react";

export type IconName =
  | "check"
  | "cross"
  | "close"
  | "question"
  | "clock"
  | "eye"
  | "pen"
  | "shield"
  | "pause"
  | "hand"
  | "differs"
  | "equal"
  | "search"
  | "menu"
  | "snow"
  | "play"
  | "list"
  | "map"
  | "gauge"
  | "loop"
  | "stack"
  | "bolt"
  | "person"
  | "building"
  | "arrow"
  | "chevron"
  | "trash"
  | "plus"
  | "refresh"
  | "sun"
  | "moon"
  | "screen"
  | "copy"
  | "back"
  | "drift"
  | "cloud"
  | "key"
  | "book"
  | "gear"
  | "info";

/** Drawn on a field of 16, in the colour of the text around it. */
const drawings: Readonly<Record<IconName, ReactNode>> = {
  check: (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="m5.2 8.2 2 2 3.700-4.200" />
    </>
  ),
  cross: (
    <>
      <path d="M5.400 1.750h5.200l3.650 3.650v5.200l-3.650 3.650H5.400L1.750 10.600V5.400z" />
      <path d="m5.900 5.900 4.200 4.200m0-4.200-4.200 4.200" />
    </>
  ),
  close: <path d="m4 4 8 8m0-8-8 8" />,
  question: (
    <>
      <circle cx="8" cy="8" r="6.25" strokeDasharray="2.200 2" />
      <path d="M6.300 6.300a1.750 1.750 0 1 1 2.400 1.700c-.5.2-.7.5-.7 1M8 11.200v.1" />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M8 4.600V8l2.300 1.500" />
    </>
  ),
  eye: (
    <>
      <path d="M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8z" />
      <circle cx="8" cy="8" r="2" />
    </>
  ),
  pen: <path d="m2.500 13.500.8-3.300 7.600-7.600 2.500 2.500-7.600 7.600zM9.300 4.200l2.500 2.500" />,
  shield: (
    <>
      <path d="M8 1.600 13.200 3.400v4.200c0 3.200-2.200 5.500-5.200 6.800-3-1.300-5.200-3.600-5.200-6.800V3.400z" />
      <path d="m5.700 7.900 1.700 1.700 3-3.400" />
    </>
  ),
  pause: (
    <>
      <circle cx="8" cy="8" r="6.250" />
      <path d="M6.400 5.600v4.800M9.600 5.600v4.800" />
    </>
  ),
  hand: (
    <path d="M5 8.500V4.200a1 1 0 0 1 2 0v3m0-3.800a1 1 0 0 1 2 0v3.800m0-2.900a1 1 0 0 1 2 0v3.900m0-1.700a1 1 0 0 1 2 0v2.800c0 2.500-1.700 4-4 4-2.200 0-3.300-.9-4.200-2.500L3 8.900c-.5-.9.8-1.700 1.500-.8z" />
  ),
  differs: <path d="M3 6h10M3 10h10M11 2.500l-6 11" />,
  equal: <path d="M3 6h10M3 10h10" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.500" />
      <path d="m10.400 10.400 3.600 3.600" />
    </>
  ),
  menu: <path d="M2.500 4.500h11M2.500 8h11M2.500 11.500h11" />,
  snow: (
    <path d="M8 1.500v13M2.400 4.750l11.200 6.500M13.600 4.750 2.400 11.250M6.200 2.300 8 3.900l1.800-1.600M6.200 13.700 8 12.100l1.800 1.600" />
  ),
  play: <path d="M4.500 2.750v10.500L13 8z" />,
  list: <path d="M2.500 4h.1M2.500 8h.1M2.500 12h.1M5.500 4h8M5.500 8h8M5.500 12h8" />,
  map: (
    <path d="M2 2.500h4.500v3.500H2zM9.500 2.500H14v3.500H9.500zM5.750 10h4.500v3.500h-4.500zM4.250 6v2h7.500V6M8 8v2" />
  ),
  gauge: (
    <>
      <path d="M2.300 12a6.500 6.500 0 1 1 11.400 0" />
      <path d="m8 9.500 2.800-3.700" />
    </>
  ),
  loop: (
    <path d="M13.500 8a5.500 5.500 0 0 1-9.700 3.500M2.500 8a5.500 5.500 0 0 1 9.700-3.500M12.500 1.900v2.800H9.700M3.500 14.100v-2.800h2.800" />
  ),
  stack: <path d="m8 1.900 6.200 3L8 8 1.800 4.900zM2 8.200l6 3 6-3M2 11.300l6 3 6-3" />,
  bolt: <path d="M8.800 1.500 3 9.200h4.200L6.700 14.500 13 6.700H8.600z" />,
  person: (
    <>
      <circle cx="8" cy="5" r="2.750" />
      <path d="M2.800 14c.4-2.900 2.500-4.500 5.200-4.500s4.800 1.600 5.200 4.500" />
    </>
  ),
  building: <path d="M3.500 14V2.500h6V14M9.500 6.500h3V14M1.800 14h12.400M5.500 5h2M5.500 7.700h2M5.500 10.400h2" />,
  arrow: <path d="M3 8h9.500M9 4.300 12.700 8 9 11.700" />,
  chevron: <path d="m4 6.200 4 4 4-4" />,
  trash: (
    <path d="M2.800 4.300h10.400M6.300 4.300V2.500h3.400v1.800M4.200 4.300l.6 9.200h6.400l.6-9.200M6.700 7v4M9.300 7v4" />
  ),
  plus: <path d="M8 3v10M3 8h10" />,
  refresh: <path d="M13.400 6.500A5.700 5.700 0 1 0 13.600 9M13.700 2.800v3.800H9.900" />,
  sun: (
    <>
      <circle cx="8" cy="8" r="2.900" />
      <path d="M8 1.300v1.600M8 13.100v1.600M1.300 8h1.600M13.100 8h1.600M3.300 3.300l1.100 1.100M11.600 11.600l1.100 1.100M12.700 3.300l-1.100 1.100M4.400 11.600l-1.100 1.100" />
    </>
  ),
  moon: <path d="M13.300 9.700A5.700 5.700 0 0 1 6.300 2.700a5.800 5.800 0 1 0 7 7z" />,
  screen: <path d="M1.800 3h12.400v8H1.800zM5.500 13.500h5" />,
  copy: <path d="M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3" />,
  back: <path d="M13 8H3.500M7 4.300 3.300 8 7 11.700" />,
  drift: <path d="M2 5.500c2-2 4 2 6 0s4 2 6 0M2 10.500c2-2 4 2 6 0s4 2 6 0" />,
  cloud: <path d="M4.600 12.500a2.900 2.900 0 0 1-.3-5.800 3.900 3.900 0 0 1 7.600.8 2.500 2.500 0 0 1-.4 5z" />,
  key: (
    <>
      <circle cx="5" cy="11" r="2.750" />
      <path d="m7 9 6-6M10.500 5.500l2 2" />
    </>
  ),
  book: (
    <path d="M2.500 3h4A1.500 1.500 0 0 1 8 4.500V14a1.500 1.500 0 0 0-1.500-1.500h-4zM13.500 3h-4A1.500 1.500 0 0 0 8 4.500V14a1.500 1.500 0 0 1 1.500-1.500h4z" />
  ),
  gear: (
    <>
      <circle cx="8" cy="8" r="2.100" />
      <path d="M8 1.600v1.700M8 12.700v1.700M1.600 8h1.700M12.700 8h1.700M3.500 3.500l1.200 1.200M11.300 11.300l1.200 1.200M12.500 3.500l-1.200 1.200M4.700 11.300l-1.200 1.200" />
    </>
  ),
  info: (
    <>
      <circle cx="8" cy="8" r="6.250" />
      <path d="M8 7.300v3.500M8 5v.1" />
    </>
  ),
};

export function Icon({ name, size = 16, className = "" }: { name: IconName; size?: number; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.500"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className={`shrink-0 ${className}`}
    >
      {drawings[name]}
    </svg>
  );
}
