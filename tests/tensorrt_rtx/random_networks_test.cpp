// Random networks in TensorRT for RTX: every node has one fate, and no kernel has a value as what it is not.
#include <cstdio>

#include "compilers/compile_network.h"
#include "tests/property/graph_maker.h"
#include "tests/property/hard_names.h"
#include "tests/property/seeds.h"
#include "tests/support/told_networks.h"
#include "tests/unit/compilers/tensorrt_rtx_testing.h"

namespace fusescope::test {
namespace {

struct Sums {
  int networks = 0, withBodies = 0, refused = 0;
  std::size_t nodes = 0, fallback = 0, notDisclosed = 0;
};

/// What the compiler makes of a network, with what it refuses on our own engine; nothing is wrong where neither can.
std::string checked(const Compiler& compiler, const std::shared_ptr<const Model>& model, Sums& sums) {
  const auto plan = makePlan(model, rtxOptions());
  if (!plan.ok()) return plan.error().text();
  const auto engine = compileNetwork(compiler, plan.value(), {.measureTactics = false});
  if (!engine.ok()) {
    ++sums.refused;
    if (std::getenv("FUSESCOPE_SHOW_REFUSED") != nullptr) std::printf("%.300s\n", engine.error().text().c_str());
    return {};
  }
  const auto cover = engine.value()->made();
  const ReadBackPlan* made = asReadBack(*cover);
  if (made == nullptr) return "nothing was read back";
  ++sums.networks;
  sums.withBodies += model->bodies.empty() ? 0 : 1;
  for (const NodeId id : made->graph().order()) {
    ++sums.nodes;
    sums.notDisclosed += made->fateOf(id) == Fate::NotDisclosed ? 1 : 0;
    sums.fallback += made->fateOf(id) == Fate::Fallback ? 1 : 0;
  }
  return problemOfMade(*made);
}

TEST(TensorrtRtxRandomNetworks, HaveOneFateForEveryNode) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  ASSERT_NE(rtxJob(), nullptr);  // its command may be started
  const Compiler* compiler = findCompiler("tensorrt-rtx@" + std::string(rtxPython()));
  ASSERT_NE(compiler, nullptr);
  const TemporaryFolder folder;
  Sums sums;
  const auto seeds = property::Seeds::asked(500);
  seeds.run([&](std::uint64_t seed) {
    property::Dice dice(seed);
    auto model = property::randomNetwork(seed, dice);
    if (model != nullptr && dice.oneIn(2)) model = property::readUnderHardNames(model, dice, folder.path());
    return model == nullptr ? std::string("cannot be written and read") : checked(*compiler, model, sums);
  });
  std::printf(
      "suite: %d networks (%d with bodies; %d refused), %zu nodes, %zu in fallback, of %zu it is not disclosed what "
      "became of them\n",
      sums.networks, sums.withBodies, sums.refused, sums.nodes, sums.fallback, sums.notDisclosed);
  EXPECT_GE(static_cast<std::uint64_t>(sums.networks) * 2, seeds.cases) << "most networks are compiled";
}

}  // namespace
}  // namespace fusescope::test
