// Networks of the zoo: what is bound, and what numbers say of it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/onnxruntime/read_networks.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

class OnnxRuntimeNetworks : public OnnxRuntimeTest {
 protected:
  /// Least parts of live nodes that are bound, and of bindings whose numbers are equal.
  void expect(const ReadNetwork& network, double bound, double equal) {
    std::puts(tableRow(network).c_str());
    const std::string about = network.name + " at " + network.level;
    EXPECT_EQ(problemOf(network), "") << about;
    const FateCounts counts = countsOf(network);
    EXPECT_GE(static_cast<double>(counts.inKernels), bound * static_cast<double>(counts.live)) << about;
    EXPECT_GE(static_cast<double>(network.equal), equal * static_cast<double>(network.compared)) << about;
  }

  void readAll(const std::vector<std::pair<std::string, fs::path>>& networks, const std::vector<std::string>& levels) {
    const char* only = std::getenv("FUSESCOPE_ONLY_NETWORK");
    std::puts(tableHead().c_str());
    for (const auto& [name, path] : networks) {
      if (only != nullptr && name != only) continue;
      const auto model = preparedModel(path);
      ASSERT_NE(model, nullptr) << name;
      for (const std::string& level : levels)
        if (const auto network = read(name, model, level)) expect(*network, level == "all" ? 1 : 0.97, 0.999);
    }
  }
};

TEST_F(OnnxRuntimeNetworks, OfTheZooAtEveryLevel) {
  FUSESCOPE_REQUIRE_SHARED();
  std::vector<std::pair<std::string, fs::path>> networks;
  for (const auto& entry : fs::directory_iterator(*sharedFolder() / "zoo"))
    if (fs::exists(entry.path() / "model.onnx"))
      networks.emplace_back(entry.path().filename(), entry.path() / "model.onnx");
  std::ranges::sort(networks);
  ASSERT_GT(networks.size(), 10U);
  readAll(networks, {"none", "basic", "extended", "all"});
}

TEST_F(OnnxRuntimeNetworks, ThatAreLarge) {
  const char* home = std::getenv("HOME");
  const fs::path folder = fs::path(home == nullptr ? "" : home) / ".cache/fusescope/zoo";
  if (!fs::exists(folder)) GTEST_SKIP() << "no large networks at " << folder;
  std::vector<std::pair<std::string, fs::path>> networks;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".onnx") networks.emplace_back(entry.path().stem(), entry.path());
  std::ranges::sort(networks);
  readAll(networks, {"all"});
}

}  // namespace
}  // namespace fusescope::test
