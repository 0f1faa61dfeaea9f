// The main function of GoogleTest programs. It can limit kernels to the instructions of less capable CPUs.
#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace {

/// Limits our own kernels to the instructions that the variable FUSESCOPE_TEST_INSTRUCTIONS names. Returns false for an
/// unknown name; AVX2 is the only known one.
bool holdInstructions() {
  const char* most = std::getenv("FUSESCOPE_TEST_INSTRUCTIONS");
  if (most == nullptr) return true;
  if (std::string_view(most) != "AVX2") return false;
#if HWY_ARCH_X86
  // Targets are bits, and better targets have lower bits. DisableTargets() would be undone by the next query for the
  // supported targets.
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
