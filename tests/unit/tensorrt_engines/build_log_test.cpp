// Logs of builds: whose they are, and the networks that they tell of.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "session/import_engine.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/tensorrt_engines/engine_networks.h"
#include "tests/unit/tensorrt_engines/imported_engine.h"

namespace fusescope::test {
namespace {

/// The log of mnist's build tells of its nodes: of its convolutions and products all, of the others what they move.
TEST(BuildLog, ANetworkIsRebuiltFromTheLogOfItsBuild) {
  FUSESCOPE_REQUIRE_SHARED();
  const Path log = data("trt10.16-mnist/trtexec-verbose-build.log");
  const TemporaryFolder folder;
  const auto rebuilt = rebuildNetwork(log, folder / "net.onnx");
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.error().text();
  EXPECT_EQ(rebuilt.value().nodes, 12);
  EXPECT_EQ(rebuilt.value().weights, 9);
  EXPECT_EQ(rebuilt.value().unknown, 4) << "two pools, Softmax and ArgMax";
  const auto model = importModel(folder / "net.onnx");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const auto known = importBytes(mnistBytes());
  ASSERT_TRUE(known.ok());
  const Graph& graph = *model.value().graph;
  for (const NodeId id : known.value().graph->order()) {
    const Node& node = known.value().graph->node(id);
    const auto again = graph.findNode(node.name);
    ASSERT_TRUE(again) << node.name;
    EXPECT_EQ(graph.node(*again).op, node.op);
    if (!graph.node(*again).domain.empty()) continue;
    for (const char* key : {"kernel_shape", "pads", "transB"}) {
      const auto attribute = node.attributes.find(key);
      if (attribute == node.attributes.end()) continue;
      const auto& rebuiltAs = graph.node(*again).attributes.at(key);
      if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute->second)) {
        EXPECT_EQ(std::get<std::vector<std::int64_t>>(rebuiltAs), *list) << node.name << " " << key;
      } else {
        EXPECT_EQ(std::get<std::int64_t>(rebuiltAs), std::get<std::int64_t>(attribute->second))
            << node.name << " " << key;
      }
    }
  }
  EXPECT_EQ(std::ranges::count(model.value().decisions, "import.rebuilt_from_log", &Decision::code), 1);
  // The engine of the same build is placed on it.
  const auto made =
      importEngine({.model = folder / "net.onnx", .files = {.layers = log, .profile = {}, .times = {}, .log = log}});
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(made.value().made->placement->layers, 6);
  EXPECT_TRUE(made.value().made->placement->unplaced.empty());
  for (const NodeId id : made.value().made->graph().order())
    EXPECT_NE(made.value().made->fateOf(id), Fate::NotDisclosed) << made.value().made->graph().node(id).name;
}

TEST(BuildLog, ALogThatTellsTooLittleRebuildsNothing) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text) {
    const auto rebuilt = rebuildNetwork(folder.write("build.log", text), folder / "net.onnx");
    EXPECT_FALSE(rebuilt.ok());
    EXPECT_FALSE(std::filesystem::exists(folder / "net.onnx"));
    return rebuilt.ok() ? std::string() : rebuilt.error().text();
  };
  const std::string start = "&&&& RUNNING TensorRT.trtexec [TensorRT v101601] # trtexec --onnx=m.onnx\n";
  const std::string input = "[V] [TRT] Adding network input: x with dtype: float32, dimensions: (1, 4)\n";
  const auto node = [](const std::string& name, const std::string& from, const std::string& to) {
    return "[V] [TRT] " + name + " [Relu] inputs: [" + from + " -> (1, 4)[FLOAT]], \n[V] [TRT] " + name +
           " [Relu] outputs: [" + to + " -> (1, 4)[FLOAT]], \n";
  };
  EXPECT_NE(refused(start).find("it names none of its nodes"), std::string::npos);
  EXPECT_NE(refused(start + node("a", "x", "y")).find("it names none of its inputs"), std::string::npos);
  EXPECT_NE(refused(start + input + node("a", "x", "y") + node("a", "y", "z")).find("it names the node a twice"),
            std::string::npos);
  EXPECT_NE(refused(start + input + node("a", "x", "y") + node("b", "x", "y")).find("it names the tensor y twice"),
            std::string::npos);
}

/// What a log of another build tells is none of this engine's: not its version, types, tactics or pins.
TEST(BuildLog, ALogOfAnotherBuildIsLeftOut) {
  FUSESCOPE_REQUIRE_SHARED();
  Imported imported(engineNamed("trt10.16-mnist"));
  const auto alone = imported.read();
  ASSERT_NE(alone, nullptr);
  const Path log = data("trt10.16-mnist/trtexec-verbose-build.log");
  imported.request.files.log = log;
  const auto made = imported.read();
  ASSERT_NE(made, nullptr);
  ASSERT_EQ(made->decisions.size(), alone->decisions.size() + 1);
  const auto found = std::ranges::find(made->decisions, "build.log_of_another", &Decision::code);
  ASSERT_NE(found, made->decisions.end());
  EXPECT_EQ(found->arguments["file"], log.string());
  EXPECT_EQ(found->arguments["unmatched"], 2) << "of both convolutions the log has a region";
  EXPECT_EQ(found->arguments["layers"], 4);
  EXPECT_EQ(made->compiler, alone->compiler);
  EXPECT_EQ(made->placement->device, "");
  EXPECT_EQ(made->placement->files, alone->placement->files);
  EXPECT_TRUE(made->options.precisions.empty());
}

TEST(BuildLog, ALogOfAnotherNetworkIsLeftOut) {
  FUSESCOPE_REQUIRE_SHARED();
  Imported imported(engineNamed("pytorch-resnet18-A100-fp16"));
  std::string log = textOf(data("trt10.16-mnist/trtexec-verbose-build.log"));
  log.resize(log.find("Engine Layer Information:"));
  imported.request.files.log = imported.folder().write("build.log", log);
  const auto made = imported.read();
  ASSERT_NE(made, nullptr);
  const auto found = std::ranges::find(made->decisions, "build.log_of_another_network", &Decision::code);
  ASSERT_NE(found, made->decisions.end());
  EXPECT_EQ(found->arguments["unmatched"], found->arguments["nodes"]);
  EXPECT_EQ(made->compiler.version, "8.4 or later");
}

}  // namespace
}  // namespace fusescope::test
