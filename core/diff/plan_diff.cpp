#include "diff/plan_diff.h"

#include <array>

namespace fusescope {

std::string_view name(DiffTimeKind kind) {
  static constexpr std::array<std::string_view, 4> kNames{"measured", "fitted", "built", "run"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(DifferenceKind kind) {
  static constexpr std::array<std::string_view, 12> kNames{"compiler", "target",      "precision", "workspace",
                                                           "ranges",   "weight_only", "directive", "directive_order",
                                                           "network",  "inputs",      "times",     "rules"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(GroupChange change) {
  static constexpr std::array<std::string_view, 6> kNames{"formed", "broken", "split", "merged", "moved", "rerouted"};
  return kNames[static_cast<std::size_t>(change)];
}

std::string_view name(TypedThing thing) {
  static constexpr std::array<std::string_view, 3> kNames{"fused_node", "node", "value"};
  return kNames[static_cast<std::size_t>(thing)];
}

std::string Difference::text() const {
  if (kind == DifferenceKind::Inputs) return "the inputs' extents or types";
  if (a.empty() || a.starts_with("without ")) return b + " (only in B)";
  if (b.empty() || b.starts_with("without ")) return a + " (only in A)";
  const std::size_t option = a.find(' ') + 1;
  if (a.starts_with("--") && b.starts_with(a.substr(0, option))) return a + " → " + b.substr(option);
  return a + " and " + b;
}

std::vector<std::string> predictionTexts(const PlanDiff& diff) {
  if (!diff.prediction) return {};
  std::vector<std::string> texts;
  if (const std::string kernels = sharedKernelsText(diff.prediction->agreement); !kernels.empty())
    texts.push_back((diff.prediction->isA ? "our prediction (A) of B: " : "our prediction (B) of A: ") + kernels);
  if (const std::string types = storedTypesText(diff.prediction->agreement); !types.empty())
    texts.push_back("types of our prediction: " + types);
  return texts;
}

bool PlanDiff::same() const {
  return onlyA.empty() && onlyB.empty() && changed.empty() && constants.empty() && differences.empty() &&
         fusions.empty() && fates.empty() && segments.empty() && types.empty() && casts.empty() && decisions.empty();
}

}  // namespace fusescope
