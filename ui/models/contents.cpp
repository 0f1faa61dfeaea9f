#include "ui/models/contents.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "planning/fused_node_facts.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr double kUnknownLast = -std::numeric_limits<double>::max();

Cell text(const QString& words, Tone tone = Tone::Plain) {
  return {.text = words, .tone = tone};
}

Cell milliseconds(std::optional<double> ms) {
  return {.text = msText(ms), .sort = ms.value_or(kUnknownLast), .tone = ms ? Tone::Plain : Tone::Dim, .number = true};
}

QString signedMs(double ms) {
  return (ms > 0 ? QStringLiteral("+") : QString()) + msText(ms);
}

/// Json numbers, and the words that stand for NaN and infinities.
double realIn(const Json& object, const char* key) {
  if (!object.contains(key)) return std::nan("");
  const Json& field = object[key];
  if (field.is_number()) return field.get<double>();
  if (field == "inf") return std::numeric_limits<double>::infinity();
  if (field == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nan("");
}

QString namesIn(const Json& list) {
  QStringList names;
  for (const Json& entry : list) names << qs(entry.is_string() ? entry.get<std::string>() : entry.dump());
  return names.join(QStringLiteral("  |  "));
}

/// What a click on a group goes to: its first fused node, by handle.
QString firstHandle(const Json& group) {
  const std::string holder = textIn(group, "body_of");
  const QString within = holder.empty() ? QString() : qs(holder + "/");
  for (const char* side : {"a_identities", "b_identities"}) {
    if (group.contains(side) && !group[side].empty() && group[side][0].is_string())
      return within + qs(handleOf(group[side][0].get<std::string>()));
  }
  return {};
}

/// B's time less A's. Coloured only where every turn agrees about its sign.
Cell differenceCell(const Json& group, double most) {
  const auto delta = numberIn(group, "delta_ms");
  if (!delta) return {.text = QStringLiteral("unknown"), .sort = kUnknownLast, .tone = Tone::Dim, .number = true};
  Cell cell{.text = signedMs(*delta), .sort = std::abs(*delta), .tone = Tone::Dim, .number = true};
  const auto range = rangeIn(group, "delta_range_ms");
  if (!range) return cell;
  cell.tip = QStringLiteral("%1 to %2 over the turns").arg(signedMs(range->least), signedMs(range->most));
  if (!range->tellsApart(0)) {
    cell.tip += QStringLiteral(": they do not tell A and B apart here");
    return cell;
  }
  cell.tone = *delta > 0 ? Tone::Bad : Tone::Good;
  if (most > 0) cell.bar = std::abs(*delta) / most;
  return cell;
}

}  // namespace

std::optional<double> numberIn(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_number()) return std::nullopt;
  return object[key].get<double>();
}

std::optional<Range> rangeIn(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) return std::nullopt;
  const auto least = numberIn(object[key], "least"), most = numberIn(object[key], "most");
  return least && most ? std::optional(Range{*least, *most}) : std::nullopt;
}

std::string textIn(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_string()) return {};
  return object[key].get<std::string>();
}

TableContent castsContent(const PlanSnapshot& snapshot) {
  TableContent content{{"Value", "From", "To", "Between", "Bytes", "Why"}, {}, {}};
  for (const PlanSnapshot::Level& level : snapshot.levels()) {
    const Plan& plan = *level.snapshot->plan;
    for (const PlannedCast& cast : plan.casts) {
      const QString from =
          cast.producer.valid() ? qs(plan.fusedNodes[cast.producer.index].name) : QStringLiteral("input");
      QStringList to;
      for (const FusedNodeId consumer : cast.consumers) to << qs(plan.fusedNodes[consumer.index].name);
      if (to.isEmpty()) to << QStringLiteral("output");
      const QString value = qs(level.prefix + plan.graph().value(cast.value).name);
      Cell bytes{.text = bytesText(cast.bytes), .number = true};
      if (cast.bytes) bytes.sort = static_cast<qlonglong>(*cast.bytes);
      QString why = qs(cast.reason);
      why.replace(QLatin1Char('_'), QLatin1Char(' '));
      content.rows.push_back({value,
                              {text(value), text(qs(cast.from)), text(qs(cast.to)),
                               text(from + QStringLiteral(" → ") + to.join(", "), Tone::Dim), bytes, text(why)}});
    }
  }
  return content;
}

namespace {

/// What is said of all rows of a profile.
struct ProfileScale {
  double total = 0, most = 0;
  bool all = true;  ///< else shares would be of a part that is taken for the whole
};

/// A row for each layer, and for those in its bodies, which are parts of it.
void addLayers(const Json& layers, const QString& prefix, const ProfileScale& scale, TableContent& content) {
  for (const Json& layer : layers) {
    const QString layerName = prefix + qs(textIn(layer, "name"));
    const std::string identity = textIn(layer, "identity");
    const auto ms = numberIn(layer, "median_ms");
    Cell share = text(QStringLiteral("unknown"), Tone::Dim);
    if (ms && scale.all && scale.total > 0) {
      share = {.text = QStringLiteral("%1 %").arg(100 * *ms / scale.total, 0, 'f', 1), .sort = *ms, .number = true};
      share.bar = scale.most > 0 ? *ms / scale.most : 0;
    }
    const auto whole = [&](const char* key) -> std::optional<std::int64_t> {
      const auto number = numberIn(layer, key);
      return number ? std::optional<std::int64_t>(static_cast<std::int64_t>(*number)) : std::nullopt;
    };
    const auto flops = whole("flops"), bytes = whole("bytes");
    content.rows.push_back({identity.empty() ? layerName : prefix + qs(handleOf(identity)),
                            {text(layerName),
                             milliseconds(ms),
                             share,
                             text(qs(textIn(layer, "tactic")), Tone::Dim),
                             {.text = flops ? countText(flops) : QString(),
                              .sort = static_cast<qlonglong>(flops.value_or(-1)),
                              .number = true},
                             {.text = bytes ? bytesText(bytes) : QString(),
                              .sort = static_cast<qlonglong>(bytes.value_or(-1)),
                              .number = true}}});
    for (const Json& body : layer.value("bodies", Json::array()))
      addLayers(body.at("layers"), layerName + QLatin1Char('/'), scale, content);
  }
}

}  // namespace

TableContent profileContent(const Json& time) {
  TableContent content{{"Layer", "Time", "Share", "Tactic", "FLOPs", "Bytes"}, {}, {}};
  if (!time.is_object() || !time.contains("layers")) return content;
  ProfileScale scale;
  for (const Json& layer : time["layers"]) {
    const auto ms = numberIn(layer, "median_ms");
    scale.all = scale.all && ms.has_value();
    scale.total += ms.value_or(0);
    scale.most = std::max(scale.most, ms.value_or(0));
  }
  addLayers(time["layers"], {}, scale, content);
  std::stable_sort(content.rows.begin(), content.rows.end(), [](const TableRow& a, const TableRow& b) {
    return a.cells[1].sort.toDouble() > b.cells[1].sort.toDouble();
  });
  return content;
}

TableContent compareContent(const Json& comparison) {
  TableContent content{{"In A", "In B", "A", "B", "Difference"}, {}, {}};
  if (!comparison.is_object() || !comparison.contains("groups")) return content;
  double most = 0;
  for (const Json& group : comparison["groups"])
    most = std::max(most, std::abs(numberIn(group, "delta_ms").value_or(0)));
  for (const Json& group : comparison["groups"]) {
    const QString a = namesIn(group.value("a", Json::array())), b = namesIn(group.value("b", Json::array()));
    const bool changed = !group.value("same", false);
    const QString mark = changed ? QStringLiteral("≠ ") : QString();
    content.rows.push_back({firstHandle(group),
                            {{.text = mark + (a.isEmpty() ? QStringLiteral("no counterpart") : a),
                              .sort = a,
                              .tone = changed ? Tone::Warning : Tone::Plain},
                             {.text = mark + (b.isEmpty() ? QStringLiteral("no counterpart") : b),
                              .sort = b,
                              .tone = changed ? Tone::Warning : Tone::Plain},
                             milliseconds(numberIn(group, "a_ms")),
                             milliseconds(numberIn(group, "b_ms")),
                             differenceCell(group, most)}});
  }
  // What is fused otherwise first, then what the turns tell apart, then the largest difference.
  const auto rank = [](const TableRow& row) {
    return std::tuple(row.cells[0].tone != Tone::Warning, row.cells[4].tone == Tone::Dim,
                      -row.cells[4].sort.toDouble());
  };
  std::stable_sort(content.rows.begin(), content.rows.end(),
                   [&](const TableRow& a, const TableRow& b) { return rank(a) < rank(b); });
  return content;
}

TableContent errorsContent(const Json& report) {
  TableContent content{
      {"Tensor", "Kind", "Largest |Δ|", "|Δ| / rms", "Cosine"},
      {"", "An output of the network, or a value inside that both have in memory", "Largest absolute difference",
       "Largest difference over the root mean square of what was expected", "1: same direction"},
      {}};
  if (!report.is_object()) return content;
  for (const char* list : {"outputs", "values"}) {
    if (!report.contains(list)) continue;
    const bool output = std::string_view(list) == "outputs";
    for (const Json& tensor : report[list]) {
      const QString tensorName = qs(textIn(tensor, "name"));
      const double worst = realIn(tensor, "max_abs"), relative = realIn(tensor, "max_over_rms"),
                   cosine = realIn(tensor, "cosine");
      const bool broken = !std::isfinite(worst) || !std::isfinite(relative);
      const Tone tone = broken ? Tone::Bad : (relative > 1e-2 ? Tone::Warning : Tone::Plain);
      const double order = std::isfinite(relative) ? relative : std::numeric_limits<double>::max();
      content.rows.push_back(
          {tensorName,
           {text(tensorName, output ? Tone::Plain : Tone::Dim),
            text(output ? QStringLiteral("output") : QStringLiteral("inside"), Tone::Dim),
            {.text = errorText(worst), .sort = std::isfinite(worst) ? worst : order, .tone = tone, .number = true},
            {.text = errorText(relative), .sort = order, .tone = tone, .number = true},
            {.text = QString::number(cosine, 'f', 6), .sort = cosine, .number = true}}});
    }
  }
  const Json inBodies = report.value("values_in_bodies", Json::object());
  if (const auto count = numberIn(inBodies, "count"); count && *count > 0)
    content.rows.push_back(
        {QString(),
         {text(plural(static_cast<std::int64_t>(*count), QStringLiteral("value")) + QStringLiteral(" in bodies"),
               Tone::Dim),
          text(QStringLiteral("not compared"), Tone::Dim)}});
  return content;
}

}  // namespace fusescope
