// What a user may rely on, asked of the command line as a user would ask it.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/json.h"
#include "interchange/npz.h"
#include "ir/graph.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::string sampleModel(std::string_view network) {
  return (sampleFolder(network) / "model.onnx").string();
}
Json planOf(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  arguments.push_back("--json");
  const ProcessResult result = fusescopeCommand(std::move(arguments));
  EXPECT_EQ(result.status, 0) << result.err;
  return Json::parse(result.out, nullptr, false);
}

class SampleRun : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(SampleRun, EqualsWhatPyTorchComputed) {
  const auto& [network, backend] = GetParam();
  const auto result =
      fusescopeCommand({"run", sampleModel(network), "--backend", backend, "--inputs", sampleInputs(network),
                        "--expect", sampleInputs(network), "--atol", "1e-4", "--rtol", "1e-3"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
}

INSTANTIATE_TEST_SUITE_P(Cli, SampleRun,
                         testing::Combine(testing::Values("bert_tiny", "squeezenet1_1", "tiny_resnet_dynbatch",
                                                          "long_double", "fp16_overflow", "moe_dense", "digits"),
                                          testing::Values("reference", "native")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

TEST(Cli, rowsRepeatedToOtherBatchesGiveRepeatedRows) {
  const auto arrays = readNpz(sampleInputs("tiny_resnet_dynbatch"));
  ASSERT_TRUE(arrays.ok());
  const TemporaryFolder folder;
  for (const std::int64_t batch : {1, 3, 7}) {
    NpzArrays repeated;
    for (const auto& [name, rows] : arrays.value()) {
      Dims dims = rows.dims();
      const std::int64_t have = dims[0];
      dims[0] = batch;
      Tensor tensor = Tensor::zeros(rows.type(), dims);
      const std::size_t rowBytes = rows.byteSize() / static_cast<std::size_t>(have);
      for (std::int64_t row = 0; row < batch; ++row)
        std::copy_n(rows.bytes() + static_cast<std::size_t>(row % have) * rowBytes, rowBytes,
                    tensor.mutableBytes() + static_cast<std::size_t>(row) * rowBytes);
      repeated.emplace(name, tensor);
    }
    const std::string file = (folder / "io.npz").string();
    ASSERT_TRUE(writeNpz(file, repeated).ok());
    for (const char* backend : {"reference", "native"}) {
      const auto result = fusescopeCommand({"run", sampleModel("tiny_resnet_dynbatch"), "--backend", backend,
                                            "--inputs", file, "--expect", file, "--atol", "1e-4", "--rtol", "1e-3"});
      EXPECT_EQ(result.status, 0) << batch << " " << backend << result.out << result.err;
    }
  }
}

TEST(Cli, everyNodeOfTheFileIsPlacedOnceOrRemovedByADecision) {
  const Json inspected =
      Json::parse(fusescopeCommand({"inspect", sampleModel("bert_tiny"), "--json"}).out, nullptr, false);
  const Json plan = planOf({sampleModel("bert_tiny")});
  std::map<std::string, int> placed;
  for (const Json& fused : plan["fused_nodes"])
    for (const Json& origin : fused["origins"]) ++placed[origin.get<std::string>()];
  std::set<std::string> removed;
  for (const Json& decision : plan["decisions"])
    if (decision["kind"] == "normalise")
      for (const Json& subject : decision["subjects"])
        if (subject.contains("node")) removed.insert(subject["node"].get<std::string>());
  for (const auto& [name, times] : placed) {
    EXPECT_EQ(times, 1) << name;
    EXPECT_FALSE(removed.contains(name)) << name;
  }
  EXPECT_EQ(placed.size() + removed.size(), inspected["nodes"].get<std::size_t>());
  EXPECT_LE(plan["fused_nodes"].size() * 100, inspected["nodes"].get<std::size_t>() * 40);
}

TEST(Cli, withoutTruncationTheNodesThatItWouldHelpFallBackAndSaySo) {
  const Json none = planOf({sampleModel("long_double"), "--target", "tensorrt-8", "--truncate", "none"});
  std::set<std::string> fallback, named;
  for (const Json& segment : none["segments"])
    if (segment["kind"] == "fallback")
      for (const Json& node : segment["nodes"]) fallback.insert(node.get<std::string>());
  for (const Json& decision : none["decisions"])
    if (!decision["allowed"].get<bool>() && decision["message"].get<std::string>().find("runcat") != std::string::npos)
      for (const Json& subject : decision["subjects"])
        if (subject.contains("node")) named.insert(subject["node"].get<std::string>());
  EXPECT_TRUE(fallback.contains("node_add"));  // int64
  EXPECT_TRUE(fallback.contains("node_mul"));  // float64
  for (const std::string& node : fallback) EXPECT_TRUE(named.contains(node)) << node;
}

TEST(Cli, badNetworksExitWith2AndSayWhere) {
  const TemporaryFolder folder;
  const struct {
    const char* name;
    std::string bytes;
    const char* says;
  } cases[] = {
      {"cyclic", onnxBytes("g (float[4] x) => (float[4] b) { a = Add (x, b) b = Relu (a) }"), "cycle"},
      {"wrong_type", onnxBytes("g (int64[4] x) => (int64[4] y) { y = Sqrt (x) }"), "Sqrt"},
      {"wrong_shape", onnxBytes("g (float[4] x, float[3] y) => (float[4] z) { z = Add (x, y) }"), "node_of_z"},
      {"unknown_input", onnxBytes("g (float[4] x) => (float[4] z) { z = Add (x, nowhere) }"), "nowhere"},
      {"empty", "", "empty"},
      {"text", "hello, this is not a network", "ONNX"},
  };
  for (const auto& bad : cases) {
    const auto path = folder.write(std::string(bad.name) + ".onnx", bad.bytes);
    for (const char* verb : {"inspect", "plan"}) {
      const auto result = fusescopeCommand({verb, path.string()});
      EXPECT_EQ(result.status, 2) << bad.name << result.out;
      EXPECT_NE(result.err.find(bad.says), std::string::npos) << bad.name << ": " << result.err;
      EXPECT_NE(result.err.find(std::string(bad.name) + ".onnx"), std::string::npos) << result.err;
      EXPECT_TRUE(result.out.empty()) << result.out;
    }
  }
}

TEST(Cli, equalBlocksAreBuiltOnce) {
  const TemporaryFolder folder;
  for (const char* network : {"moe_dense", "bert_tiny"}) {
    const auto result = fusescopeCommand({"build", sampleModel(network), "-o", (folder / "e.fse").string(), "--json"});
    ASSERT_EQ(result.status, 0) << result.err;
    const Json report = Json::parse(result.out, nullptr, false);
    EXPECT_LT(report["distinct"].get<int>() * 10, report["regions"].get<int>() * 7) << network;
  }
}

TEST(Cli, enginesThatDifferInFusionAreComparedByTheirCommonCover) {
  const TemporaryFolder folder;
  const std::string a = (folder / "a.fse").string(), b = (folder / "b.fse").string();
  ASSERT_EQ(fusescopeCommand({"build", sampleModel("fp16_overflow"), "-o", a}).status, 0);
  ASSERT_EQ(fusescopeCommand({"build", sampleModel("fp16_overflow"), "-o", b, "--split", "node_linear"}).status, 0);
  const auto result = fusescopeCommand({"compare", a, b, "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json report = Json::parse(result.out, nullptr, false);
  bool found = false;
  for (const Json& group : report["groups"]) {
    if (group["origins"] != Json({"node_linear", "node_relu"})) continue;
    found = true;
    EXPECT_EQ(group["a"].size(), 1U);
    EXPECT_EQ(group["b"].size(), 2U);
    EXPECT_TRUE(group["delta_ms"].is_number());
    EXPECT_LE(group["delta_range_ms"]["least"].get<double>(), group["delta_range_ms"]["most"].get<double>());
  }
  EXPECT_EQ(report["turns"], 5);
  EXPECT_GT(report["ratio_range"]["least"].get<double>(), 0);
  EXPECT_LE(report["ratio_range"]["least"].get<double>(), report["ratio_range"]["most"].get<double>());
  EXPECT_TRUE(found) << result.out;
  EXPECT_LT(report["outputs"][0]["max_over_rms"].get<double>(), 1e-5);
}

TEST(Cli, aNetworkWithoutWeightsIsPlannedAndNotRun) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto path = zooModel("llama_scale");
  ASSERT_TRUE(path);
  const Json plan = planOf({path->string()});
  EXPECT_GT(plan["fused_nodes"].size(), 500U);
  const auto run = fusescopeCommand({"run", path->string()});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("weight"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace fusescope::test
