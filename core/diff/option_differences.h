#pragma once

#include <string>
#include <vector>

#include "diff/plan_diff.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// Returns the differences between the options of two plans, in the order of PlanOptions. Directives that both have are
/// not a difference, whatever their ids and notes.
std::vector<Difference> optionDifferences(const PlanOptions& a, const PlanOptions& b);

/// Returns "onnxruntime 1.18.0".
std::string compilerText(const CompilerIdentity& compiler);
/// Adds the differences between two read-back plans that come from their compilers: the version, the environment, or
/// the options.
void addCompilerDifferences(const Cover& a, const Cover& b, std::vector<Difference>& differences);

/// Returns `options`, which are those of one side, with the difference at index `place` of optionDifferences() replaced
/// by the other side's value.
PlanOptions takenOver(PlanOptions options, const PlanOptions& a, const PlanOptions& b, std::size_t place,
                      bool optionsOfA);

/// Groups the indices of optionDifferences() that belong together: directives of one kind, type and side, or, if this
/// gives more than `most` groups, all directives; each other option alone.
std::vector<std::vector<std::size_t>> differenceGroups(const PlanOptions& a, const PlanOptions& b, std::size_t most);

/// Returns "f32", "f16,f32".
std::string precisionText(const PlanOptions& options);

}  // namespace fusescope
