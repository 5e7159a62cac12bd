/** One small style sheet, inline and known to the page's policy by its hash. Colours have at least 4.5:1 contrast in both schemes. */
export const statusPageStyle = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --ground: #f6f7f9; --panel: #ffffff; --edge: #d7dce2;
  --good: #116329; --warn: #7d4e00; --bad: #a40e26; --code: #eef1f4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #9aa5b1; --ground: #101418; --panel: #181d23; --edge: #2b323a;
    --good: #56d364; --warn: #e3b341; --bad: #ff7b72; --code: #242b33; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 46rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.5rem; }
h1 { margin: 0; font-size: 1.75rem; letter-spacing: -0.01em; }
header p { margin: 0; color: var(--soft); }
h2 { margin: 0 0 0.5rem; font-size: 1rem; }
section { margin: 1.25rem 0; padding: 1.1rem 1.25rem; background: var(--panel); border: 1px solid var(--edge); border-radius: 10px; }
.line { display: flex; gap: 0.9rem; align-items: center; border-left-width: 5px; }
.line.good { border-left-color: var(--good); } .line.warn { border-left-color: var(--warn); } .line.bad { border-left-color: var(--bad); }
.line p { margin: 0; color: var(--soft); }
.mark { font-size: 1.4rem; min-width: 1.6rem; text-align: center; }
.good > .mark, .state.good { color: var(--good); } .warn > .mark { color: var(--warn); } .bad > .mark, .state.bad { color: var(--bad); }
.state { font-weight: 600; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: 0.75rem; margin: 0; }
.figures dt { color: var(--soft); font-size: 0.875rem; }
.figures dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.35rem 0.75rem 0.35rem 0; text-align: left; vertical-align: top; font-weight: 400; }
tr + tr th, tr + tr td { border-top: 1px solid var(--edge); }
th { width: 11rem; white-space: nowrap; font-weight: 600; }
td:nth-child(2) { width: 8rem; white-space: nowrap; }
.number { font-variant-numeric: tabular-nums; }
code { padding: 0.1rem 0.35rem; background: var(--code); border-radius: 4px; font-size: 0.875em; }
footer { padding-bottom: 2.5rem; color: var(--soft); font-size: 0.875rem; overflow-wrap: anywhere; }
a { color: inherit; }
@media (max-width: 30rem) { td, th, td:nth-child(2) { display: block; width: auto; padding-right: 0; } tr + tr td { border-top: 0; padding-top: 0; } td { padding-top: 0; } }
`;
