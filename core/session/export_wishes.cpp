#include "session/export_wishes.h"

#include <filesystem>

#include "base/json_fields.h"

namespace fusescope {
namespace {

const std::vector<std::string_view> kWeightTypes = {"convert", "keep"}, kBorderTypes = {"keep", "plan"};

}  // namespace

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

Json exportJson(const ExportWishes& wishes, const Exported& exported) {
  Json warnings = Json::array();
  for (const ExportNote& note : exported.notes) warnings.push_back(note.text);
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(wishes.path, error);
  return {{"format", "fusescope.export"},
          {"version", 1},
          {"to", wishes.format},
          {"path", wishes.path},
          {"bytes", error ? Json() : Json(bytes)},
          {"numbers", exported.numbers ? toJson(*exported.numbers) : Json()},
          {"warnings", std::move(warnings)}};
}

}  // namespace fusescope
