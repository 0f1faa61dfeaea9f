#pragma once

#include <string>
#include <vector>

#include "diff/plan_diff.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// What the options of two plans differ by, in the order of PlanOptions; directives that both have, whatever their ids
/// and notes, are no difference.
std::vector<Difference> optionDifferences(const PlanOptions& a, const PlanOptions& b);

/// "onnxruntime 1.18.0"
std::string compilerText(const CompilerIdentity& compiler);
/// Adds what two plans that are read back differ by because one compiler was another when it made them: its version,
/// where it is, or how it was called.
void addCompilerDifferences(const Cover& a, const Cover& b, std::vector<Difference>& differences);

/// `options`, one of the two sides', with what they differ by at `place` of optionDifferences() as the other side has
/// it.
PlanOptions takenOver(PlanOptions options, const PlanOptions& a, const PlanOptions& b, std::size_t place,
                      bool optionsOfA);

/// The places of optionDifferences() that belong together: directives of one kind, type and side, or, where that leaves
/// more than `most` groups, all directives; each other option alone.
std::vector<std::vector<std::size_t>> differenceGroups(const PlanOptions& a, const PlanOptions& b, std::size_t most);

/// "f32", "f16,f32"
std::string precisionText(const PlanOptions& options);

}  // namespace fusescope
