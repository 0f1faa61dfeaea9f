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
