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
  std::size_t fallback = 0;
  SilentNodes silent;
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
  for (const NodeId id : made->graph().order()) sums.fallback += made->fateOf(id) == Fate::Fallback ? 1 : 0;
  sums.silent.add(*made);
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
  std::printf("suite: %d networks (%d with bodies; %d refused), %zu nodes in fallback; not disclosed: %s\n",
              sums.networks, sums.withBodies, sums.refused, sums.fallback, sums.silent.text().c_str());
  // The kernels inside a loop carry no names of nodes, so that it is not disclosed what became of most Loops and Scans.
  EXPECT_LE(sums.silent.share(), 0.02) << sums.silent.text();
  EXPECT_GE(static_cast<double>(sums.networks), 0.98 * static_cast<double>(seeds.cases)) << "500 of 500 were compiled";
}

/// Of networks that are compiled as a whole, whose list of layers is known here.
TEST(TensorrtRtxRandomNetworks, HaveTensorsWithTheExtentsOfTheirValues) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  const auto job = rtxJob();
  ASSERT_NE(job, nullptr);
  std::uint64_t compared = 0;
  const auto seeds = property::Seeds::asked(100);
  seeds.run([&](std::uint64_t seed) {
    property::Dice dice(seed);
    const auto model = property::randomNetwork(seed, dice);
    if (model == nullptr) return std::string("cannot be written and read");
    const auto plan = makePlan(model, rtxOptions());
    if (!plan.ok()) return plan.error().text();
    auto handed = makeCompilerInput(plan.value(), CompilerInputTypes::AsPlanned, {});
    if (!handed.ok()) return std::string();  // parts of it would have to fall back
    const auto compiled = askRtx(*job, "compile", handed.value());
    if (!compiled.ok()) return std::string();
    const auto text = readTextFile(compiled.value().files.at("log.jsonl"));
    const auto log = readBuildLog(text.value());
    const auto told = rtx().readBack(handed.value(), compiled.value());
    if (!log.ok() || !told.ok()) return std::string("cannot be read back");
    ++compared;
    return extentsProblem(plan.value()->graph(), log.value().layers, told.value());
  });
  std::printf("suite: tensors of %lu networks have the extents of their values\n", compared);
  EXPECT_GE(compared * 4, seeds.cases) << "many networks are compiled as a whole";
}

}  // namespace
}  // namespace fusescope::test
