#include "calibration/calibration_settings.h"

#include <fmt/format.h>

#include "base/json_fields.h"

namespace fusescope {
namespace {

Result<RangeMethod> methodFromJson(const Json& json) {
  if (!json.is_string()) return Diagnostic{.message = "has the wrong type"};
  const auto text = json.get<std::string>();
  if (const auto method = rangeMethodFromName(text)) return *method;
  return Diagnostic{.message = fmt::format("'{}' is not a method", text)};
}

Result<RangeMethod> weightMethodFromJson(const Json& json) {
  const RangeMethod method = TRY(methodFromJson(json));
  if (method == RangeMethod::Entropy)
    return Diagnostic{.message = "entropy cannot be used for weights, because a channel has too few numbers"};
  return method;
}

}  // namespace

Json toJson(const CalibrationSettings& settings) {
  return {{"method", name(settings.choice.method)}, {"percentile", settings.choice.percentile},
          {"symmetric", settings.choice.symmetric}, {"weights_method", name(settings.weightMethod)},
          {"per_channel", settings.perChannel},     {"correct_biases", settings.correctBiases},
          {"smoothing", settings.smoothing},        {"exclude", settings.exclude}};
}

Result<CalibrationSettings> calibrationSettingsFromJson(const Json& json) {
  CalibrationSettings settings;
  JsonFields fields(json);
  fields.parse("method", settings.choice.method, methodFromJson);
  fields.read("percentile", settings.choice.percentile).read("symmetric", settings.choice.symmetric);
  fields.parse("weights_method", settings.weightMethod, weightMethodFromJson);
  fields.read("per_channel", settings.perChannel).read("correct_biases", settings.correctBiases);
  fields.read("smoothing", settings.smoothing).read("exclude", settings.exclude);
  for (const char* key :
       {"method", "percentile", "symmetric", "weights_method", "per_channel", "correct_biases", "smoothing", "exclude"})
    fields.require(key);
  return fields.result(std::move(settings));
}

}  // namespace fusescope
