#include "calibration/ranges.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "base/files.h"
#include "base/json.h"
#include "base/user_json.h"

namespace fusescope {

namespace {

constexpr const char* kFormat = "fusescope.ranges";
constexpr int kVersion = 1;
constexpr const char* kTensorRt = "TRT-";

Diagnostic badField(std::string message, std::string field) {
  return {.message = std::move(message), .where = {.attribute = std::move(field)}};
}

/// Reads a field that `json`, an object at `place`, must have.
template <class T>
Result<T> needed(const Json& json, const std::string& key, const std::string& place) try {
  if (!json.is_object()) return badField("must be an object", place);
  const std::string field = place.empty() ? key : place + "." + key;
  return json.contains(key) ? Result<T>(json[key].get<T>()) : badField(missingInWords(json, key), field);
} catch (const Json::exception&) {
  return badField("has the wrong type", place.empty() ? key : place + "." + key);
}

Json edgesJson(const Ranges& ranges, Histograms histograms) {
  Json edges = Json::object();
  for (const auto& [value, edge] : ranges.edges) {
    Json& entry = edges[value] = {{"low", edge.range.low}, {"high", edge.range.high}};
    if (edge.histogram && histograms == Histograms::Written) entry["histogram"] = edge.histogram->toJson();
  }
  return edges;
}

Json weightsJson(const Ranges& ranges) {
  Json weights = Json::object();
  for (const auto& [value, weight] : ranges.weights)
    weights[value] = {{"axis", weight.axis}, {"largest", weight.largest}};
  return weights;
}

Json channelsJson(const Ranges& ranges) {
  Json channels = Json::object();
  for (const auto& [value, seen] : ranges.channels) channels[value] = {{"mean", seen.mean}, {"largest", seen.largest}};
  return channels;
}

Status readEdges(const Json& json, Ranges& ranges) {
  for (const auto& [value, entry] : json.items()) {
    const std::string place = "edges." + value;
    TRY(checkKeys(entry, {"low", "high", "histogram"}, place, "the range of a value"));
    EdgeRange edge{.range = {TRY(needed<double>(entry, "low", place)), TRY(needed<double>(entry, "high", place))}};
    const bool holdsZero = edge.range.low <= 0 && edge.range.high >= 0;
    if (!holdsZero || !std::isfinite(edge.range.low) || !std::isfinite(edge.range.high))
      return badField(fmt::format("the range of {} must contain 0, and its ends must be finite", value), "edges");
    if (entry.contains("histogram")) {
      auto histogram = Histogram::fromJson(entry.at("histogram"));
      if (!histogram.ok())
        return badField(fmt::format("the histogram of {} {}", value, histogram.error().message), "edges");
      edge.histogram = std::move(histogram).value();
    }
    ranges.edges.emplace(value, std::move(edge));
  }
  return Done{};
}

Status readWeights(const Json& json, Ranges& ranges) {
  for (const auto& [value, entry] : json.items()) {
    const std::string place = "weights." + value;
    TRY(checkKeys(entry, {"axis", "largest"}, place, "the ranges of weights"));
    WeightRange weight;
    weight.axis = TRY(needed<std::int64_t>(entry, "axis", place));
    weight.largest = TRY(needed<std::vector<float>>(entry, "largest", place));
    for (const float largest : weight.largest)
      if (!(largest >= 0) || !std::isfinite(largest))
        return badField(fmt::format("the ranges of {} must be finite and not below 0", value), "weights");
    if (weight.axis < -1 || weight.largest.empty() || (weight.axis == -1 && weight.largest.size() != 1))
      return badField(fmt::format("weight {} must have one range, or an axis and a range for each channel", value),
                      "weights");
    ranges.weights.emplace(value, std::move(weight));
  }
  return Done{};
}

Status readChannels(const Json& json, Ranges& ranges) {
  for (const auto& [value, entry] : json.items()) {
    const std::string place = "channels." + value;
    TRY(checkKeys(entry, {"mean", "largest"}, place, "the statistics of channels"));
    ChannelStatistics seen;
    seen.mean = TRY(needed<std::vector<float>>(entry, "mean", place));
    seen.largest = TRY(needed<std::vector<float>>(entry, "largest", place));
    if (seen.mean.size() != seen.largest.size())
      return badField(fmt::format("the channels of {} must have as many means as largest values", value), "channels");
    ranges.channels.emplace(value, std::move(seen));
  }
  return Done{};
}

/// Returns the entries for what is in the body, by their names there.
template <class Entries>
Entries inside(const Entries& entries, const BodyPathStep& body) {
  Entries found;
  for (const std::string& path : {BodyPath({body}).exactly({}), body.holder + "/"})
    for (auto entry = entries.lower_bound(path); entry != entries.end() && entry->first.starts_with(path); ++entry)
      found.emplace(entry->first.substr(path.size()), entry->second);
  return found;
}

}  // namespace

Ranges Ranges::inBody(const BodyPathStep& body) const {
  Ranges ranges = *this;
  ranges.edges = inside(edges, body);
  ranges.weights = inside(weights, body);
  ranges.channels = inside(channels, body);
  ranges.settings.exclude.clear();
  return ranges;
}

Hash128 Ranges::contentHash() const {
  return hashText(toJson(*this, Histograms::LeftOut).dump());
}

Json toJson(const Ranges& ranges, Histograms histograms) {
  Json json = {{"format", kFormat}, {"version", kVersion}, {"from", ranges.from}};
  json.update(toJson(ranges.settings));
  json.update({{"samples", ranges.samples},
               {"random_inputs", ranges.randomInputs},
               {"edges", edgesJson(ranges, histograms)},
               {"weights", weightsJson(ranges)},
               {"channels", channelsJson(ranges)}});
  return json;
}

Result<Ranges> rangesFromJson(const Json& json) {
  TRY(checkFormat(json, "a file of ranges", kFormat, kVersion));
  if (json["version"] != kVersion)
    return badField(
        fmt::format("this version of the file of ranges cannot be read; this Fusescope reads version {}", kVersion),
        "version");
  TRY(checkKeys(json, keysOf(toJson(Ranges(), Histograms::LeftOut)), "", "ranges"));
  Ranges ranges{.from = TRY(needed<std::string>(json, "from", {}))};
  ranges.settings = TRY(calibrationSettingsFromJson(json));
  ranges.samples = TRY(needed<std::int64_t>(json, "samples", {}));
  ranges.randomInputs = TRY(needed<bool>(json, "random_inputs", {}));
  TRY(readEdges(TRY(needed<Json>(json, "edges", {})), ranges));
  TRY(readWeights(TRY(needed<Json>(json, "weights", {})), ranges));
  TRY(readChannels(TRY(needed<Json>(json, "channels", {})), ranges));
  return ranges;
}

std::string rangesText(const Ranges& ranges) {
  const Json json = toJson(ranges, Histograms::Written);
  std::string text = "{\n";
  for (const auto& [key, part] : json.items()) {
    if (text.size() > 2) text += ",\n";
    text += "  " + Json(key).dump() + ": ";
    if (!part.is_object() || part.empty()) {
      text += part.dump();
      continue;
    }
    std::string lines;
    for (const auto& [value, entry] : part.items())
      lines += (lines.empty() ? "\n    " : ",\n    ") + Json(value).dump() + ": " + entry.dump();
    text += "{" + lines + " }";
  }
  return text + "\n}\n";
}

bool isRangesFile(const std::filesystem::path& path) {
  constexpr std::size_t kEnough = 128;
  std::string begin(kEnough, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), kEnough);
  begin.resize(static_cast<std::size_t>(file.gcount()));
  return begin.starts_with(kTensorRt) || (begin.starts_with('{') && begin.find(kFormat) != std::string::npos);
}

Result<Ranges> readRanges(const std::filesystem::path& path) {
  const std::string text = TRY(readTextFile(path));
  const bool ofTensorRt = text.starts_with(kTensorRt);
  const auto located = [&](Diagnostic error) {
    error.where.file = path.string();
    return error;
  };
  const auto json = ofTensorRt ? Result<Json>(Json()) : parseUserJson(text);
  if (!json.ok() && !json.error().where.attribute.empty()) return located(json.error());
  if (!json.ok())
    return Diagnostic{
        .message = text.empty() ? "the file is empty" : "the file is neither JSON nor a calibration cache of TensorRT",
        .where = {.file = path.string()},
        .help = "Record ranges with fusescope calibrate MODEL --inputs F -o RANGES.json."};
  auto ranges = ofTensorRt ? rangesFromTensorRtCache(text) : rangesFromJson(json.value());
  if (ranges.ok()) return ranges;
  return located(ranges.error());
}

}  // namespace fusescope
