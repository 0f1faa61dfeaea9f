#include "engine/carried_examples.h"

#include <algorithm>

#include "base/json.h"
#include "base/zip_places.h"
#include "engine/engine_file.h"
#include "frontends/example_inputs.h"
#include "frontends/torch/pt2_importer.h"
#include "onnxlib/metadata_entry.h"

namespace fusescope {
namespace {

using Arrays = std::map<std::string, Tensor>;

/// The example inputs of a file, as arrays in the order of its inputs if the file contains arrays.
struct Carried {
  std::string text;
  std::vector<std::pair<std::string, Tensor>> arrays;
};

Result<Carried> carriedBy(const MappedFile& file) {
  if (isEngine(file.bytes())) return Carried{.text = engineExamplesText(file.bytes()), .arrays = {}};
  if (isZip(file.bytes())) {
    auto examples = readExampleInputs(file.identity().path);
    TRY(file.checkIntact());
    if (!examples.ok()) return Carried();  // the problem was reported when the file was opened
    return Carried{.text = {}, .arrays = std::move(examples).value()};
  }
  const auto text = onnxlib::metadataEntry(file.bytes(), kExampleInputsKey);
  return Carried{.text = std::string(text.value_or(std::string_view())), .arrays = {}};
}

Result<Arrays> arraysOf(Carried carried) {
  if (!carried.text.empty()) return exampleInputsFromText(carried.text);
  Arrays arrays;
  for (auto& [name, array] : carried.arrays) arrays.emplace(std::move(name), std::move(array));
  return arrays;
}

Result<Arrays> arraysOf(Carried carried, const Model& model) {
  carried.arrays = calledAsInputs(model, std::move(carried.arrays));
  return arraysOf(std::move(carried));
}

}  // namespace

std::vector<std::pair<std::string, Tensor>> calledAsInputs(const Model& model,
                                                           std::vector<std::pair<std::string, Tensor>> arrays) {
  const std::vector<InputSpec>& specs = model.inputSpecs;
  const bool areCalledSo = std::ranges::any_of(arrays, [&](const auto& array) {
    return std::ranges::find(specs, array.first, &InputSpec::name) != specs.end();
  });
  if (areCalledSo || arrays.size() != specs.size()) return arrays;
  for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i].first = specs[i].name;
  return arrays;
}

Result<std::string> carriedExamplesText(const Model& model) {
  if (model.files.empty()) return std::string();  // the model is a part of another one, or was made by a program
  Carried carried = TRY(carriedBy(*model.files.front()));
  if (carried.arrays.empty()) return std::move(carried.text);
  return exampleInputsText(TRY(arraysOf(std::move(carried), model)));
}

Result<Arrays> carriedExamples(const Model& model) {
  if (model.files.empty()) return Arrays();
  return arraysOf(TRY(carriedBy(*model.files.front())), model);
}

Result<Arrays> carriedExamples(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  auto arrays = arraysOf(TRY(carriedBy(*file)));
  TRY(file->checkIntact());
  if (arrays.ok() || !arrays.error().where.file.empty()) return arrays;
  Diagnostic error = std::move(arrays).error();
  error.where.file = path.string();
  return error;
}

}  // namespace fusescope
