// A .pt2, a package of compiled code, or a pickle, of any bytes is refused in words or read; what is read can be
// prepared.

#include "frontends/importers.h"
#include "frontends/torch/inductor_build.h"
#include "frontends/torch/pickle_reader.h"
#include "frontends/torch/program_reader.h"
#include "frontends/torch/pt2_importer.h"
#include "passes/pipelines.h"
#include "tests/fuzz/fuzz_support.h"

using namespace fusescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto pickle = torch::readPickle(std::as_bytes(std::span(data, size)));
  if (!pickle.ok() && pickle.error().message.empty()) fuzz::report("a pickle is refused in words", "");
  // Also as the JSON of a program, which a zip archive around it would keep from being damaged.
  (void)torch::parseExportedProgram(fuzz::asText({data, size}), 1000);
  const auto path = fuzz::asFile({data, size}, ".pt2");
  if (isInductorBuild(path))
    if (const auto build = readInductorBuild(path); !build.ok() && build.error().where.file != path.string())
      fuzz::report("an error names the file", build.error().text());
  if (!isTorchFile(path)) return 0;
  (void)torch::isTorchScript(path);
  auto model = importModel(path);
  if (!model.ok()) {
    if (model.error().where.file != path.string()) fuzz::report("an error names the file", model.error().text());
    return 0;
  }
  (void)readExportedProgram(path);
  (void)prepareModel(std::move(model).value());
  return 0;
}
