#include "tests/conformance/case_files.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"

namespace fusescope::conformance {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Container containerOf(const std::string& kind) {
  static const std::map<std::string, Container> kContainers{{"sequence", Container::Sequence},
                                                            {"optional", Container::Optional},
                                                            {"optional_sequence", Container::OptionalSequence}};
  const auto found = kContainers.find(kind);
  return found == kContainers.end() ? Container::None : found->second;
}

std::vector<CaseValue> valuesOf(const Json& list) {
  std::vector<CaseValue> values;
  for (const Json& item : list) {
    CaseValue value{.name = item.at("name"), .element = lower(item.at("element")), .type = {}};
    value.type.container = containerOf(item.at("kind"));
    value.type.dtype = dataTypeFromName(value.element).value_or(DataType::Undefined);
    values.push_back(std::move(value));
  }
  return values;
}

Result<Case> readCase(const fs::path& folder) {
  const std::string text = TRY(readTextFile(folder / "case.json"));
  const Json json = Json::parse(text);
  return Case{.name = folder.filename(),
              .folder = folder,
              .domain = json.at("domain"),
              .operatorName = json.at("operator"),
              .expanded = json.at("expanded"),
              .relative = json.at("rtol"),
              .absolute = json.at("atol"),
              .inputs = valuesOf(json.at("inputs")),
              .outputs = valuesOf(json.at("outputs"))};
}

}  // namespace

std::vector<fs::path> Case::dataSets() const {
  std::vector<fs::path> sets;
  for (int number = 0;; ++number) {
    const fs::path set = folder / ("test_data_set_" + std::to_string(number));
    if (!fs::exists(set)) return sets;
    sets.push_back(set);
  }
}

Result<std::vector<Case>> readCases(const fs::path& folder, const std::string& glob) {
  if (!fs::exists(folder / "ready"))
    return Diagnostic{.message = "holds no finished set of cases",
                      .where = {.file = folder.string()},
                      .help = "tests/conformance/generate.py writes one."};
  std::vector<Case> cases;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && matchesGlob(glob, entry.path().filename().string()))
      cases.push_back(TRY(readCase(entry.path())));
  std::ranges::sort(cases, {}, &Case::name);
  return cases;
}

}  // namespace fusescope::conformance
