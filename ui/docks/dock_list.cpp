#include "ui/docks/dock.h"

namespace fusescope {

#define DOCK(Name) extern const DockForm k##Name##Dock;
#include "ui/docks/docks.inc"
#undef DOCK

const std::vector<const DockForm*>& dockForms() {
  static const std::vector<const DockForm*> kForms{
#define DOCK(Name) &k##Name##Dock,
#include "ui/docks/docks.inc"
#undef DOCK
  };
  return kForms;
}

}  // namespace fusescope
