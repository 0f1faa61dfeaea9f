#include "session/reports/report_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/quantities.h"

namespace fusescope {

namespace {

constexpr const char* kDash = "–";
constexpr int kBarWidth = 120, kBarHeight = 10;

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #1c2126; --dim: #58626d; --line: #d5dae0; --page: #ffffff; --panel: #f5f7f9;
  --bar: #2f6fb3; --more: #b4452c; --less: #2a7f4f; --good: #1f7a45; --bad: #b3261e; --warn: #8a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e8ec; --dim: #a0abb6; --line: #3a434c; --page: #15191d; --panel: #1e242a; --bar: #6ba7e6;
    --more: #f08a70; --less: #6cc795; --good: #6fcf97; --bad: #ff8a80; --warn: #e5b567; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 28px 24px 64px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 34px 0 8px; }
p { margin: 6px 0; } .dim { color: var(--dim); } .good { color: var(--good); } .bad { color: var(--bad); }
.warn { color: var(--warn); } .less { color: var(--less); } .more { color: var(--more); }
.verdict { font-size: 16px; border-left: 4px solid currentColor; padding: 2px 0 2px 12px; margin: 12px 0; }
.verdict:has(.good) { border-color: var(--good); } .verdict:has(.bad) { border-color: var(--bad); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--dim); padding: 8px 0 6px; }
th, td { text-align: left; vertical-align: top; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--line); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 400; overflow-wrap: anywhere; min-width: 260px; }
th.number, td.number { text-align: right; white-space: nowrap; }
table.facts { width: auto; } table.facts tbody th { color: var(--dim); min-width: 0; white-space: nowrap; }
table.facts td { overflow-wrap: anywhere; }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
th button:hover, th button:focus-visible { text-decoration: underline; }
.unfold { font: inherit; margin: 10px 0; padding: 5px 12px; color: inherit; background: var(--panel);
  border: 1px solid var(--line); border-radius: 4px; cursor: pointer; }
.folded { display: none; }
ul { margin: 4px 0; padding-left: 20px; } li { overflow-wrap: anywhere; }
figure { margin: 12px 0; padding: 8px; border: 1px solid var(--line); background: var(--panel); overflow: auto; }
figure img { max-width: 100%; height: auto; display: block; margin: 0 auto; } figcaption { color: var(--dim); }
svg.bar { vertical-align: middle; margin-right: 8px; } svg.bar .solid { fill: var(--bar); }
svg.bar .less { fill: var(--less); } svg.bar .more { fill: var(--more); } svg.bar .axis { stroke: var(--dim); }
svg .stripe { stroke: var(--bar); stroke-width: 3; }
footer { margin-top: 40px; color: var(--dim); border-top: 1px solid var(--line); padding-top: 10px; }
@media print { :root { color-scheme: light; --text: #000; --dim: #444; --line: #bbb; --page: #fff; --panel: #fff; }
  main { max-width: none; padding: 0; } .folded { display: table-row; } .unfold { display: none; }
  tr, figure { break-inside: avoid; } thead { display: table-header-group; } h2 { break-after: avoid; } }
)";

/// Turns headings into buttons that sort, and folds long tables. Without scripts, every row is visible in its order.
constexpr const char* kScript = R"(
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((details) => { details.open = true; }));
for (const table of document.querySelectorAll('table.sortable')) {
  const body = table.tBodies[0];
  const most = Number(table.dataset.most);
  let unfolded = body.rows.length <= most;
  const fold = () => [...body.rows].forEach((row, i) => row.classList.toggle('folded', !unfolded && i >= most));
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.sort === undefined ? cell.textContent : Number(cell.dataset.sort);
  };
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement('button');
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener('click', () => {
      const down = heading.getAttribute('aria-sort') !== 'descending';
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      heading.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const rows = [...body.rows].sort((a, b) => {
        const x = value(a, column), y = value(b, column);
        const order = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
        return down ? -order : order;
      });
      body.append(...rows);
      fold();
    });
  });
  if (unfolded) continue;
  const button = document.createElement('button');
  button.className = 'unfold';
  button.textContent = 'Show all ' + body.rows.length + ' rows';
  button.addEventListener('click', () => { unfolded = true; fold(); button.remove(); });
  table.parentElement.after(button);
  fold();
}
)";

std::string svgOpen(int width, const std::string& label) {
  return fmt::format(
      "<svg class=\"bar\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "aria-label=\"{2}\">",
      width, kBarHeight, label);
}

}  // namespace

std::string escapedHtml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

ReportTable::ReportTable(std::string caption, std::vector<Column> columns)
    : m_caption(std::move(caption)), m_columns(std::move(columns)) {}

void ReportTable::add(const std::vector<ReportCell>& cells) {
  m_body += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const char* tag = i == 0 ? "th" : "td";
    m_body += fmt::format(
        "<{}{}{}{}>{}</{}>", tag, i == 0 ? " scope=\"row\"" : "", m_columns[i].isNumber ? " class=\"number\"" : "",
        cells[i].sort ? fmt::format(" data-sort=\"{:.9g}\"", *cells[i].sort) : "", cells[i].html, tag);
  }
  m_body += "</tr>\n";
  ++m_rows;
}

std::string ReportTable::html() const {
  std::string head;
  for (const Column& column : m_columns)
    head += fmt::format("<th scope=\"col\"{}>{}</th>", column.isNumber ? " class=\"number\"" : "",
                        escapedHtml(column.heading));
  return fmt::format(
      "<div class=\"scroll\"><table class=\"sortable\" data-most=\"{}\"><caption>{}</caption>"
      "<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
      kMostRowsAtRest, escapedHtml(m_caption), head, m_body);
}

std::string reportBar(double share, bool solid) {
  const double width = std::clamp(share, 0.0, 1.0) * kBarWidth;
  const std::string fill = solid ? "class=\"solid\"" : "fill=\"url(#hatched)\"";
  return svgOpen(kBarWidth, fmt::format("{:.1f} % of the longest", 100 * share)) +
         fmt::format("<rect {} width=\"{:.1f}\" height=\"{}\"/></svg>", fill, std::max(width, 0.5), kBarHeight);
}

std::string reportDeltaBar(double signedShare) {
  const double half = kBarWidth / 2.0, length = std::min(std::abs(signedShare), 1.0) * half;
  return svgOpen(kBarWidth, signedShare < 0 ? "less" : "more") +
         fmt::format(
             "<line class=\"axis\" x1=\"{0}\" x2=\"{0}\" y1=\"0\" y2=\"{1}\"/><rect class=\"{2}\" x=\"{3:.1f}\" "
             "width=\"{4:.1f}\" height=\"{1}\"/></svg>",
             half, kBarHeight, signedShare < 0 ? "less" : "more", signedShare < 0 ? half - length : half, length);
}

std::string reportPage(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs><pattern "
      "id=\"hatched\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><line "
      "class=\"stripe\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs></svg>\n<main>\n{}</main>\n"
      "<script>{}</script>\n</body>\n</html>\n",
      escapedHtml(title), kStyle, body, kScript);
}

std::string reportTime(const Json& ms) {
  return ms.is_number() ? inTime(ms.get<double>()) : kDash;
}

std::string reportTimeApart(const Json& ms) {
  return ms.is_number() ? inTimeDifference(ms.get<double>()) : kDash;
}

std::string reportBytes(const Json& bytes) {
  return bytes.is_number() ? inBytes(bytes.get<std::int64_t>()) : kDash;
}

std::string reportCount(const Json& count) {
  return count.is_number() ? inThousands(count.get<std::int64_t>()) : kDash;
}

std::string reportWork(const Json& flops) {
  if (!flops.is_number()) return kDash;
  double value = flops.get<double>();
  const char* unit = "FLOP";
  for (const char* larger : {"kFLOP", "MFLOP", "GFLOP", "TFLOP"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = larger;
  }
  return fmt::format("{:.3g} {}", value, unit);
}

std::string reportHow(const Json& how) {
  const std::string word = how.is_string() ? how.get<std::string>() : "unknown";
  if (word == "run") return "timed";
  if (word == "built") return "timed when it was built";
  if (word == "measured") return "predicted from measurements";
  if (word == "fitted") return "fitted to measurements";
  if (word == "emulated") return "emulated: it has no time";
  return "unknown";
}

}  // namespace fusescope
