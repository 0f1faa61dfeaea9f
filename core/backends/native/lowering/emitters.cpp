#include "backends/native/lowering/emitter.h"

// This file contains only the list of emitters, so that a program with another list can replace it.

namespace fusescope::native {

#define KERNEL(NAME) extern const Emitter k##NAME##Emitter;
#include "backends/native/lowering/kernels.inc"
#undef KERNEL

const std::vector<const Emitter*>& emitters() {
  static const std::vector<const Emitter*> kEmitters{
#define KERNEL(NAME) &k##NAME##Emitter,
#include "backends/native/lowering/kernels.inc"
#undef KERNEL
  };
  return kEmitters;
}

}  // namespace fusescope::native
