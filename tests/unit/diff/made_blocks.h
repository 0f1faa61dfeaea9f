#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "planning/read_back/read_back_plan.h"

namespace fusescope::test {

using Names = std::vector<std::string>;

// Plans of one of chainOfBlocks(): wide0, relu0, narrow0, sum0, which our rules make two kernels of; and what another
// compiler may make of it.

std::shared_ptr<const Plan> ours(std::vector<DataType> precisions = {});
/// What is asked of onnxruntime.
std::shared_ptr<const Plan> askedOf(const Names& pins = {});

ReadBackKernel kernelOver(const Plan& plan, const std::string& name, const Names& nodes, DataType type = DataType::F32);
std::shared_ptr<const ReadBackPlan> madeOf(const std::shared_ptr<const Plan>& asked,
                                           std::vector<ReadBackKernel> kernels,
                                           const std::map<std::string, Fate>& fates = {},
                                           const std::string& version = "1.18.0");
/// "first" and "second", as our own rules would make them.
std::shared_ptr<const ReadBackPlan> madeAlike(const std::shared_ptr<const Plan>& asked, DataType type = DataType::F32);

}  // namespace fusescope::test
