// Random networks: every node has one fate, and nothing is bound that cannot be.
#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/onnxruntime/read_networks.h"
#include "tests/property/graph_maker.h"
#include "tests/property/seeds.h"

namespace fusescope::test {
namespace {

class OnnxRuntimeRandomNetworks : public OnnxRuntimeTest {};

struct Sums {
  std::int64_t networks = 0, refused = 0, live = 0, bound = 0, compared = 0, equal = 0;
};

std::string checked(const ReadNetwork& network, Sums& sums) {
  ++sums.networks;
  const FateCounts counts = countsOf(network);
  sums.live += counts.live;
  sums.bound += counts.inKernels;
  sums.compared += network.compared;
  sums.equal += network.equal;
  return problemOf(network);
}

TEST_F(OnnxRuntimeRandomNetworks, HaveOneFateForEveryNode) {
  const std::vector<std::string> levels{"basic", "extended", "all"};
  Sums sums;
  const auto seeds = property::Seeds::asked(60);
  seeds.run([&](std::uint64_t seed) {
    property::Dice dice(seed);
    const auto model = property::randomNetwork(seed, dice);
    std::string refused;
    const auto network = read("seed " + std::to_string(seed), model, dice.of(levels), {}, &refused);
    if (network) return checked(*network, sums);
    ++sums.refused;
    if (std::getenv("FUSESCOPE_SHOW_REFUSED") != nullptr) std::printf("seed %lu: %.300s\n", seed, refused.c_str());
    return std::string();
  });
  std::printf("suite: %ld networks (%ld refused), %ld of %ld live nodes bound, %ld of %ld bindings equal\n",
              sums.networks, sums.refused, sums.bound, sums.live, sums.equal, sums.compared);
  EXPECT_GE(sums.networks * 2, static_cast<std::int64_t>(seeds.cases)) << "most networks are compiled";
  EXPECT_GE(static_cast<double>(sums.bound), 0.98 * static_cast<double>(sums.live));
}

}  // namespace
}  // namespace fusescope::test
