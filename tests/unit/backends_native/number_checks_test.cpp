#include "backends/number_checks.h"

#include <gtest/gtest.h>

#include <cfenv>

namespace fusescope::testing {
namespace {

TEST(NumberChecks, NotesAreTakenOnce) {
  takeInvalid();
  std::feraiseexcept(FE_INVALID);
  EXPECT_TRUE(takeInvalid());
  EXPECT_FALSE(takeInvalid());
}

TEST(NumberChecks, OnlyKernelsThatMayLoseNumbersRaiseASuspicion) {
  takeInvalid();
  EXPECT_FALSE(isCheckedLater()) << "nobody looks afterwards";
  UncheckedNumbers outer;
  std::feraiseexcept(FE_INVALID);
  EXPECT_FALSE(outer.takeSuspicion()) << "no kernel that may lose NaN has run";
  UncheckedNumbers inner;
  EXPECT_TRUE(isCheckedLater());
  EXPECT_FALSE(inner.takeSuspicion()) << "the outer one knows";
  EXPECT_TRUE(outer.takeSuspicion());
  EXPECT_FALSE(outer.takeSuspicion()) << "the notes were taken away";
}

}  // namespace
}  // namespace fusescope::testing
