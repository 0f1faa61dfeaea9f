#include "session/input_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "frontends/value_files.h"
#include "interchange/codes.h"
#include "interchange/npz.h"

namespace fusescope {
namespace fs = std::filesystem;

namespace {

using Values = std::map<std::string, Tensor>;

constexpr std::string_view kTestDataPrefix = "input_";

Diagnostic noSuchInput(const Plan& plan, const fs::path& file, const std::string& name) {
  std::vector<std::string> names;
  for (const InputSpec& spec : plan.inputSpecs) names.push_back(spec.name);
  return {.message = "the model has no input of this name",
          .where = {.file = file.string(), .value = name},
          .help = fmt::format("Its inputs are {}.", joined(names))};
}

const InputSpec* specOf(const Plan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.inputSpecs, name, &InputSpec::name);
  return found == plan.inputSpecs.end() ? nullptr : &*found;
}

Result<Values> fromNpz(const Plan& plan, const fs::path& path) {
  const auto arrays = TRY(readNpz(path));
  Values values;
  for (const auto& [name, tensor] : inputsFrom(arrays)) {
    if (const InputSpec* spec = specOf(plan, name)) {
      values.emplace(name, fromCodes(tensor, spec->dtype));
    } else if (arrays.contains("in:" + name)) {
      return noSuchInput(plan, path, name);
    }
  }
  return values;
}

Status addNpy(const Plan& plan, const fs::path& path, Values& into) {
  std::string name = path.stem().string();
  if (plan.inputSpecs.size() == 1) name = plan.inputSpecs.front().name;
  const InputSpec* spec = specOf(plan, name);
  if (spec == nullptr) return noSuchInput(plan, path, name);
  const auto file = TRY(MappedFile::open(path));
  auto array = parseNpy(file->bytes(), path.string(), name);
  TRY(file->checkIntact());
  into.insert_or_assign(name, fromCodes(TRY(std::move(array)), spec->dtype));
  return Done{};
}

/// I of "input_I.pb".
std::optional<std::size_t> testDataIndex(const fs::path& path) {
  const std::string stem = path.stem().string();
  if (!stem.starts_with(kTestDataPrefix)) return {};
  std::size_t index = 0;
  const char* end = stem.data() + stem.size();
  const auto read = std::from_chars(stem.data() + kTestDataPrefix.size(), end, index);
  return read.ec == std::errc() && read.ptr == end ? std::optional(index) : std::nullopt;
}

Status addTestData(const Plan& plan, const fs::path& path, Values& into) {
  const auto index = testDataIndex(path);
  if (!index || *index >= plan.inputSpecs.size()) {
    return Diagnostic{.message = "the name of this file does not say which input it is of",
                      .where = {.file = path.string()},
                      .help = fmt::format("input_0.pb to input_{}.pb are the model's {} inputs.",
                                          plan.inputSpecs.size() - 1, plan.inputSpecs.size())};
  }
  const Graph& graph = plan.graph();
  into.insert_or_assign(plan.inputSpecs[*index].name,
                        TRY(readValueFile(path, graph.value(graph.inputs()[*index]).type)));
  return Done{};
}

Result<Values> fromFolder(const Plan& plan, const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) files.push_back(entry.path());
  if (error) return Diagnostic{.message = error.message(), .where = {.file = folder.string()}};
  std::ranges::sort(files);
  Values values;
  for (const fs::path& file : files) {
    if (file.extension() == ".npy") TRY(addNpy(plan, file, values));
    if (file.extension() == ".pb" && testDataIndex(file)) TRY(addTestData(plan, file, values));
  }
  if (!values.empty()) return values;
  return Diagnostic{.message = "there are no inputs in this folder",
                    .where = {.file = folder.string()},
                    .help = "Inputs are files called input_0.pb, input_1.pb, … or NAME.npy."};
}

}  // namespace

Result<Values> readInputFiles(const Plan& plan, const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return fromFolder(plan, path);
  Values values;
  if (path.extension() == ".npy") {
    TRY(addNpy(plan, path, values));
    return values;
  }
  if (path.extension() == ".pb") {
    TRY(addTestData(plan, path, values));
    return values;
  }
  return fromNpz(plan, path);
}

bool isInputFile(const std::filesystem::path& path) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(path, unreadable)) return true;
  const std::string suffix = path.extension().string();
  return suffix == ".npz" || suffix == ".npy" || suffix == ".pb";
}

}  // namespace fusescope
