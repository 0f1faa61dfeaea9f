#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::string networkWith(const std::string& weight, const std::string& op = "Relu") {
  return onnxBytes("g (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, 2, 3, " + weight +
                   "}> { [mm] h = MatMul (x, w) [act] y = " + op + " (h) }");
}

class RefitVerb : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(fusescopeCommand({"build", m_model, "-o", m_engine}).status, 0); }

  TemporaryFolder m_folder;
  std::string m_model = m_folder.write("model.onnx", networkWith("4")).string();
  std::string m_engine = (m_folder / "model.fse").string();
};

TEST_F(RefitVerb, WritesAnEngineBesideTheNetwork) {
  const std::string tuned = m_folder.write("tuned.onnx", networkWith("5")).string();
  const Json json = jsonOf(fusescopeCommand({"refit", m_engine, "--weights", tuned, "--json"}));
  EXPECT_EQ(json["format"], "fusescope.refit");
  EXPECT_EQ(json["written"], (m_folder / "tuned.fse").string());
  EXPECT_EQ(json["constants"]["changed"], Json::array({"w"}));
  EXPECT_EQ(json["kernels"]["chosen_anew"], 0);
  EXPECT_FALSE(json["same_weights"].get<bool>());
  EXPECT_EQ(fusescopeCommand({"run", (m_folder / "tuned.fse").string()}).status, 0);
  const auto again = fusescopeCommand({"refit", m_engine, "--weights", tuned});
  EXPECT_EQ(again.status, 2);
  EXPECT_NE(again.err.find("not overwritten without being asked"), std::string::npos) << again.err;
  const auto asked = fusescopeCommand({"refit", m_engine, "--weights", tuned, "-o", (m_folder / "tuned.fse").string()});
  EXPECT_EQ(asked.status, 0) << asked.err;
  EXPECT_NE(asked.out.find("1 of 1 constant changed"), std::string::npos) << asked.out;
  const Json inspected = jsonOf(fusescopeCommand({"inspect", (m_folder / "tuned.fse").string(), "--json"}));
  EXPECT_EQ(inspected["engine"]["times_with_weights_of"], m_model);
}

TEST_F(RefitVerb, SaysWhatDiffersAndWritesNothing) {
  const std::string other = m_folder.write("other.onnx", networkWith("5", "Tanh")).string();
  const auto result = fusescopeCommand({"refit", m_engine, "--weights", other, "--json"});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("node 'act'"), std::string::npos) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_FALSE(json["ok"].get<bool>());
  EXPECT_EQ(json["differences"][0]["node"], "act");
  EXPECT_TRUE(json["written"].is_null());
  EXPECT_FALSE(std::filesystem::exists(m_folder / "other.fse"));
}

/// The same network as an export names it that numbers nodes in another way; `second` is what the Relu reads.
std::string renamedNetwork(const std::string& second, const std::string& input = "x") {
  return onnxBytes("g (float[2, 2] " + input + ") => (float[2, 2] y) <float[2, 2] onnx_7 = {1, 2, 3, 5}> " +
                   "{ [MatMul_1] v1 = MatMul (" + input + ", onnx_7) [Relu_2] y = Relu (" + second + ") }");
}

TEST_F(RefitVerb, AcceptsOtherNamesOfNodesAndKeepsThoseOfTheEngine) {
  const std::string tuned = m_folder.write("tuned.onnx", renamedNetwork("v1")).string();
  const Json json = jsonOf(fusescopeCommand({"refit", m_engine, "--weights", tuned, "--json"}));
  EXPECT_TRUE(json["ok"].get<bool>());
  EXPECT_EQ(json["constants"]["changed"], Json::array({"w"}));
  EXPECT_EQ(json["kernels"]["chosen_anew"], 0);
  EXPECT_EQ(std::ranges::count_if(json["decisions"],
                                  [](const Json& each) {
                                    return each["code"] == "build.names_of_engine" && each["arguments"]["count"] == 2;
                                  }),
            1)
      << json["decisions"];
  const std::string refitted = (m_folder / "tuned.fse").string();
  const std::string same = m_folder.write("same.onnx", networkWith("5")).string();
  const std::string expected = (m_folder / "same.fse").string();
  ASSERT_EQ(fusescopeCommand({"refit", m_engine, "--weights", same, "-o", expected}).status, 0);
  const auto compared = fusescopeCommand({"compare", refitted, expected});
  EXPECT_EQ(compared.status, 0) << compared.out << compared.err;
}

TEST_F(RefitVerb, RefusesOtherNamesOfInputsAndOtherWiring) {
  for (const std::string& other : {renamedNetwork("z", "z"), renamedNetwork("x")}) {
    const std::string path = m_folder.write("other.onnx", other).string();
    EXPECT_EQ(fusescopeCommand({"refit", m_engine, "--weights", path, "--json"}).status, 1);
    EXPECT_FALSE(std::filesystem::exists(m_folder / "other.fse"));
  }
}

TEST_F(RefitVerb, KeepsPinsOfNodesThatHaveOtherNamesNow) {
  const std::string pinned = (m_folder / "pinned.fse").string();
  ASSERT_EQ(fusescopeCommand({"build", m_model, "-o", pinned, "--pin", "mm=bf16"}).status, 0);
  const std::string tuned = m_folder.write("renamed.onnx", renamedNetwork("v1")).string();
  const std::string refitted = (m_folder / "refitted.fse").string();
  const auto made = fusescopeCommand({"refit", pinned, "--weights", tuned, "-o", refitted});
  ASSERT_EQ(made.status, 0) << made.err;
  const auto planHash = [](const std::string& engine) {
    return jsonOf(fusescopeCommand({"inspect", engine, "--json"}))["engine"]["plan_hash"];
  };
  EXPECT_EQ(planHash(refitted), planHash(pinned));
  EXPECT_NE(planHash(refitted), planHash(m_engine)) << "the pin is part of the plan";
}

TEST_F(RefitVerb, NeverReplacesWhatItReads) {
  const std::string before = readTextFile(m_engine).value();
  for (const std::string& path : {m_engine, m_model}) {
    const auto result = fusescopeCommand({"refit", m_engine, "--weights", m_model, "-o", path});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("would be written over"), std::string::npos) << result.err;
  }
  EXPECT_EQ(readTextFile(m_engine).value(), before);
  const auto missing = fusescopeCommand({"refit", m_engine, "--weights", (m_folder / "none.onnx").string()});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("none.onnx"), std::string::npos) << missing.err;
  const auto noEngine = fusescopeCommand({"refit", m_model, "--weights", m_model, "-o", (m_folder / "r.fse").string()});
  EXPECT_EQ(noEngine.status, 2);
  EXPECT_NE(noEngine.err.find("not an engine"), std::string::npos) << noEngine.err;
}

}  // namespace
}  // namespace fusescope::test
