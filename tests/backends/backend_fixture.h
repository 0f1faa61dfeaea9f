#pragma once

#include "engine/program/executor.h"
#include "session/artifact.h"
#include "tests/unit/engine/engine_fixture.h"
#include "tests/unit/engine/lowered_program.h"
#include "verify/compare_tensors.h"

namespace fusescope::testing {

/// Random inputs of a network, seeded by their names.
std::map<std::string, Tensor> inputsOf(const Plan& plan);

/// What an engine of `plan` gives for these inputs.
RunResult resultOf(const std::shared_ptr<const Plan>& plan, const std::string& backend,
                   const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark = {});

/// Every output and marked value of `result` is just what the reference gives.
void expectAsReference(const std::shared_ptr<const Plan>& plan, const RunResult& result,
                       const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark = {});

/// Three blocks of a product and a Relu: x [4, 16] to y [4, 16]. With `onHost`, what is in the middle falls back.
std::shared_ptr<const Plan> blocksPlan(bool onHost);

}  // namespace fusescope::testing
