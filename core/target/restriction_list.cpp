#include "target/restriction_list.h"

// This file contains only the list of restrictions, so that a program with another list can replace it.

namespace fusescope {

#define RESTRICTION(NAME) extern const NamedRestriction k##NAME;
#include "target/restrictions.inc"
#undef RESTRICTION

const std::vector<const NamedRestriction*>& restrictionFunctions() {
  static const std::vector<const NamedRestriction*> kFunctions{
#define RESTRICTION(NAME) &k##NAME,
#include "target/restrictions.inc"
#undef RESTRICTION
  };
  return kFunctions;
}

}  // namespace fusescope
