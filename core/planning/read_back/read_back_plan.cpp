#include "planning/read_back/read_back_plan.h"

namespace fusescope {
namespace {

constexpr std::string_view kCertainties[] = {"verified", "named", "derived", "guessed"};
constexpr std::string_view kFates[] = {"kernel", "folded", "removed", "view", "merged", "fallback", "not_disclosed"};
constexpr std::string_view kPinResults[] = {"obeyed", "ignored", "widened", "moved", "without_kernel", "not_disclosed"};
constexpr std::string_view kPinCauses[] = {"none",          "not_applied",    "only_preferred", "type_not_enabled",
                                           "no_tactic",     "target_refuses", "without_kernel", "in_region",
                                           "shares_kernel", "not_disclosed"};

}  // namespace

std::string_view name(Certainty certainty) {
  return kCertainties[static_cast<std::size_t>(certainty)];
}

std::string_view name(Fate fate) {
  return kFates[static_cast<std::size_t>(fate)];
}

std::string_view name(PinResult result) {
  return kPinResults[static_cast<std::size_t>(result)];
}

std::string_view name(PinCause cause) {
  return kPinCauses[static_cast<std::size_t>(cause)];
}

const ReadBackPlan* asReadBack(const Cover& cover) {
  return cover.source == CoverSource::ReadBack ? static_cast<const ReadBackPlan*>(&cover) : nullptr;
}

const Plan& requestedPlan(const Cover& cover) {
  const ReadBackPlan* made = asReadBack(cover);
  return made != nullptr ? *made->requested : static_cast<const Plan&>(cover);
}

std::vector<FusedNodeId> kernelsOf(const Cover& cover, NodeId node) {
  if (const ReadBackPlan* made = asReadBack(cover)) return made->kernelsOf(node);
  const FusedNode* fused = cover.fusedNodeOf(node);
  return fused == nullptr ? std::vector<FusedNodeId>() : std::vector{fused->id};
}

}  // namespace fusescope
