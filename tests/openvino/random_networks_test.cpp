// Random networks in OpenVINO: every node has one fate, and nothing is bound that cannot be.
#include <algorithm>
#include <cstdio>

#include "tests/openvino/openvino_networks.h"
#include "tests/property/graph_maker.h"
#include "tests/property/hard_names.h"
#include "tests/property/seeds.h"
#include "tests/support/told_networks.h"

namespace fusescope::test {
namespace {

class OpenvinoRandomNetworks : public OpenvinoTest {};

TEST_F(OpenvinoRandomNetworks, HaveOneFateForEveryNode) {
  const std::vector<std::string> hints{"f32", "bf16"};
  const TemporaryFolder folder;
  std::size_t networks = 0, refused = 0, withBodies = 0;
  SilentNodes silent;
  const auto seeds = property::Seeds::asked(500);
  seeds.run([&](std::uint64_t seed) {
    property::Dice dice(seed);
    auto model = property::randomNetwork(seed, dice);
    PlanOptions options;
    options.compilerOptions["hint"] = dice.of(hints);
    if (model != nullptr && dice.oneIn(2)) model = property::readUnderHardNames(model, dice, folder.path());
    if (model == nullptr) return std::string("cannot be written and read");
    std::string words;
    const auto network = read("seed " + std::to_string(seed), model, options, &words);
    if (!network) {
      ++refused;
      if (std::getenv("FUSESCOPE_SHOW_REFUSED") != nullptr) std::printf("seed %lu: %.300s\n", seed, words.c_str());
      return std::string();
    }
    ++networks;
    withBodies += model->bodies.empty() ? 0 : 1;
    if (network->made != nullptr) silent.add(*network->made);
    return problemOf(*network);
  });
  std::printf("suite: %zu networks (%zu with bodies; %zu refused); not disclosed: %s\n", networks, withBodies, refused,
              silent.text().c_str());
  EXPECT_LE(silent.share(), 0.02) << silent.text();
  EXPECT_GE(static_cast<double>(networks), 0.9 * static_cast<double>(seeds.cases)) << "472 of 500 were compiled";
}

}  // namespace
}  // namespace fusescope::test
