#include "planning/fusion/rules.h"

// This file contains only the list of rules, so that a program with another list can replace it.

namespace fusescope {

#define FUSION_RULE(NAME) extern const FusionRule k##NAME##Rule;
#include "planning/fusion/rules.inc"
#undef FUSION_RULE

const std::vector<const FusionRule*>& fusionRules() {
  static const std::vector<const FusionRule*> kRules{
#define FUSION_RULE(NAME) &k##NAME##Rule,
#include "planning/fusion/rules.inc"
#undef FUSION_RULE
  };
  return kRules;
}

}  // namespace fusescope
