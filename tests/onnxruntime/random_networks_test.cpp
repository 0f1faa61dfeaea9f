// Random networks: every node has one fate, and nothing is bound that cannot be.
#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/onnxruntime/onnxruntime_networks.h"
#include "tests/property/graph_maker.h"
#include "tests/property/hard_names.h"
#include "tests/property/seeds.h"

namespace fusescope::test {
namespace {

class OnnxRuntimeRandomNetworks : public OnnxRuntimeTest {};

struct Sums {
  std::int64_t networks = 0, refused = 0, withBodies = 0, live = 0, bound = 0, compared = 0, equal = 0;
};

std::string checked(const ReadNetwork& network, Sums& sums) {
  ++sums.networks;
  sums.withBodies += network.plan->model->bodies.empty() ? 0 : 1;
  const FateCounts counts = countsOf(network);
  sums.live += counts.live;
  sums.bound += counts.inKernels;
  if (std::getenv("FUSESCOPE_SHOW_REFUSED") != nullptr &&
      (counts.inKernels < counts.live || network.equal < network.compared))
    std::printf("%s at %s: %ld of %ld bound, %ld of %ld equal\n", network.name.c_str(), network.level.c_str(),
                counts.inKernels, counts.live, network.equal, network.compared);
  sums.compared += network.compared;
  sums.equal += network.equal;
  return problemOf(network);
}

TEST_F(OnnxRuntimeRandomNetworks, HaveOneFateForEveryNode) {
  const std::vector<std::string> levels{"basic", "extended", "all"};
  const TemporaryFolder folder;
  Sums sums;
  const auto seeds = property::Seeds::asked(500);
  seeds.run([&](std::uint64_t seed) {
    property::Dice dice(seed);
    auto model = property::randomNetwork(seed, dice);
    const std::string level = dice.of(levels);
    if (model != nullptr && dice.oneIn(2)) model = property::readUnderHardNames(model, dice, folder.path());
    if (model == nullptr) return std::string("cannot be written and read");
    std::string refused;
    const auto network = read("seed " + std::to_string(seed), model, level, {}, &refused);
    if (network) return checked(*network, sums);
    ++sums.refused;
    if (std::getenv("FUSESCOPE_SHOW_REFUSED") != nullptr) std::printf("seed %lu: %.300s\n", seed, refused.c_str());
    return std::string();
  });
  std::printf(
      "suite: %ld networks (%ld with bodies; %ld refused), %ld of %ld live nodes bound, %ld of %ld bindings equal\n",
      sums.networks, sums.withBodies, sums.refused, sums.bound, sums.live, sums.equal, sums.compared);
  EXPECT_GE(static_cast<double>(sums.networks), 0.85 * static_cast<double>(seeds.cases)) << "most are compiled";
  EXPECT_EQ(sums.bound, sums.live);
  EXPECT_GE(static_cast<double>(sums.equal), 0.999 * static_cast<double>(sums.compared));
}

}  // namespace
}  // namespace fusescope::test
