#include "target/restriction_functions.h"

// The list of restrictions, and nothing else: a program with another list takes this file's place.

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
