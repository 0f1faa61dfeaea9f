#include "base/process_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>

#include "base/aligned_memory.h"
#include "base/page_memory.h"
#include "base/sanitizers.h"

namespace fusescope {
namespace {

TEST(ProcessMemory, ThePeakStaysWhenMemoryIsGivenBack) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const auto before = processMemory();
  ASSERT_TRUE(before);
  {
    const auto block = std::make_unique<unsigned char[]>(kBytes);
    std::memset(block.get(), 1, kBytes);
    const volatile unsigned char* read = block.get();
    EXPECT_EQ(read[kBytes - 1], 1);
    EXPECT_GE(processMemory()->resident, before->resident + static_cast<std::int64_t>(kBytes / 2));
  }
  const auto after = processMemory();
  EXPECT_GE(after->peakResident, before->resident + static_cast<std::int64_t>(kBytes / 2));
  // AddressSanitizer keeps what is given back for a while.
  if (!FUSESCOPE_ADDRESS_SANITIZER) {
    EXPECT_LT(after->resident, after->peakResident);
  }
  EXPECT_GT(after->mapped, 0) << "the program itself is mapped";
}

TEST(MostMemory, MoreIsRefusedBeforeItIsTouched) {
  EXPECT_GE(mostMemory(), static_cast<std::size_t>(processMemory().value().resident));
  EXPECT_THROW(AlignedMemory(mostMemory() + 1), std::bad_alloc);
  EXPECT_THROW(PageMemory(mostMemory() + 1), std::bad_alloc);
  PageMemory pages(1);
  EXPECT_THROW(pages.growTo(mostMemory() + 1), std::bad_alloc);
  EXPECT_EQ(pages.bytes(), 1U) << "as it was";
}

}  // namespace
}  // namespace fusescope
