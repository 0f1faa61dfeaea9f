#include "ops/families.h"
#include "ops/op_schema.h"

// This file contains only the list of families, so that a program with another list can replace it.

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
