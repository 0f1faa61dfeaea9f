#include "ui/canvas/container_kinds.h"

namespace fusescope {

#define CONTAINER_KIND(Name) extern const ContainerKind k##Name##Containers;
#include "ui/canvas/container_kinds.inc"
#undef CONTAINER_KIND

const std::vector<const ContainerKind*>& containerKinds() {
  static const std::vector<const ContainerKind*> kKinds{
#define CONTAINER_KIND(Name) &k##Name##Containers,
#include "ui/canvas/container_kinds.inc"
#undef CONTAINER_KIND
  };
  return kKinds;
}

}  // namespace fusescope
