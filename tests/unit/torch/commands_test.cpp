// Every command on a .pt2: what can be told is told, and the rest is refused in a sentence.

#include "base/json.h"
#include "tests/support/process.h"
#include "tests/unit/torch/pt2_cases.h"

namespace fusescope::test {
namespace {

using Words = std::vector<std::string>;

class Pt2Commands : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (m_folder / name).string(); }
  std::string network() const {
    return m_folder.write("net.pt2", pt2Bytes(Pt2Kind::RawWeights, smallProgram())).string();
  }
  TemporaryFolder m_folder;
};

TEST_F(Pt2Commands, InspectTellsTheProgram) {
  const ProcessResult result = fusescopeCommand({"inspect", network(), "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = Json::parse(result.out);
  const Json& program = json["exported_program"];
  EXPECT_EQ(program["container"], "PT2 archive");
  EXPECT_EQ(program["schema_version"], "8.17");
  EXPECT_EQ(program["torch_version"], "2.11.0");
  EXPECT_EQ(program["verifiers"], Json::array({"TRAINING"}));
  EXPECT_EQ(program["arguments"][0], (Json{{"name", "picture"},
                                           {"value", "x"},
                                           {"constant", nullptr},
                                           {"type", "f32"},
                                           {"extents", {"s0", 4}},
                                           {"strides", {4, 1}}}));
  EXPECT_EQ(program["arguments"][1]["constant"], 3.0);
  EXPECT_EQ(program["ranges"], (Json{{"s0", {{"min", 2}, {"max", 16}}}}));
  EXPECT_EQ(program["examples"], Json::array({Json{{"name", "picture"}, {"type", "f32"}, {"dims", {5, 4}}}}));
  EXPECT_TRUE(program["examples_missing"].is_null());
  EXPECT_EQ(program["modules"],
            Json::array({Json{{"path", "fc"}, {"class", "torch.nn.modules.linear.Linear"}, {"nodes", 1}}}));
  EXPECT_EQ(json["operators"], (Json{{"torch.ops::aten.add.Tensor", 1}, {"torch.ops::aten.linear.default", 1}}));
  EXPECT_EQ(json["input_specs"][0]["source"], "example");
  ASSERT_EQ(json["cannot_run"].size(), 1U);
  EXPECT_EQ(json["cannot_run"][0]["code"], "build.needs_torch");
}

TEST_F(Pt2Commands, InspectIsReadByPeople) {
  const ProcessResult result = fusescopeCommand({"inspect", network()});
  ASSERT_EQ(result.status, 0) << result.err;
  for (const char* says : {"Exported program of PyTorch", "PT2 archive, schema 8.17, written by PyTorch 2.11.0",
                           "example inputs: picture f32[5, 4]", "s0 is from 2 to 16", "torch.nn.modules.linear.Linear",
                           "it can be looked at and planned"})
    EXPECT_NE(result.out.find(says), std::string::npos) << says << "\n" << result.out;
}

TEST_F(Pt2Commands, PlansPinsAndExplanationsNameItsNodes) {
  const ProcessResult plan = fusescopeCommand({"plan", network(), "--pin", "module:fc=f16", "--json"});
  ASSERT_EQ(plan.status, 0) << plan.err;
  EXPECT_NE(plan.out.find("aten.linear.default is an operator of PyTorch, which cannot be run here"),
            std::string::npos);
  const ProcessResult explained = fusescopeCommand({"explain", network(), "linear", "--json"});
  ASSERT_EQ(explained.status, 0) << explained.err;
  const Json json = Json::parse(explained.out);
  EXPECT_EQ(json["source"], Json::array({"  File \"net.py\", line 7, in forward", "    return self.fc(x) + y"}));
  const ProcessResult text = fusescopeCommand({"explain", network(), "linear"});
  EXPECT_NE(text.out.find("File \"net.py\", line 7, in forward"), std::string::npos) << text.out;
}

/// What runs, writes or hands over a network ends with a sentence and status 2.
TEST_F(Pt2Commands, WhatCannotBeDoneIsSaid) {
  const std::string file = network();
  const std::vector<Words> kCommands{{"build", file, "-o", path("e.fse")},
                                     {"run", file},
                                     {"run", file, "--inputs", file},
                                     {"time", file},
                                     {"errors", file, "--precision", "f16"},
                                     {"verify", file},
                                     {"compare", file, file},
                                     {"tune", file, "--precision", "f16", "--max-error", "1e-2", "-o", path("t.json")},
                                     {"calibrate", file, "--inputs", file, "-o", path("r.json")},
                                     {"tensor", file, "add", "--precision", "f16"},
                                     {"export", file, "--to", "onnx", "-o", path("o.onnx")},
                                     {"export", file, "--to", "modelopt", "-o", path("o.json")},
                                     {"export", file, "--to", "onnxruntime", "-o", path("o.json")},
                                     {"export", file, "--to", "torch-tensorrt", "-o", path("o.py")},
                                     {"extract", file, "--nodes", "linear", "-o", path("p.onnx")},
                                     {"replace", file, "gelu", "-o", path("n.onnx")}};
  for (const Words& words : kCommands) {
    const ProcessResult result = fusescopeCommand(words);
    SCOPED_TRACE(words[0] + " " + (words.size() > 3 ? words[3] : "") + ": status " + std::to_string(result.status) +
                 "\n" + result.out + result.err);
    EXPECT_EQ(result.status, 2);
    const bool saysWhy =
        result.err.find("PyTorch") != std::string::npos || result.err.find("ONNX file") != std::string::npos;
    EXPECT_TRUE(saysWhy);
  }
}

TEST_F(Pt2Commands, TwoOfThemAreCompared) {
  Pt2Content other = smallProgram();
  other.program =
      with(other.program, R"("name": "alpha", "arg": {"as_int": 2})", R"("name": "alpha", "arg": {"as_int": 3})");
  other.program = with(other.program, "line 7", "line 99");
  const std::string second = m_folder.write("other.pt2", pt2Bytes(Pt2Kind::PlainZip, other)).string();
  const ProcessResult result = fusescopeCommand({"diff", network(), second, "--json"});
  EXPECT_LE(result.status, 1) << result.err;
  EXPECT_NE(result.out.find("and 1 that changed"), std::string::npos) << "a source line is no difference\n"
                                                                      << result.out.substr(0, 3000);
}

TEST_F(Pt2Commands, ItsExamplesAreInputs) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto zoo = *sharedFolder() / "zoo/long_double";
  const ProcessResult result = fusescopeCommand({"run", (zoo / "model.onnx").string(), "--inputs",
                                                 (zoo / "model.pt2").string(), "--expect", (zoo / "io.npz").string()});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
}

}  // namespace
}  // namespace fusescope::test
