#include <gtest/gtest.h>

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
