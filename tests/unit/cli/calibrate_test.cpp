// `calibrate`, and int8 plans by what it wrote.
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

class CliCalibrate : public ::testing::Test {
 protected:
  std::string inFolder(std::string_view name) const { return (m_folder / name).string(); }
  std::string held() const { return (sampleFolder("digits") / "held_out.npz").string(); }

  /// Calibrates the digits on the inputs of their sample; the file's path.
  std::string calibrated(const std::vector<std::string>& more = {}) {
    const std::string file = inFolder("ranges.json");
    std::vector<std::string> arguments{
        "calibrate", samplePath("digits"), "--inputs", sampleInputs("digits"), "--batch-axis", "0", "-o", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = fusescopeCommand(arguments);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    return file;
  }

  std::vector<std::string> quantised(std::string verb, const std::string& ranges,
                                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{std::move(verb), samplePath("digits"), "--precision", "int8", "--ranges", ranges,
                                       "--input",       "image=360x1x8x8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  const TemporaryFolder m_folder;
};

TEST_F(CliCalibrate, RangesMakeAPlanOfIntegers) {
  const std::string ranges = calibrated({"--json"});
  const Json file = Json::parse(readTextFile(ranges).value());
  EXPECT_EQ(file["format"], "fusescope.ranges");
  EXPECT_EQ(file["samples"], 16);
  EXPECT_EQ(file["random_inputs"], false);
  EXPECT_TRUE(file["edges"]["stem.relu_out"].contains("histogram"));
  const Json plan = jsonOf(fusescopeCommand(quantised("plan", ranges, {"--json"})));
  int integers = 0;
  for (const Json& fused : plan["fused_nodes"]) integers += fused["compute"] == "int8" ? 1 : 0;
  EXPECT_EQ(integers, 7);
  const Json explained = jsonOf(fusescopeCommand(
      {"explain", samplePath("digits"), "early.conv1", "--precision", "int8", "--ranges", ranges, "--json"}));
  EXPECT_NE(explained.dump().find("quantize.product"), std::string::npos) << explained.dump(1);
}

TEST_F(CliCalibrate, EnginesAndPlansRunAsTheyWere) {
  const std::string ranges = calibrated();
  const std::string direct = inFolder("direct.npz"), engine = inFolder("e.fse"), plan = inFolder("plan.json");
  const auto run = [&](std::vector<std::string> arguments) {
    const auto result = fusescopeCommand(arguments);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
  };
  run(quantised("run", ranges, {"--inputs", held(), "--outputs", direct}));
  run(quantised("build", ranges, {"-o", engine}));
  run(quantised("plan", ranges, {"-o", plan}));
  std::filesystem::remove(ranges);  // nothing needs it any more
  for (const std::string& artifact : {engine, plan})
    run({"run", artifact, "--inputs", held(), "--expect", direct, "--tol-rms", "1e-3"});
}

TEST_F(CliCalibrate, TheWrittenNetworkIsThePlan) {
  const std::string ranges = calibrated(), network = inFolder("int8.onnx"), direct = inFolder("direct.npz");
  const auto exported = fusescopeCommand(
      {"export", samplePath("digits"), "--precision", "int8", "--ranges", ranges, "--to", "onnx", "-o", network});
  ASSERT_EQ(exported.status, 0) << exported.out << exported.err;
  ASSERT_EQ(fusescopeCommand(quantised("run", ranges, {"--inputs", held(), "--outputs", direct})).status, 0);
  const auto same =
      fusescopeCommand({"run", network, "--input", "image=360x1x8x8", "--inputs", held(), "--expect", direct});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  const Json inspected = jsonOf(fusescopeCommand({"inspect", network, "--json"}));
  EXPECT_EQ(inspected["operators"]["QuantizeLinear"], 8) << inspected["operators"].dump();
  for (const auto& entry : std::filesystem::directory_iterator(m_folder.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path() << " was left";
}

TEST_F(CliCalibrate, WeightsAloneAreWrittenWithTheOpsetTheyNeed) {
  const std::string network = inFolder("int4.onnx");
  const auto exported = fusescopeCommand(
      {"export", samplePath("digits"), "--weight-only", "int4", "--block", "8", "--to", "onnx", "-o", network});
  ASSERT_EQ(exported.status, 0) << exported.out << exported.err;
  EXPECT_NE(exported.err.find("the opset is raised from 18 to 21"), std::string::npos) << exported.err;
  const Json inspected = jsonOf(fusescopeCommand({"inspect", network, "--json"}));
  EXPECT_EQ(inspected["operators"]["DequantizeLinear"], 1) << inspected["operators"].dump();
}

TEST_F(CliCalibrate, TensorRtsCacheIsRead) {
  std::string cache = "TRT-8204-EntropyCalibration2\n";
  const Json edges = Json::parse(readTextFile(calibrated()).value())["edges"];
  for (const auto& [value, edge] : edges.items()) cache += value + ": 3c010a14\n";
  const std::string file = m_folder.write("calibration.cache", cache).string();
  const Json plan = jsonOf(fusescopeCommand(quantised("plan", file, {"--json"})));
  EXPECT_NE(plan.dump().find("\"int8\""), std::string::npos);
  EXPECT_EQ(plan["options"]["ranges"]["from"], "tensorrt");
}

TEST_F(CliCalibrate, RandomInputsAreSaid) {
  const auto result = fusescopeCommand({"calibrate", samplePath("digits"), "-o", inFolder("r.json")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("random inputs"), std::string::npos) << result.out;
  EXPECT_EQ(Json::parse(readTextFile(inFolder("r.json")).value())["random_inputs"], true);
}

TEST_F(CliCalibrate, BadUseIsLocated) {
  const auto refused = [](const std::vector<std::string>& arguments, std::string_view part) {
    const auto result = fusescopeCommand(arguments);
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  };
  const std::string digits = samplePath("digits");
  refused({"calibrate", digits, "-o", inFolder("r.json"), "--exclude", "early.convv1"}, "early.conv1");
  refused({"calibrate", digits, "-o", inFolder("r.json"), "--method", "median"}, "--method");
  refused({"plan", digits, "--precision", "int8"}, "fusescope calibrate");
  refused({"plan", digits, "--ranges", calibrated()}, "nothing asks for int8");
  refused({"plan", digits, "--precision", "int8", "--ranges", m_folder.write("empty.json", "").string()}, "empty.json");
  const std::string other =
      m_folder.write("other.cache", "TRT-8204-EntropyCalibration2\nstem_outt: 3c010a14\n").string();
  refused({"plan", digits, "--precision", "int8", "--ranges", other}, "stem_out");
}

}  // namespace
}  // namespace fusescope::test
