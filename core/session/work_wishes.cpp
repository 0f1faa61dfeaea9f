#include "session/work_wishes.h"

#include <filesystem>

#include "base/json_fields.h"

namespace fusescope {
namespace {

const std::vector<std::string_view> kWeightTypes = {"convert", "keep"}, kBorderTypes = {"keep", "plan"};

std::vector<std::string_view> methodNames() {
  std::vector<std::string_view> names;
  for (const RangeMethod method :
       {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Entropy, RangeMethod::Mse})
    names.push_back(name(method));
  return names;
}

}  // namespace

CalibrateWishes wishesOf(const Ranges& ranges) {
  return {.choice = ranges.choice,
          .weightMethod = ranges.weightMethod,
          .perChannel = ranges.perChannel,
          .correctBiases = ranges.correctBiases,
          .smoothing = ranges.smoothing,
          .exclude = ranges.exclude};
}

Json toJson(const CalibrateWishes& wishes) {
  return {{"method", name(wishes.choice.method)}, {"percentile", wishes.choice.percentile},
          {"symmetric", wishes.choice.symmetric}, {"weights_method", name(wishes.weightMethod)},
          {"per_channel", wishes.perChannel},     {"correct_biases", wishes.correctBiases},
          {"smoothing", wishes.smoothing},        {"exclude", wishes.exclude}};
}

Result<CalibrateWishes> calibrateWishesFromJson(const Json& json) {
  CalibrateWishes wishes;
  JsonFields fields(json);
  const auto methods = methodNames();
  fields.readName("method", methods, wishes.choice.method).readNumber("percentile", wishes.choice.percentile);
  fields.read("symmetric", wishes.choice.symmetric).readName("weights_method", methods, wishes.weightMethod);
  fields.read("per_channel", wishes.perChannel).read("correct_biases", wishes.correctBiases);
  fields.readNumber("smoothing", wishes.smoothing).read("exclude", wishes.exclude);
  return fields.result(std::move(wishes));
}

Json toJson(const ExportWishes& wishes) {
  return {{"to", wishes.format},
          {"path", wishes.path},
          {"weights", kWeightTypes[static_cast<std::size_t>(wishes.weights)]},
          {"io", kBorderTypes[static_cast<std::size_t>(wishes.borders)]},
          {"check", wishes.check}};
}

Result<ExportWishes> exportWishesFromJson(const Json& json) {
  ExportWishes wishes;
  JsonFields fields(json);
  fields.require("to").read("to", wishes.format).require("path").read("path", wishes.path);
  fields.readName("weights", kWeightTypes, wishes.weights).readName("io", kBorderTypes, wishes.borders);
  fields.read("check", wishes.check);
  return fields.result(std::move(wishes));
}

Json exportJson(const ExportWishes& wishes, const std::vector<ExportNote>& notes) {
  Json warnings = Json::array();
  for (const ExportNote& note : notes) warnings.push_back(note.text);
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(wishes.path, error);
  return {{"format", "fusescope.export"},
          {"version", 1},
          {"to", wishes.format},
          {"path", wishes.path},
          {"bytes", error ? Json() : Json(bytes)},
          {"warnings", std::move(warnings)}};
}

}  // namespace fusescope
