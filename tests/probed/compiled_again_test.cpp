// `refit` of an engine by another compiler: none of them changes the weights of what it compiled, so that it compiles
// the network again, and the result says why.
#include <fmt/format.h>

#include "tests/probed/kept_answers_fixture.h"
#include "tests/probed/real_compilers_fixture.h"
#include "tests/support/command_json.h"

namespace fusescope::test {
namespace {

/// Two segments around an operator that may be kept from the compiler, with these weights.
std::string exponentialBetween(std::string_view weights) {
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 18]>\nnet (float[4] x) => (float[4] y) <float[4] w = {{{}}}, float[4] b = "
      "{{0.25, 1, -1, 2}}> {{\n  [scale] a = Mul (x, w)\n  [grow] d = Exp (a)\n  [shift] e = Add (d, b)\n  [last] y = "
      "Relu (e)\n}}",
      weights);
}

constexpr std::string_view kFormer = "0.1, -0.2, 0.3, 0.05", kTuned = "0.2, 0.1, -0.4, 0.15";

std::string networkIn(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  const auto bytes = onnxlib::onnxTextToBytes(text);
  EXPECT_TRUE(bytes.ok()) << bytes.error().text();
  return folder.write(name, bytes.value()).string();
}

Json decisionOf(const Json& document, std::string_view code) {
  for (const Json& decision : document["decisions"])
    if (decision["code"] == code) return decision;
  return {};
}

class CompiledAgain : public Tally {
 protected:
  CompiledAgain() {
    const ProcessResult built = command({"build", m_former, "--compiler", "tally", "-o", m_engine});
    EXPECT_EQ(built.status, 0) << built.err;
  }

  std::string m_former = networkIn(m_folder, "former.onnx", exponentialBetween(kFormer));
  std::string m_tuned = networkIn(m_folder, "tuned.onnx", exponentialBetween(kTuned));
  std::string m_engine = file("former.fse"), m_refitted = file("tuned.fse");
};

TEST_F(CompiledAgain, HasTheNewWeightsAndSaysWhy) {
  const Json refit = json({"refit", m_engine, "--weights", m_tuned, "-o", m_refitted});
  EXPECT_EQ(refit["ok"], true);
  EXPECT_EQ(refit["written"], m_refitted);
  EXPECT_EQ(refit["constants"]["changed"], Json::array({"w"}));
  const Json said = decisionOf(refit, "build.compiled_again");
  ASSERT_TRUE(said.is_object()) << refit["decisions"].dump(1);
  EXPECT_EQ(said["arguments"]["compiler"], "tally");
  EXPECT_EQ(said["arguments"]["why"], refit["compiled_again"]);
  const ProcessResult run = command({"run", m_refitted, "--expect", expected(m_tuned), "--tol-rms", "1e-6"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(CompiledAgain, IsToldToPeople) {
  const ProcessResult refit = command({"refit", m_engine, "--weights", m_tuned, "-o", m_refitted});
  EXPECT_EQ(refit.status, 0) << refit.err;
  EXPECT_NE(refit.out.find("tally compiled the network again with the new weights, because "), std::string::npos)
      << refit.out;
  EXPECT_EQ(refit.out.find("as before"), std::string::npos) << refit.out;
}

TEST_F(CompiledAgain, IsNotDoneForAnotherNetwork) {
  const std::string other = networkIn(m_folder, "other.onnx", kNetwork);
  const ProcessResult refit = command({"refit", m_engine, "--weights", other, "-o", m_refitted});
  EXPECT_EQ(refit.status, 1) << refit.out << refit.err;
  EXPECT_FALSE(std::filesystem::exists(m_refitted));
}

TEST_F(CompiledAgain, IsAnErrorWithoutTheCompiler) {
  ::setenv("FUSESCOPE_PYTHON", (m_folder / "no-python").c_str(), 1);
  const ProcessResult refit = command({"refit", m_engine, "--weights", m_tuned, "-o", m_refitted});
  EXPECT_NE(refit.status, 0) << refit.out;
  EXPECT_FALSE(std::filesystem::exists(m_refitted));
}

/// The same where answers are kept.
class CompiledAgainWithStore : public KeptAnswers {
 protected:
  std::string m_former = networkIn(m_folder, "former.onnx", exponentialBetween(kFormer));
  std::string m_tuned = networkIn(m_folder, "tuned.onnx", exponentialBetween(kTuned));
  std::string m_engine = file("former.fse"), m_refitted = file("tuned.fse");
};

TEST_F(CompiledAgainWithStore, IsNotSaidIfTheAnswerWasFound) {
  ASSERT_EQ(command({"build", m_former, "--compiler", "tally", "-o", m_engine}).status, 0);
  const std::vector<std::string> arguments{"refit", m_engine, "--weights", m_tuned, "-o", m_refitted};
  const auto with = [&](const char* cache) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--cache", cache});
    return json(all);
  };
  const auto isFound = [&](const Json& refit) { return decisionOf(refit, "cache.found").is_object(); };
  const auto isAgain = [&](const Json& refit) { return decisionOf(refit, "build.compiled_again").is_object(); };
  EXPECT_FALSE(isFound(with("off")));
  EXPECT_TRUE(isAgain(with("write"))) << "the segment with other weights was not kept before";
  const Json found = with("read");
  EXPECT_TRUE(isFound(found)) << found["decisions"].dump(1);
  EXPECT_FALSE(isAgain(found)) << found["decisions"].dump(1);
  EXPECT_TRUE(found["compiled_again"].is_null());
  const ProcessResult words = command(arguments);
  EXPECT_NE(words.out.find("an earlier answer of Tally for it was found"), std::string::npos) << words.out;
  EXPECT_EQ(words.out.find("compiled the network again"), std::string::npos) << words.out;
  const Json again = with("off");
  EXPECT_FALSE(isFound(again));
  EXPECT_TRUE(isAgain(again));
}

/// The first and the third segment are equal, and the compiler answers for both at once.
TEST_F(CompiledAgainWithStore, IsNotSaidOfEqualSegmentsEither) {
  const auto twice = [](std::string_view weights) {
    return fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 18]>\nnet (float[4] x) => (float[4] y) <float[4] w = {{{}}}> {{\n"
        "  [first] a = Mul (x, w)\n  [grow] d = Exp (a)\n  [last] y = Mul (d, w)\n}}",
        weights);
  };
  const std::string former = networkIn(m_folder, "twice.onnx", twice(kFormer));
  const std::string tuned = networkIn(m_folder, "twice_tuned.onnx", twice(kTuned));
  ASSERT_EQ(command({"build", former, "--compiler", "tally", "-o", m_engine}).status, 0);
  const std::vector<std::string> refit{"refit", m_engine, "--weights", tuned, "-o", m_refitted};
  const Json first = json(refit), again = json(refit);
  EXPECT_TRUE(decisionOf(again, "partition.equal_segments").is_object()) << again["decisions"].dump(1);
  EXPECT_TRUE(decisionOf(first, "build.compiled_again").is_object());
  EXPECT_TRUE(decisionOf(again, "cache.found").is_object()) << again["decisions"].dump(1);
  EXPECT_TRUE(decisionOf(again, "build.compiled_again").is_null()) << again["decisions"].dump(1);
}

class CompiledAgainByReal : public RealCompilersFixture {};

TEST_P(CompiledAgainByReal, HasTheNumbersOfTheNewWeights) {
  const std::string former = networkIn(m_folder, "former.onnx", exponentialBetween(kFormer));
  const std::string tuned = networkIn(m_folder, "tuned.onnx", exponentialBetween(kTuned));
  const std::string engine = m_folder / "former.fse", refitted = m_folder / "tuned.fse", ours = m_folder / "ours.npz";
  ASSERT_EQ(fusescopeCommand({"run", tuned, "--outputs", ours}).status, 0);
  const ProcessResult built =
      fusescopeCommand({"build", former, "--compiler", GetParam(), "--fallback", "grow", "-o", engine});
  ASSERT_EQ(built.status, 0) << built.err;
  const Json refit = commandJson({"refit", engine, "--weights", tuned, "-o", refitted, "--cache", "off"});
  const Json said = decisionOf(refit, "build.compiled_again");
  ASSERT_TRUE(said.is_object()) << refit.dump(1);
  EXPECT_EQ(said["arguments"]["compiler"], GetParam());
  const ProcessResult run = fusescopeCommand({"run", refitted, "--expect", ours, "--tol-rms", "1e-6"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

INSTANTIATE_TEST_SUITE_P(Compilers, CompiledAgainByReal, ::testing::Values("onnxruntime", "openvino"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace fusescope::test
