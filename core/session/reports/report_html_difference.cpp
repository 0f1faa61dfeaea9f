#include "session/reports/report_html_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/quantities.h"
#include "base/text.h"
#include "session/reports/report_html_parts.h"

namespace fusescope {

namespace {

std::string causeText(const Json& because, bool causesKnown) {
  const std::vector<std::string> causes = reportNames(because);
  if (!causes.empty()) return joined(causes, " and ");
  return reportToned("dim", causesKnown ? "not known" : "not disclosed by the compiler");
}

std::string optionsHtml(const Json& difference) {
  if (difference["options"].empty()) return "<p>Both were made with the same options.</p>\n";
  ReportTable table("Options of A and B that differ", {{"What"}, {"A"}, {"B"}});
  for (const Json& option : difference["options"]) {
    const auto side = [&](const char* key) {
      const std::string words = reportText(option, key);
      return words.empty() ? std::string("–") : words;
    };
    table.add({{reportText(option, "kind")}, {side("a")}, {side("b")}});
  }
  return table.html();
}

std::string networkHtml(const Json& network) {
  if (network.value("one_network", true) && network["only_a"].empty() && network["only_b"].empty()) return {};
  std::string html = "<h2>Networks</h2>\n<ul>";
  const auto line = [&](const char* what, const Json& list) {
    if (!list.empty()) html += fmt::format("<li>{} ({}): {}</li>", what, list.size(), reportSomeNames(list));
  };
  line("Only A has", network["only_a"]);
  line("Only B has", network["only_b"]);
  Json changed = Json::array();
  for (const Json& node : network["changed"])
    changed.push_back(node.value("a", std::string()) + ": " + node.value("what", std::string()));
  line("Differ", changed);
  return html + "</ul>\n";
}

std::string deltaCell(const Json& ms, double largest) {
  if (!ms.is_number()) return "–";
  const double delta = ms.get<double>();
  return (largest > 0 ? reportDeltaBar(delta / largest) : std::string()) + reportToned(delta < 0   ? "less"
                                                                                       : delta > 0 ? "more"
                                                                                                   : "dim",
                                                                                       reportTimeApart(ms));
}

double largestDelta(const Json& list) {
  double largest = 0;
  for (const Json& each : list) largest = std::max(largest, std::abs(reportNumber(each, "delta_ms").value_or(0)));
  return largest;
}

std::string changesHtml(const Json& difference) {
  if (difference["changes"].empty()) return {};
  const double largest = largestDelta(difference["changes"]);
  ReportTable table("Changes; equal ones with one cause are listed together",
                    {{"Change"}, {"Places", true}, {"B − A"}, {"Because of"}, {"Where"}});
  for (const Json& change : difference["changes"]) {
    const auto delta = reportNumber(change, "delta_ms");
    table.add({{reportText(change, "what")},
               reportNumberCell("×" + reportCount(change["count"]), change["count"]),
               {change.value("is_timed", false) ? deltaCell(change["delta_ms"], largest) : "–", delta.value_or(0)},
               {causeText(change["because"], difference.value("causes_known", true))},
               {reportSomeNames(change["where"])}});
  }
  return "<h2>What changed, and why</h2>\n" + table.html();
}

std::string groupsHtml(const Json& difference) {
  const double largest = largestDelta(difference["groups"]);
  ReportTable table("Groups of kernels that cover the same nodes, the largest difference first", {{"A"},
                                                                                                  {"B"},
                                                                                                  {"A takes", true},
                                                                                                  {"B takes", true},
                                                                                                  {"B − A"},
                                                                                                  {"How A's is known"},
                                                                                                  {"How B's is known"},
                                                                                                  {"Change"},
                                                                                                  {"Because of"}});
  for (const Json& group : difference["groups"]) {
    const bool same = group.value("same", false);
    const auto side = [&](const char* key) {
      const std::vector<std::string> all = reportNames(group[key]);
      return all.empty() ? reportToned("dim", "nothing") : joined(all, "<br>");
    };
    table.add({{side("a")},
               {same ? reportToned("dim", "the same") : side("b")},
               reportTimeCell(group["a_time"]["ms"]),
               reportTimeCell(group["b_time"]["ms"]),
               {deltaCell(group["delta_ms"], largest), reportNumber(group, "delta_ms").value_or(0)},
               {reportHow(group["a_time"]["how"])},
               {reportHow(group["b_time"]["how"])},
               {reportText(group, "change")},
               {same ? "" : causeText(group["because"], difference.value("causes_known", true))}});
  }
  std::string html = "<h2>Kernels</h2>\n" + table.html();
  if (const std::int64_t inBodies = difference.value("groups_in_bodies", std::int64_t{0}); inBodies > 0)
    html += fmt::format("<p class=\"dim\">{} in bodies are counted with the node that contains them.</p>\n",
                        counted(inBodies, "group"));
  return html;
}

/// Describes the total times. If they were not measured under the same conditions, this is said, and no side is called
/// the faster one.
std::string totalHtml(const Json& report) {
  const Json& unlike = report["difference"]["conditions_that_differ"];
  if (!unlike.empty())
    return fmt::format(
        "<p class=\"warn\">The times of A and B were measured under different conditions ({}), so that their "
        "differences mean little.</p>\n",
        joined(reportNames(unlike)));
  const auto time = [&](const char* side) {
    const Json& timed = report[side]["time"];
    return timed.is_object() ? reportNumber(timed, "median_ms") : std::nullopt;
  };
  const auto a = time("a"), b = time("b");
  if (!a || !b || *a <= 0) return {};
  return fmt::format(
      "<p>B takes {} of the time of A: {} against {}. They were measured separately, not in turns.</p>\n",
      fmt::format("{:.1f} %", 100 * *b / *a), reportTime(*b), reportTime(*a));
}

}  // namespace

std::string reportOfDifference(const Json& report, const std::string& svg) {
  const Json &a = report["a"], &b = report["b"], &difference = report["difference"];
  std::string html = fmt::format("<h1>{} → {}</h1>\n", reportText(a, "title"), reportText(b, "title"));
  html += fmt::format("<p class=\"verdict\">A: {}</p>\n<p class=\"verdict\">B: {}</p>\n", reportVerdict(a["verdict"]),
                      reportVerdict(b["verdict"]));
  if (difference.value("same", false)) html += "<p>The two plans are the same; times and errors may differ.</p>\n";
  return html + totalHtml(report) + optionsHtml(difference) + changesHtml(difference) + "<h2>A and B</h2>\n" +
         reportFacts({&a, &b}, {"A: " + reportText(a, "title"), "B: " + reportText(b, "title")}) +
         networkHtml(difference["network"]) + reportPicture(svg) + groupsHtml(difference);
}

}  // namespace fusescope
