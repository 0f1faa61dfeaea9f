// Logs and files that trtexec 10.16 wrote of a real build, replayed as answers of trtexec: what is told of the network
// is what import-engine tells of the same files.
#include <filesystem>

#include "base/files.h"
#include "frontends/tensorrt/engine_profile.h"
#include "tests/tensorrt_server/server_fixture.h"
#include "tests/unit/tensorrt_engines/engine_networks.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

class RealFiles : public Server {
 protected:
  /// A recording of what lies in the shared folder; empty: it is not there.
  std::string recording() const {
    const auto shared = sharedFolder();
    const fs::path folder = m_folder / "recording";
    fs::create_directory(folder);
    const fs::path data = *shared / "data" / "tensorrt", mnist = data / "trt10.16-mnist";
    const std::vector<std::pair<fs::path, const char*>> files{
        {mnist / "trtexec-help.txt", "help.txt"},
        {mnist / "trtexec-verbose-build.log", "build.log"},
        {mnist / "exportLayerInfo.json", "layers.json"},
        {data / "trex" / "pytorch-resnet18-A100-fp16" / "resnet.onnx.engine.timing.json", "times.json"}};
    for (const auto& [from, to] : files) {
      if (!fs::exists(from)) return {};
      fs::copy_file(from, folder / to);
    }
    const fs::path printed = mnist / "trtexec-dumpProfile.log";
    if (!fs::exists(printed)) return {};
    m_folder.write("recording/profile.json", exported(readTextFile(printed).value()).dump());
    return folder;
  }
  /// What it writes with --exportProfile, of what it printed with --dumpProfile.
  static Json exported(const std::string& printed) {
    const EngineProfile profile = parseEngineProfile(printed).value();
    Json rows = {{{"count", profile.runs.value()}}};
    for (const ProfiledLayer& layer : profile.layers)
      rows.push_back(
          {{"name", layer.name}, {"averageMs", layer.averageMs.value()}, {"medianMs", layer.medianMs.value()}});
    return rows;
  }
  static Json kernelsOf(const Json& plan) {
    Json kernels = Json::array();
    for (const Json& kernel : plan["kernels"]) {
      Json nodes = Json::array();
      for (const Json& node : kernel["nodes"]) nodes.push_back({node["node"], node["certainty"]});
      kernels.push_back({kernel["name"], nodes, kernel["compute"]});
    }
    return kernels;
  }
};

TEST_F(RealFiles, AreReadAsThoseOfEnginesThatOthersBuilt) {
  FUSESCOPE_REQUIRE_SHARED();
  const std::string files = recording();
  if (files.empty()) GTEST_SKIP() << "files of trtexec are not in the shared folder";
  serve(files);
  const std::string model = m_folder.write("mnist.onnx", mnistBytes()).string();
  const Json plan = json({"plan", model, "--compiler", "trtexec"});
  EXPECT_EQ(plan["compiler"]["version"], "10.16.1");
  const Json imported =
      json({"import-engine", model, "--layers", files + "/layers.json", "--log", files + "/build.log"});
  ASSERT_EQ(plan["kernels"].size(), 9U);
  EXPECT_EQ(kernelsOf(plan), kernelsOf(imported));
  const Json time = json({"time", model, "--compiler", "trtexec", "--seconds", "0.05", "--per-layer"});
  EXPECT_GT(time["median_ms"].get<double>(), 0.8);
  EXPECT_LT(time["median_ms"].get<double>(), 0.9) << "as the file of times says";
}

}  // namespace
}  // namespace fusescope::test
