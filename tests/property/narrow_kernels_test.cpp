#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/property/graph_maker.h"
#include "tests/property/kernel_checks.h"
#include "tests/property/random_options.h"
#include "tests/property/seeds.h"

namespace fusescope::property {
namespace {

/// Random networks in bf16 or f16 with directives of all kinds: what native kernels make of each fused node, beside the
/// emulation.
TEST(NarrowKernels, RoundAsTheRuleSays) {
  const Seeds seeds = Seeds::asked(150);
  KernelCounts counts;
  seeds.run([&](std::uint64_t seed) -> std::string {
    Dice dice(seed * 6271 + 3);
    GraphMaker maker(seed, {.f32Only = !dice.oneIn(3)});
    const auto model = maker.make(5 + dice.below(25));
    if (model == nullptr) return "the network could not be made";
    PlanOptions options = randomOptions(dice, *model->graph);
    options.target = "cpu:none";
    options.precisions = {dice.oneIn(2) ? DataType::BF16 : DataType::F16};
    const auto plan = makePlan(model, options);
    if (!plan.ok()) return {};  // directives that contradict each other: PropertyPlans looks at these
    return checkKernels(*plan.value(), dice, true, counts);
  });
  fmt::print(
      "suite: narrow kernels: {} kernels beside the emulation ({} not runnable), {} native, {} of narrow floats\n",
      counts.kernels, counts.unknown, counts.native, counts.narrow);
  EXPECT_GT(counts.narrow, counts.kernels / 4);
}

}  // namespace
}  // namespace fusescope::property
