#include "engine/carried_examples.h"

#include "base/json.h"
#include "base/zip_places.h"
#include "engine/engine_file.h"
#include "frontends/example_inputs.h"
#include "frontends/torch/pt2_importer.h"
#include "onnxlib/metadata_entry.h"

namespace fusescope {
namespace {

/// Arrays where the file has them as arrays.
struct Carried {
  std::string text;
  std::map<std::string, Tensor> arrays;
};

Result<Carried> carriedBy(const MappedFile& file) {
  if (isEngine(file.bytes())) return Carried{.text = engineExamplesText(file.bytes()), .arrays = {}};
  if (isZip(file.bytes())) {
    auto examples = readExampleInputs(file.identity().path);
    TRY(file.checkIntact());
    if (!examples.ok()) return Carried();  // opening the file has said why
    return Carried{.text = {}, .arrays = std::move(examples).value()};
  }
  const auto text = onnxlib::metadataEntry(file.bytes(), kExampleInputsKey);
  return Carried{.text = std::string(text.value_or(std::string_view())), .arrays = {}};
}

Result<std::map<std::string, Tensor>> arraysOf(Carried carried) {
  if (!carried.arrays.empty() || carried.text.empty()) return std::move(carried.arrays);
  return exampleInputsFromText(carried.text);
}

}  // namespace

Result<std::string> carriedExamplesText(const Model& model) {
  if (model.files.empty()) return std::string();  // of a part, or made by a program
  Carried carried = TRY(carriedBy(*model.files.front()));
  return carried.arrays.empty() ? Result<std::string>(std::move(carried.text)) : exampleInputsText(carried.arrays);
}

Result<std::map<std::string, Tensor>> carriedExamples(const Model& model) {
  if (model.files.empty()) return std::map<std::string, Tensor>();
  return arraysOf(TRY(carriedBy(*model.files.front())));
}

Result<std::map<std::string, Tensor>> carriedExamples(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  auto arrays = arraysOf(TRY(carriedBy(*file)));
  TRY(file->checkIntact());
  if (arrays.ok() || !arrays.error().where.file.empty()) return arrays;
  Diagnostic error = std::move(arrays).error();
  error.where.file = path.string();
  return error;
}

}  // namespace fusescope
