#include "ops/families.h"
#include "ops/op_schema.h"

// The list of families, and nothing else: a program with another list takes this file's place.

namespace fusescope {
namespace {

OpRegistry makeStandard() {
  OpRegistry registry;
#define FAMILY(NAME) ops::register##NAME(registry);
#include "ops/families.inc"
#undef FAMILY
  return registry;
}

}  // namespace

const OpRegistry& OpRegistry::standard() {
  static const OpRegistry kRegistry = makeStandard();
  return kRegistry;
}

}  // namespace fusescope
