#include "frontends/input_spec_metadata.h"

#include "base/json.h"

namespace fusescope {
namespace {

Result<Dims> extentsOf(const Json& spec, const std::string& input, const char* key) {
  const Diagnostic wrong{.message = "is to be a list of extents", .where = {.value = input, .attribute = key}};
  if (!spec.is_object() || !spec.contains(key) || !spec.at(key).is_array()) return wrong;
  Dims dims;
  for (const Json& extent : spec.at(key)) {
    if (!extent.is_number_integer() || extent.get<std::int64_t>() < 0) return wrong;
    dims.push_back(extent.get<std::int64_t>());
  }
  return dims;
}

}  // namespace

std::string inputSpecsText(const std::vector<InputSpec>& specs) {
  Json json = Json::object();
  for (const InputSpec& spec : specs) json[spec.name] = {{"min", spec.min}, {"opt", spec.opt}, {"max", spec.max}};
  return json.dump();
}

Result<std::vector<InputSpec>> inputSpecsFromText(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Diagnostic{.message = "is no JSON object", .where = {.attribute = kInputSpecsKey}};
  std::vector<InputSpec> specs;
  for (const auto& [name, given] : json.items()) {
    InputSpec spec{.name = name, .min = {}, .opt = {}, .max = {}, .source = "metadata"};
    spec.min = TRY(extentsOf(given, name, "min"));
    spec.opt = TRY(extentsOf(given, name, "opt"));
    spec.max = TRY(extentsOf(given, name, "max"));
    bool ordered = spec.min.size() == spec.opt.size() && spec.opt.size() == spec.max.size();
    for (std::size_t axis = 0; ordered && axis < spec.opt.size(); ++axis)
      ordered = spec.min[axis] <= spec.opt[axis] && spec.opt[axis] <= spec.max[axis];
    if (!ordered)
      return Diagnostic{.message = "min, opt and max are not in order, extent by extent", .where = {.value = name}};
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace fusescope
