#include "planning/fusion/rules.h"

// The list of rules, and nothing else: a program with another list takes this file's place.

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
