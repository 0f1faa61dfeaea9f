// "Inputs travel once": said once, they are in the file, and no command asks for them again.
#include "frontends/example_inputs.h"
#include "frontends/input_spec_metadata.h"
#include "interchange/npz.h"
#include "ir/graph.h"
#include "onnxlib/edited_network.h"
#include "tests/support/command_json.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

constexpr const char* kOpenNetwork =
    "g (float[batch, 8] x, float[batch, 8] z) => (float[batch, 8] y) { a = Add (x, z) y = Relu (a) }";

class Inputs : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (m_folder / name).string(); }
  std::string network(const std::string& graph = kOpenNetwork) const {
    return m_folder.write("net.onnx", onnxBytes(graph)).string();
  }
  /// The text under `key` among the metadata of a file.
  static std::string metadataOf(const std::string& file, const char* key) {
    const auto model = onnxlib::readModel(file);
    EXPECT_TRUE(model.ok()) << model.error().text();
    const auto found = model.value().metadata.find(key);
    return found == model.value().metadata.end() ? std::string() : found->second;
  }
  static bool says(const ProcessResult& result, std::string_view part) {
    return (result.out + result.err).find(part) != std::string::npos;
  }
  std::string example(std::vector<std::int64_t> dims, const std::string& name = "example.npz") const {
    std::vector<float> numbers(static_cast<std::size_t>(dims[0] * dims[1]), 0.5F);
    const Tensor tensor = Tensor::copyOf<float>(DataType::F32, dims, numbers);
    EXPECT_TRUE(writeNpz(path(name), {{"x", tensor}, {"z", tensor}}).ok());
    return path(name);
  }
  TemporaryFolder m_folder;
};

/// The three lines that PyTorch's users write three times with inputs: compile, save, load again.
TEST_F(Inputs, AreSaidOnceAndNeverAskedForAgain) {
  const std::string net = network();
  const Json written =
      commandJson({"inputs", net, "--set", "x=1..4..16,8", "--example", example({2, 8}), "-o", path("net2.onnx")});
  EXPECT_EQ(written["inputs"][0]["source"], "user");
  EXPECT_EQ(written["inputs"][1]["source"], "user") << "z has the same batch";
  EXPECT_EQ(written["written"], path("net2.onnx"));
  const Json read = commandJson({"inputs", path("net2.onnx")});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(read["inputs"][i]["min"], (Json{1, 8}));
    EXPECT_EQ(read["inputs"][i]["opt"], (Json{4, 8}));
    EXPECT_EQ(read["inputs"][i]["max"], (Json{16, 8}));
    EXPECT_EQ(read["inputs"][i]["dims"], (Json{"batch", 8}));
    EXPECT_EQ(read["inputs"][i]["source"], "metadata");
    EXPECT_EQ(read["inputs"][i]["given_by"], "user");
  }
  ASSERT_EQ(fusescopeCommand({"build", path("net2.onnx"), "-o", path("e.fse")}).status, 0);
  ASSERT_EQ(fusescopeCommand({"plan", path("net2.onnx"), "--target", "tensorrt-10", "-o", path("p.json")}).status, 0);
  for (const char* from : {"net2.onnx", "p.json", "e.fse"}) {
    std::vector<std::string> words{"export", path(from), "--to", "trtexec", "--trt-version", "10.3"};
    if (from == std::string("net2.onnx")) words.insert(words.end(), {"--target", "tensorrt-10"});
    const ProcessResult line = fusescopeCommand(words);
    EXPECT_EQ(line.status, 0) << line.err;
    EXPECT_TRUE(says(line, "--minShapes=x:1x8,z:1x8")) << line.out;
    EXPECT_TRUE(says(line, "--optShapes=x:4x8,z:4x8"));
    EXPECT_TRUE(says(line, "--maxShapes=x:16x8,z:16x8"));
  }
  for (const char* file : {"net2.onnx", "e.fse"}) {
    for (const char* verb : {"run", "time"}) {
      const ProcessResult run = fusescopeCommand({verb, path(file)});
      EXPECT_EQ(run.status, 0) << run.err;
      EXPECT_TRUE(says(run, "on the example inputs in " + path(file))) << run.out;
      EXPECT_FALSE(says(run, "random")) << run.out;
    }
    const Json ran = commandJson({"run", path(file)});
    EXPECT_EQ(ran["random_inputs"], false);
    EXPECT_EQ(ran["outputs"][0]["dims"], (Json{2, 8}));
    EXPECT_EQ(ran["outputs"][0]["max"], 1.0);
  }
  const Json ofEngine = commandJson({"inputs", path("e.fse")});
  EXPECT_EQ(ofEngine["inputs"][0]["max"], (Json{16, 8}));
  EXPECT_EQ(ofEngine["examples"], read["examples"]);
  EXPECT_EQ(commandJson({"inputs", path("p.json")})["inputs"][0]["max"], (Json{16, 8}));
  // What is outside is refused, as if it had been given.
  const ProcessResult wide = fusescopeCommand({"run", path("e.fse"), "--inputs", example({32, 8}, "wide.npz")});
  EXPECT_EQ(wide.status, 2);
  EXPECT_TRUE(says(wide, "allowed is from [1, 8] to [16, 8]")) << wide.err;
  EXPECT_EQ(fusescopeCommand({"run", path("e.fse"), "--inputs", example({16, 8}, "most.npz")}).status, 0);
}

TEST_F(Inputs, PlanAsIfTheyWereGiven) {
  const std::string net = network();
  ASSERT_EQ(fusescopeCommand({"inputs", net, "--set", "x=4,8", "--set", "z=4,8", "-o", path("fixed.onnx")}).status, 0);
  // Without times, which another test may measure meanwhile.
  const auto kernels = [](const Json& plan) {
    Json made = plan["fused_nodes"];
    for (Json& fused : made)
      for (const char* time : {"predicted_ms", "predicted_how", "predicted_spread"}) fused.erase(time);
    return made.dump();
  };
  const Json given = commandJson({"plan", net, "--input", "x=4,8", "--input", "z=4,8"});
  const Json carried = commandJson({"plan", path("fixed.onnx")});
  EXPECT_EQ(kernels(given), kernels(carried));
  // And the user's word goes before what the file carries.
  const Json other = commandJson({"plan", path("fixed.onnx"), "--input", "x=7,8", "--input", "z=7,8"});
  EXPECT_EQ(other["input_specs"][0]["opt"], (Json{7, 8}));
  EXPECT_EQ(other["input_specs"][0]["source"], "user");
}

TEST_F(Inputs, TheNetworkIsOtherwiseAsItWas) {
  const std::string net = network();
  ASSERT_EQ(fusescopeCommand({"inputs", net, "--set", "x=1..4..16,8", "-o", path("net2.onnx")}).status, 0);
  const auto before = onnxlib::readModel(net), after = onnxlib::readModel(path("net2.onnx"));
  auto bytesBefore = onnxlib::modelBytes(before.value());
  auto stripped = after.value();
  stripped.metadata.erase(kInputSpecsKey);
  EXPECT_EQ(bytesBefore.value(), onnxlib::modelBytes(stripped).value());
}

TEST_F(Inputs, ExportersRangesAreReadAndKeptInStep) {
  onnxlib::NetworkEdits edits;
  edits.graphMetadata["pkg.torch.export.ExportedProgram.range_constraints"] = "{s77: VR[2, 64]}";
  const auto bytes = onnxlib::editNetwork(network(), edits, "w");
  const std::string net = m_folder.write("exported.onnx", bytes.value().model).string();
  const Json shown = commandJson({"inputs", net});
  EXPECT_EQ(shown["inputs"][0]["source"], "exporter");
  EXPECT_EQ(shown["inputs"][0]["min"], (Json{2, 8}));
  EXPECT_EQ(shown["inputs"][0]["max"], (Json{64, 8}));
  ASSERT_EQ(fusescopeCommand({"inputs", net, "--set", "x=2..4..16,8", "-o", path("set.onnx")}).status, 0);
  const auto model = onnxlib::readModel(path("set.onnx"));
  EXPECT_EQ(model.value().graphMetadata.at("pkg.torch.export.ExportedProgram.range_constraints"), "{s77: VR[2, 16]}");
}

TEST_F(Inputs, AreTakenFromOtherFiles) {
  const std::string net = network();
  ASSERT_EQ(fusescopeCommand({"inputs", net, "--set", "x=1..4..16,8", "-o", path("net2.onnx")}).status, 0);
  ASSERT_EQ(fusescopeCommand({"build", path("net2.onnx"), "-o", path("e.fse")}).status, 0);
  ASSERT_EQ(fusescopeCommand({"plan", path("net2.onnx"), "-o", path("p.json")}).status, 0);
  for (const char* format : {"trtexec", "polygraphy"}) {
    const std::string file = path(std::string(format) + (format == std::string("trtexec") ? ".sh" : ".py"));
    const ProcessResult made = fusescopeCommand({"export", path("net2.onnx"), "--target", "tensorrt-10", "--precision",
                                                 "f16", "--to", format, "--trt-version", "10.3", "-o", file});
    ASSERT_EQ(made.status, 0) << made.err;
  }
  const ProcessResult openvino = fusescopeCommand({"export", path("net2.onnx"), "--precision", "f16", "--pin",
                                                   "op:Relu=f32", "--to", "openvino", "-o", path("ov.py")});
  ASSERT_EQ(openvino.status, 0) << openvino.err;
  for (const char* file : {"net2.onnx", "e.fse", "p.json", "trtexec.sh", "polygraphy.py", "ov.py"}) {
    const Json taken = commandJson({"inputs", net, "--from", path(file)});
    EXPECT_EQ(taken["inputs"][0]["min"], (Json{1, 8})) << file;
    EXPECT_EQ(taken["inputs"][0]["opt"], (Json{4, 8})) << file;
    EXPECT_EQ(taken["inputs"][0]["max"], (Json{16, 8})) << file;
    EXPECT_EQ(taken["inputs"][0]["source"], "user") << file;
  }
  m_folder.write("nothing.sh", "trtexec --fp16");
  EXPECT_EQ(fusescopeCommand({"inputs", net, "--from", path("nothing.sh")}).status, 2);
  EXPECT_EQ(fusescopeCommand({"inputs", net, "--from", samplePath("digits")}).status, 2) << "it has other inputs";
}

TEST_F(Inputs, WhatCannotBeWrittenIsSaidAndNothingIsLeft) {
  const std::string net = network();
  const std::vector<std::pair<std::vector<std::string>, std::string>> kCases{
      {{"--set", "x"}, "NAME=EXTENTS"},
      {{"--set", "x=1..a,8"}, "neither an extent nor a range"},
      {{"--set", "x=5..2,8"}, "neither an extent nor a range"},
      {{"--set", "q=1,8"}, "no input of this name"},
      {{"--set", "x=1,8,3"}, "has 2 extents"},
      {{"--set", "x=1,9"}, "extent 1 is 8"},
      {{"--set", "x=1,8:f99"}, "is not a type"},
      {{"--set", "x=1,8:f16"}, "cannot be made f16"},
      {{}, "nothing is known"},
      {{"--example", path("none.npz")}, "none.npz"},
      {{"--set", "x=1..4,8", "--example", example({9, 8})}, "allowed is"}};
  for (const auto& [words, why] : kCases) {
    std::vector<std::string> arguments{"inputs", net, "-o", path("new.onnx")};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const ProcessResult result = fusescopeCommand(arguments);
    EXPECT_EQ(result.status, 2) << ::testing::PrintToString(words) << result.out;
    EXPECT_TRUE(says(result, why)) << ::testing::PrintToString(words) << result.err;
    EXPECT_FALSE(std::filesystem::exists(path("new.onnx"))) << ::testing::PrintToString(words);
  }
  const std::string bytes = fileBytes(net);
  EXPECT_TRUE(says(fusescopeCommand({"inputs", net, "--set", "x=1,8", "-o", net}), "written over"));
  EXPECT_EQ(fileBytes(net), bytes);
}

TEST_F(Inputs, ExamplesThatAreTooLargeStayWhereTheyAre) {
  const std::string net = network();
  const ProcessResult result = fusescopeCommand(
      {"inputs", net, "--set", "x=1..4..99999,8", "--example", example({20000, 8}), "-o", path("n.onnx")});
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(says(result, "a file can contain at most 1048576")) << result.err;
}

TEST_F(Inputs, ExamplesThatDoNotFitGiveWayToRandomOnes) {
  const std::string net = network();
  ASSERT_EQ(
      fusescopeCommand({"inputs", net, "--set", "x=1..4..16,8", "--example", example({2, 8}), "-o", path("n.onnx")})
          .status,
      0);
  const ProcessResult other = fusescopeCommand({"run", path("n.onnx"), "--input", "x=5,8", "--input", "z=5,8"});
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_TRUE(says(other, "on random inputs")) << other.out;
  EXPECT_TRUE(says(other, "are not used")) << other.err;
  onnxlib::NetworkEdits edits;
  edits.metadata[kExampleInputsKey] =
      R"({"version":1,"inputs":[{"name":"x","type":"f32","dims":[2,8],"data":"AAAA"}]})";
  const auto bytes = onnxlib::editNetwork(net, edits, "w");
  const std::string damaged = m_folder.write("damaged.onnx", bytes.value().model).string();
  const ProcessResult run = fusescopeCommand({"run", damaged});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(says(run, "on random inputs"));
  EXPECT_TRUE(says(run, "more or fewer bytes than its type")) << run.err;
  EXPECT_FALSE(commandJson({"inputs", damaged})["why_no_examples"].is_null());
}

TEST_F(Inputs, WhatANewerVersionWroteIsKept) {
  onnxlib::NetworkEdits edits;
  const std::string newer = R"({"version":7,"other":"form"})";
  edits.metadata[kInputSpecsKey] = newer;
  const auto bytes = onnxlib::editNetwork(network(), edits, "w");
  const std::string net = m_folder.write("newer.onnx", bytes.value().model).string();
  const Json shown = commandJson({"inputs", net});
  EXPECT_EQ(shown["inputs"][0]["source"], "assumed");
  EXPECT_NE(shown["findings"].dump().find("import.input_specs_newer"), std::string::npos);
  const ProcessResult refused = fusescopeCommand({"inputs", net, "--set", "x=1..4..16,8", "-o", path("n.onnx")});
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(says(refused, "that would be lost")) << refused.err;
  ASSERT_EQ(fusescopeCommand({"export", net, "--precision", "f16", "--to", "onnx", "-o", path("e.onnx")}).status, 0);
  EXPECT_EQ(metadataOf(path("e.onnx"), kInputSpecsKey), newer);
}

TEST_F(Inputs, AScalarAndAnOddNameTravelToo) {
  const std::string odd = "odd, name=\"1\" 名";
  onnxlib::FileModel model;
  model.irVersion = 8;
  model.opsets = {{"", 18}};
  model.graph.name = "g";
  model.graph.inputs = {{odd, {.dtype = DataType::F32, .ranked = true, .dims = {{.size = -1, .symbol = "n"}}}},
                        {"s", {.dtype = DataType::F32, .ranked = true, .dims = {}}}};
  model.graph.outputs = {{"y", {.dtype = DataType::F32, .ranked = true, .dims = {{.size = -1, .symbol = "n"}}}}};
  model.graph.nodes = {{.name = "mul", .op = "Mul", .inputs = {odd, "s"}, .outputs = {"y"}}};
  const std::string net = m_folder.write("odd.onnx", onnxlib::modelBytes(model).value()).string();
  ASSERT_EQ(fusescopeCommand({"inputs", net, "--set", odd + "=2..3..5", "-o", path("n.onnx")}).status, 0);
  const Json read = commandJson({"inputs", path("n.onnx")});
  EXPECT_EQ(read["inputs"][0]["name"], odd);
  EXPECT_EQ(read["inputs"][0]["max"], Json::array({5}));
  EXPECT_EQ(read["inputs"][1]["max"], Json::array());
  EXPECT_EQ(fusescopeCommand({"run", path("n.onnx")}).status, 0);
}

TEST_F(Inputs, AreReadByPeople) {
  const ProcessResult shown = fusescopeCommand({"inputs", network()});
  EXPECT_EQ(shown.status, 0);
  EXPECT_TRUE(says(shown, "[batch, 8]")) << shown.out;
  EXPECT_TRUE(says(shown, "assumed")) << shown.out;
  EXPECT_EQ(fusescopeCommand({"inputs"}).status, 2);
  EXPECT_EQ(fusescopeCommand({"inputs", path("none.onnx")}).status, 2);
}

}  // namespace
}  // namespace fusescope::test
