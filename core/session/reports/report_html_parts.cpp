#include "session/reports/report_html_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/quantities.h"
#include "base/text.h"

namespace fusescope {

namespace {

/// The number of nodes that are named in a cell; the others are only counted.
constexpr std::size_t kMostNames = 12;

/// A name for people, and its value on each side.
struct Fact {
  std::string what, html;
};

std::string compilerText(const Json& side) {
  const Json compiler = side.value("compiler", Json::object());
  const std::string version = reportText(compiler, "version");
  return reportText(compiler, "name") + (version.empty() ? "" : " " + version) +
         (side.value("source", "") == "read_back" ? ", as it reports what it made" : "");
}

std::string predictedText(const Json& totals) {
  if (totals["predicted_ms"].is_number())
    return fmt::format("{}: {} from measurements, {} fitted", reportTime(totals["predicted_ms"]),
                       reportTime(totals["predicted_measured_ms"]), reportTime(totals["predicted_fitted_ms"]));
  const std::int64_t unknown = totals.value("without_price", std::int64_t{0});
  return unknown == 0 ? "depends on the branches taken"
                      : fmt::format("unknown: {} kernels and conversions have no price", inThousands(unknown));
}

std::string extentsText(const Json& inputs) {
  std::vector<std::string> each;
  for (const Json& input : inputs) {
    std::vector<std::string> dims;
    for (const Json& dim : input["opt"]) dims.push_back(dim.dump());
    each.push_back(fmt::format("{}: {} [{}]", reportText(input, "name"), reportText(input, "type"), joined(dims)));
  }
  return joined(each, "<br>");
}

std::string phasesText(const Json& side) {
  std::vector<std::string> phases;
  for (const Json& phase : side["phases"])
    phases.push_back(fmt::format("{} {}", reportText(phase, "name"), reportTime(phase["ms"])));
  return joined(phases);
}

std::vector<Fact> factsOf(const Json& side) {
  const Json& totals = side["totals"];
  const auto or_dash = [](const std::string& html) { return html.empty() ? "–" : html; };
  return {{"Model", reportText(side, "model")},
          {"When", or_dash(reportText(side, "started"))},
          {"Machine", or_dash(reportText(side, "machine"))},
          {"Compiler", compilerText(side)},
          {"Backend", or_dash(reportText(side, "backend"))},
          {"Target", reportText(side, "target")},
          {"Types allowed", reportText(side, "precision")},
          {"Inputs", or_dash(extentsText(side["inputs"]))},
          {"Timed", reportTimed(side["time"])},
          {"Timed on", side["time"].is_object() ? reportText(side["time"], "inputs") : "–"},
          {"Predicted", predictedText(totals)},
          {"Nodes of the file", reportCount(totals["nodes"])},
          {"Kernels", reportCount(totals["fused_nodes"])},
          {"Segments", reportCount(totals["segments"])},
          {"Conversions", reportCount(totals["casts"])},
          {"Work", reportWork(totals["flops"])},
          {"Moved", reportBytes(totals["bytes"])},
          {"Engine file", reportBytes(side["engine_bytes"])},
          {"Build", or_dash(phasesText(side))}};
}

/// Returns SVG as the address of a picture, so that its styles and ids cannot affect the document.
std::string pictureAddress(const std::string& svg) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 -_.~:/?=;,()*!@$+";
  std::string address = "data:image/svg+xml;charset=utf-8,";
  for (const char c : svg) {
    if (kPlain.find(c) != std::string_view::npos) {
      address += c;
    } else {
      address += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return address;
}

}  // namespace

std::string reportText(const Json& json, const char* key) {
  const Json value = json.value(key, Json());
  return value.is_string() ? escapedHtml(value.get<std::string>()) : std::string();
}

std::optional<double> reportNumber(const Json& json, const char* key) {
  const Json value = json.value(key, Json());
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::vector<std::string> reportNames(const Json& list) {
  std::vector<std::string> all;
  for (const Json& each : list)
    if (each.is_string()) all.push_back(escapedHtml(each.get<std::string>()));
  return all;
}

std::string reportSomeNames(const Json& list) {
  std::vector<std::string> all = reportNames(list);
  const std::size_t more = all.size() > kMostNames ? all.size() - kMostNames : 0;
  all.resize(all.size() - more);
  return joined(all) + (more > 0 ? fmt::format(" and {} more", more) : "");
}

ReportCell reportTimeCell(const Json& ms) {
  return {reportTime(ms), ms.is_number() ? ms.get<double>() : -1};
}

ReportCell reportNumberCell(const std::string& html, const Json& value) {
  return {html, value.is_number() ? value.get<double>() : -1};
}

std::string reportToned(const char* tone, const std::string& html) {
  return fmt::format("<span class=\"{}\">{}</span>", tone, html);
}

std::string reportVerdict(const Json& verdict) {
  if (!verdict.is_object()) return reportToned("dim", "It was not run, so its results were not judged.");
  const std::string kind = verdict.value("verdict", "unknown");
  const std::string words = reportText(verdict, "words");
  if (kind == "unknown") return reportToned("dim", words);
  std::string html = kind == "pass" ? reportToned("good", "✓ " + words) : reportToned("bad", "✗ " + words);
  html += "<br>" + reportToned("dim", fmt::format("Allowed: {}. On {}.", reportText(verdict, "tolerance"),
                                                  reportText(verdict, "inputs")));
  if (verdict.value("random_inputs", false)) html += " " + reportToned("warn", "The inputs were random.");
  return html;
}

std::string reportFacts(const std::vector<const Json*>& sides, const std::vector<std::string>& headings) {
  std::vector<std::vector<Fact>> all;
  for (const Json* side : sides) all.push_back(factsOf(*side));
  std::string html = "<div class=\"scroll\"><table class=\"facts\"><caption>Summary</caption>";
  if (headings.size() > 1) {
    html += "<thead><tr><td></td>";
    for (const std::string& heading : headings) html += "<th scope=\"col\">" + heading + "</th>";
    html += "</tr></thead>";
  }
  html += "<tbody>\n";
  for (std::size_t row = 0; row < all.front().size(); ++row) {
    html += "<tr><th scope=\"row\">" + all.front()[row].what + "</th>";
    for (const auto& facts : all) html += "<td>" + facts[row].html + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string reportTimed(const Json& time) {
  if (!time.is_object()) return reportToned("dim", "not timed");
  if (!time["median_ms"].is_number()) return reportToned("warn", "no time: " + reportText(time, "unavailable"));
  std::string html = fmt::format("<b>{}</b> median, {} fastest, {} p95; {} times on {}", reportTime(time["median_ms"]),
                                 reportTime(time["min_ms"]), reportTime(time["p95_ms"]), reportCount(time["samples"]),
                                 counted(time.value("threads", 0), "thread"));
  if (!time.value("quiet", true)) html += "; " + reportToned("warn", "the machine was not quiet");
  return html;
}

std::string reportPicture(const std::string& svg) {
  if (svg.empty()) return {};
  return fmt::format(
      "<h2>Plan</h2>\n<figure><img alt=\"The network as it is planned\" "
      "src=\"{}\"></figure>\n",
      pictureAddress(svg));
}

}  // namespace fusescope
