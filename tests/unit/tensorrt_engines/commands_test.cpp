// Engines that others built, asked of the command line as a user would ask it.
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/process.h"
#include "tests/unit/tensorrt_engines/imported_engine.h"

namespace fusescope::test {
namespace {

Json answerOf(std::vector<std::string> words, int status = 0) {
  words.emplace_back("--json");
  const ProcessResult result = fusescopeCommand(words);
  EXPECT_EQ(result.status, status) << result.out << result.err;
  return Json::parse(result.out, nullptr, false);
}

/// resnet18 in f32 and in f16, each imported over one network.
class EngineCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    FUSESCOPE_REQUIRE_SHARED();
    for (const auto& [engine, file] :
         {std::pair{"pytorch-resnet18-A100-fp32", "f32.json"}, std::pair{"pytorch-resnet18-A100-fp16", "f16.json"}}) {
      m_imported.push_back(std::make_unique<Imported>(engineNamed(engine)));
      const EngineImport& request = m_imported.back()->request;
      m_plans.push_back((m_folder / file).string());
      answerOf({"import-engine", request.model.string(), "--layers", request.files.layers.string(), "--profile",
                request.files.profile.string(), "-o", m_plans.back()});
    }
    m_network = m_imported.back()->request.model.string();
  }
  void TearDown() override {
    if (!m_network.empty()) fusescopeCommand({"prices", "--forget", m_network});
  }

  TemporaryFolder m_folder;
  std::vector<std::unique_ptr<Imported>> m_imported;
  std::vector<std::string> m_plans;
  std::string m_network;
};

TEST_F(EngineCommands, CompareSaysHowGroupsWereFound) {
  const Json json = answerOf({"compare", m_plans[0], m_plans[1]});
  EXPECT_EQ(json["groups"].size(), 23U);
  EXPECT_TRUE(json["a"]["has_network"].get<bool>());
  EXPECT_FALSE(json["matched_by"].get<std::string>().empty());
  EXPECT_LT(json["totals"]["b_ms"].get<double>(), json["totals"]["a_ms"].get<double>());
  const ProcessResult text = fusescopeCommand({"compare", m_plans[0], m_plans[1]});
  EXPECT_NE(text.out.find("conversions: A "), std::string::npos) << text.out;
}

TEST_F(EngineCommands, PricesAreATableAndBecomeThoseOfPlans) {
  const Json table = answerOf({"prices", m_plans[0], m_plans[1]});
  EXPECT_EQ(table["format"], "fusescope.prices");
  EXPECT_EQ(table["rows"].size(), 23U);
  EXPECT_TRUE(table["builds"].empty());
  const std::vector<std::string> plan{"plan", m_network, "--target", "tensorrt-8", "--precision", "f16"};
  EXPECT_EQ(answerOf(plan)["predicted"]["measured_ms"], 0.0) << "nothing is kept yet";
  const ProcessResult kept = fusescopeCommand({"prices", m_plans[1], "--keep"});
  EXPECT_EQ(kept.status, 0) << kept.err;
  EXPECT_NE(kept.out.find("Missing: f32 of all layers"), std::string::npos) << kept.out;
  EXPECT_EQ(answerOf({"prices", "--kept"})["tables"].size(), 1U);
  EXPECT_GT(answerOf(plan)["predicted"]["measured_ms"].get<double>(), 0.5);
  const ProcessResult text = fusescopeCommand(plan);
  EXPECT_NE(text.out.find("times were measured by tensorrt 8.4 or later on a device that the files do not name"),
            std::string::npos)
      << text.out;
  const Json explained = answerOf({"explain", m_network, "Conv_3", "--target", "tensorrt-8", "--precision", "f16"});
  EXPECT_NE(explained["price_from"].get<std::string>().find("as Conv_3 + Relu_4 in f16"), std::string::npos);
  EXPECT_EQ(answerOf({"prices", "--forget", m_network})["forgotten"], 1);
  EXPECT_EQ(answerOf({"prices", "--forget", m_network}, 1)["forgotten"], 0);
}

TEST(EngineCommand, TheNetworkOfALogIsWrittenAndSaidToBeRebuilt) {
  FUSESCOPE_REQUIRE_SHARED();
  const TemporaryFolder folder;
  const std::string log = data("trt10.16-mnist/trtexec-verbose-build.log").string(), network = folder / "net.onnx";
  const Json json = answerOf({"import-engine", "--log", log, "--rebuild", network});
  EXPECT_EQ(json["nodes"], 12);
  EXPECT_EQ(json["unknown"], 4);
  const ProcessResult looked = fusescopeCommand({"inspect", network});
  EXPECT_EQ(looked.status, 0) << looked.err;
  EXPECT_NE(looked.out.find("was rebuilt from the log of a build (trtexec-verbose-build.log)"), std::string::npos)
      << looked.out;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"import-engine", "--rebuild", network}, {"import-engine", "--log", log}})
    EXPECT_EQ(fusescopeCommand(words).status, 2);
}

/// An engine of another network is said to be none of this one, and nothing is written that could be taken for it.
TEST_F(EngineCommands, WhatIsOfAnotherNetworkIsNotWritten) {
  const std::string written = (m_folder / "other.json").string();
  const ProcessResult result =
      fusescopeCommand({"import-engine", m_network, "--layers",
                        data(engineNamed("trt10-onnx-alexnet-fp16").layers).string(), "-o", written});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_NE(result.err.find("none of the layers could be placed"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("was not written"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(written));
}

TEST_F(EngineCommands, WhatHasNoTimesIsRefused) {
  const auto saidOf = [](const std::vector<std::string>& words) {
    const ProcessResult result = fusescopeCommand(words);
    EXPECT_EQ(result.status, 2) << result.out;
    return result.err;
  };
  EXPECT_NE(saidOf({"prices"}).find("the engines to read are missing"), std::string::npos);
  EXPECT_NE(saidOf({"prices", m_network}).find("contains no read-back plan of an engine"), std::string::npos);
  EXPECT_NE(saidOf({"prices", m_plans[0], "--types", "f99"}).find("'f99' is not a type"), std::string::npos);
}

}  // namespace
}  // namespace fusescope::test
