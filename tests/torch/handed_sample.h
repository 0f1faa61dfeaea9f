#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "compilers/probed/compiler_input.h"
#include "frontends/importers.h"
#include "passes/pipelines.h"
#include "planning/plan.h"
#include "tests/support/paths.h"

namespace fusescope::test {

/// A sample, planned for torch and handed to it in the types of its file. Where that fails the test fails, and there is
/// nothing.
inline std::optional<CompilerInput> handedSample(const std::string& name) {
  const auto read = [&]() -> Result<CompilerInput> {
    Model model = TRY(prepareModel(TRY(importModel(sampleFolder(name) / "model.onnx", {}, {})), {}));
    return makeCompilerInput(TRY(makePlan(std::make_shared<const Model>(std::move(model)), {.target = "torch"})),
                             CompilerInputTypes::AsInFile, {});
  };
  auto handed = read();
  if (handed.ok()) return std::move(handed).value();
  ADD_FAILURE() << handed.error().text();
  return std::nullopt;
}

}  // namespace fusescope::test
