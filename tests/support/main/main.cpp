// GoogleTest's main, which can hold kernels to what lesser CPUs have.
#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace {

/// FUSESCOPE_TEST_INSTRUCTIONS=AVX2: our own kernels use nothing beyond it. False: an unknown name.
bool holdInstructions() {
  const char* most = std::getenv("FUSESCOPE_TEST_INSTRUCTIONS");
  if (most == nullptr) return true;
  if (std::string_view(most) != "AVX2") return false;
#if HWY_ARCH_X86
  // Targets are bits, the best one the least. DisableTargets() would hold only until somebody asks what is supported.
  hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(HWY_AVX2 - 1));
#endif
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (!holdInstructions()) {
    std::cerr << "FUSESCOPE_TEST_INSTRUCTIONS names no instructions that kernels can be held to; there is AVX2\n";
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
