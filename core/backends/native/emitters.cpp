#include "backends/native/emitter.h"

// The list of emitters, and nothing else: a program with another list takes this file's place.

namespace fusescope::native {

#define KERNEL(NAME) extern const Emitter k##NAME##Emitter;
#include "backends/native/kernels.inc"
#undef KERNEL

const std::vector<const Emitter*>& emitters() {
  static const std::vector<const Emitter*> kEmitters{
#define KERNEL(NAME) &k##NAME##Emitter,
#include "backends/native/kernels.inc"
#undef KERNEL
  };
  return kEmitters;
}

}  // namespace fusescope::native
