// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

/// The style sheet and the script of write_html()'s page. Colours are variables, so that light and
/// dark are one sheet.
namespace sinter::inline SINTER_TARGET::profile {

inline constexpr const char* page_style = R"css(
:root { color-scheme: light dark; --page: #fbfbfa; --card: #ffffff; --ink: #1d2129; --soft: #5f6673; --line: #e3e5e9;
  --forward: #3b74d6; --backward: #d9822b; --update: #2f9e63; --again: #9158c4; --saved: #cfd5de; }
@media (prefers-color-scheme: dark) { :root { --page: #15171b; --card: #1d2026; --ink: #e8eaee; --soft: #a0a7b4;
  --line: #31353d; --forward: #6d9df0; --backward: #e9a25b; --update: #58c48b; --again: #b88ae6; --saved: #444b57; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 28px 24px 60px; background: var(--page); color: var(--ink);
  font: 14px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
h1 { font-size: 22px; margin: 0 0 2px; } h2 { font-size: 16px; margin: 34px 0 8px; }
p { margin: 0 0 10px; color: var(--soft); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(160px, 1fr)); gap: 12px; margin: 18px 0 0; }
.figure { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; }
.figure b { display: block; font-size: 21px; font-weight: 600; } .figure span { color: var(--soft); font-size: 12.5px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 12.5px; }
th, td { padding: 4px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
td.n, th.n { text-align: right; } td.wide { white-space: normal; min-width: 260px; }
tr:target td { background: color-mix(in srgb, var(--forward) 18%, transparent); }
.op { display: inline-block; border: 1px solid var(--line); border-radius: 4px; padding: 0 5px; margin: 1px 3px 1px 0;
  font-size: 12px; }
.op.own { border-color: var(--soft); font-weight: 600; } .op.up { color: var(--update); border-color: var(--update); }
.bar { display: inline-block; height: 9px; border-radius: 2px; margin-left: 8px; vertical-align: baseline;
  background: var(--forward); }
svg { display: block; } svg text { fill: var(--soft); font-size: 11px; } .grid { stroke: var(--line); }
.forward { fill: var(--forward); } .backward { fill: var(--backward); }
.update { fill: var(--update); } .again { fill: var(--again); }
.saved { fill: var(--saved); } rect.buffer { stroke: var(--card); stroke-width: 1; opacity: .88; }
[data-tip]:hover { opacity: .6; }
.key { display: inline-block; margin: 0 16px 8px 0; color: var(--soft); }
.key i { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 5px;
  vertical-align: -1px; }
#tip { position: fixed; pointer-events: none; display: none; max-width: 420px;
  background: var(--ink); color: var(--page);
  padding: 6px 10px; border-radius: 6px; font-size: 12.5px; white-space: pre-line; z-index: 2; }
)css";

inline constexpr const char* page_script = R"js(
const tip = document.getElementById('tip');
document.addEventListener('mousemove', e => {
  const of = e.target.closest('[data-tip]');
  tip.style.display = of ? 'block' : 'none';
  if (!of) return;
  tip.textContent = of.dataset.tip;
  tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
  tip.style.top = Math.min(e.clientY + 16, innerHeight - tip.offsetHeight - 8) + 'px';
});
)js";

} // namespace sinter::profile
