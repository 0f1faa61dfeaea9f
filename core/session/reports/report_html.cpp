#include "session/reports/report_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/quantities.h"
#include "base/text.h"
#include "session/reports/report_html_difference.h"
#include "session/reports/report_html_parts.h"

namespace fusescope {

namespace {

bool isTimed(const Json& how) {
  return how == "run" || how == "built";
}

std::string outputsHtml(const Json& verdict) {
  if (!verdict.is_object() || verdict["outputs"].empty()) return {};
  ReportTable table("Outputs against float32", {{"Output"}, {"max|Δ| / rms", true}, {"Cosine", true}, {"Is"}});
  for (const Json& output : verdict["outputs"]) {
    const auto error = reportNumber(output, "max_over_rms"), cosine = reportNumber(output, "cosine");
    const bool ok = output.value("ok", false);
    const std::string problem = reportText(output, "problem");
    table.add({{reportText(output, "name")},
               {error ? fmt::format("{:.3g}", *error) : "–", error.value_or(INFINITY)},
               {cosine ? fmt::format("{:.6g}", *cosine) : "–", cosine.value_or(-1)},
               {!problem.empty() ? reportToned(ok ? "dim" : "bad", problem)
                : ok             ? reportToned("good", "✓ within the tolerance it was evaluated by")
                                 : reportToned("bad", "✗ beyond the tolerance it was evaluated by")}});
  }
  return "<h2>Outputs</h2>\n" + table.html();
}

/// Returns the name of a kernel. If it has many nodes, only the first and last are shown, and the others can be
/// unfolded.
std::string kernelName(const Json& kernel) {
  constexpr std::size_t kMostInName = 4;
  const std::vector<std::string> nodes = reportNames(kernel["nodes"]);
  const std::string whole = reportText(kernel, "name");
  if (nodes.size() <= kMostInName) return whole;
  return fmt::format("<details><summary>{} + … + {} ({})</summary>{}</details>", nodes.front(), nodes.back(),
                     counted(static_cast<std::int64_t>(nodes.size()), "node"), whole);
}

std::string kernelsHtml(const Json& side) {
  double longest = 0, sum = 0;
  for (const Json& kernel : side["kernels"]) {
    longest = std::max(longest, reportNumber(kernel, "ms").value_or(0));
    sum += reportNumber(kernel, "ms").value_or(0);
  }
  ReportTable table("Kernels, those that take longest first. A full bar was timed; a hatched one is a prediction.",
                    {{"Kernel"},
                     {"Time"},
                     {"Share", true},
                     {"How it is known"},
                     {"Kind"},
                     {"Calculates in"},
                     {"Tactic"},
                     {"Work", true},
                     {"Moved", true}});
  for (const Json& kernel : side["kernels"]) {
    const auto ms = reportNumber(kernel, "ms");
    const double share = ms && longest > 0 ? *ms / longest : 0;
    const std::string bar = ms ? reportBar(share, isTimed(kernel["how"])) : std::string();
    std::string name = kernelName(kernel);
    if (kernel.value("fallback", false)) name += " " + reportToned("warn", "fallback");
    table.add({{name},
               {bar + reportTime(kernel["ms"]), ms.value_or(-1)},
               {ms && sum > 0 ? fmt::format("{:.1f} %", 100 * *ms / sum) : "–", ms.value_or(-1)},
               {reportHow(kernel["how"])},
               {reportText(kernel, "kind")},
               {reportText(kernel, "type")},
               {reportText(kernel, "tactic")},
               reportNumberCell(reportWork(kernel["flops"]), kernel["flops"]),
               reportNumberCell(reportBytes(kernel["bytes"]), kernel["bytes"])});
  }
  return "<h2>Kernels</h2>\n" + table.html();
}

std::string precisionsHtml(const Json& side) {
  ReportTable table("Types in which kernels calculate",
                    {{"Type"}, {"Kernels", true}, {"Time", true}, {"How it is known"}});
  for (const Json& entry : side["precisions"]) {
    const std::string type = reportText(entry, "type");
    table.add({{type.empty() ? "no type of their own" : type},
               reportNumberCell(reportCount(entry["kernels"]), entry["kernels"]),
               reportTimeCell(entry["ms"]),
               {reportHow(entry["how"])}});
  }
  return "<h2>Types</h2>\n" + table.html();
}

std::string directivesHtml(const Json& side) {
  std::string html;
  if (!side["directives"].empty()) {
    ReportTable table("Directives and their answers", {{"Directive"}, {"Answer"}});
    for (const Json& directive : side["directives"]) {
      const std::vector<std::string> answers = reportNames(directive["answers"]);
      table.add({{reportText(directive, "text")}, {answers.empty() ? "–" : joined(answers, "<br>")}});
    }
    html = table.html();
  }
  if (!side["pins_made"].empty()) {
    ReportTable table("Types that were asked of the compiler", {{"Node"}, {"Asked"}, {"Granted"}, {"Result"}, {"Why"}});
    for (const Json& pin : side["pins_made"])
      table.add({{reportText(pin, "node")},
                 {reportText(pin, "asked")},
                 {reportText(pin, "granted")},
                 {reportText(pin, "result")},
                 {reportText(pin, "why")}});
    html += table.html();
  }
  return html.empty() ? html : "<h2>Pins and other directives</h2>\n" + html;
}

std::string refusedHtml(const Json& side) {
  if (side["refused"].empty()) return {};
  ReportTable table("What was refused, and what therefore runs elsewhere", {{"Why"}, {"Places", true}, {"Which"}});
  for (const Json& reason : side["refused"])
    table.add({{reportText(reason, "why")},
               {reportCount(Json(reason["nodes"].size())), static_cast<double>(reason["nodes"].size())},
               {reportSomeNames(reason["nodes"])}});
  return "<h2>Refused</h2>\n" + table.html();
}

std::string conversionsHtml(const Json& side) {
  if (side["conversions"].empty()) return {};
  ReportTable table("Conversions that the plan adds",
                    {{"Value"}, {"From"}, {"To"}, {"Time", true}, {"How it is known"}, {"Moved", true}, {"Why"}});
  for (const Json& cast : side["conversions"])
    table.add({{reportText(cast, "value")},
               {reportText(cast, "from")},
               {reportText(cast, "to")},
               reportTimeCell(cast["ms"]),
               {reportHow(cast["how"])},
               reportNumberCell(reportBytes(cast["bytes"]), cast["bytes"]),
               {reportText(cast, "why")}});
  return "<h2>Conversions</h2>\n" + table.html();
}

std::string footerHtml(const Json& report) {
  return fmt::format("<footer>Written by {} on {}.</footer>\n", reportText(report, "by"), reportText(report, "when"));
}

std::string runHtml(const Json& report, const std::string& svg) {
  const Json& side = report["run"];
  return fmt::format("<h1>{}</h1>\n<p class=\"verdict\">{}</p>\n<p>{}</p>\n", reportText(side, "title"),
                     reportVerdict(side["verdict"]), reportTimed(side["time"])) +
         reportFacts({&side}, {}) + outputsHtml(side["verdict"]) + reportPicture(svg) + kernelsHtml(side) +
         precisionsHtml(side) + directivesHtml(side) + refusedHtml(side) + conversionsHtml(side);
}

}  // namespace

std::string reportHtml(const Json& report, const std::string& svg) {
  const bool ofOne = report["kind"] == "run";
  const std::string title =
      ofOne ? report["run"].value("title", std::string())
            : report["a"].value("title", std::string()) + " → " + report["b"].value("title", std::string());
  return reportPage(title + " – Fusescope",
                    (ofOne ? runHtml(report, svg) : reportOfDifference(report, svg)) + footerHtml(report));
}

}  // namespace fusescope
