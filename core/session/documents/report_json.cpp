#include "session/documents/report_json.h"

#include "base/json.h"

#include <numeric>

namespace fusescope {

Json optionalCount(const std::optional<std::int64_t>& count) {
  return count ? Json(*count) : Json(nullptr);
}

Json comparisonsJson(const std::vector<TensorComparison>& comparisons) {
  Json list = Json::array();
  for (const auto& comparison : comparisons) list.push_back(toJson(comparison));
  return list;
}

Json rangeJson(const std::optional<Range>& range) {
  return range ? Json{{"least", range->least}, {"most", range->most}} : Json(nullptr);
}

Json originsJson(const Cover& cover, const FusedNode& fused) {
  Json names = Json::array();
  for (const auto origin : fused.origins) names.push_back(cover.model->origins[origin.index].name);
  return names;
}

Json inputSpecsJson(const std::vector<InputSpec>& specs) {
  Json list = Json::array();
  for (const auto& spec : specs) {
    list.push_back({{"name", spec.name},
                    {"type", name(spec.dtype)},
                    {"min", spec.min},
                    {"opt", spec.opt},
                    {"max", spec.max},
                    {"source", spec.source}});
  }
  return list;
}

void addSteps(Json& json, const std::vector<double>& stepMs) {
  const double sum = std::accumulate(stepMs.begin(), stepMs.end(), 0.0);
  json["mean_ms"] = jsonNumber(sum / static_cast<double>(stepMs.size()));
  json["first_ms"] = jsonNumber(stepMs.front());
  json["last_ms"] = jsonNumber(stepMs.back());
  json["steps_ms"] = Json::array();
  for (const double ms : stepMs) json["steps_ms"].push_back(jsonNumber(ms));
}

Json optionalNumber(const std::optional<double>& number) {
  return number ? jsonNumber(*number) : Json(nullptr);
}

}  // namespace fusescope
