// The smallest part that one compiler shows something of and another one does not.
#include "base/files.h"
#include "onnxlib/onnx_text.h"
#include "tests/compilers/added_compiler_fixture.h"

namespace fusescope::test {
namespace {

class MinimalAgainst : public AddedCompiler {
 protected:
  std::vector<std::string> searched(const std::string& text, const std::string& shows,
                                    const std::vector<std::string>& more) const {
    const auto bytes = onnxlib::onnxTextToBytes("<ir_version: 8, opset_import: [\"\" : 18]>\n" + text);
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    EXPECT_TRUE(writeFileAtomically(file("net.onnx"), bytes.value()).ok());
    std::vector<std::string> words{"extract", file("net.onnx"), "-o", file("part.onnx"), "--minimal", shows};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

/// Abacus calculates in f32 what it is to calculate in bf16, and in f16 what it is to calculate in that.
TEST_F(MinimalAgainst, ADifferenceThatTheOtherDoesNotShow) {
  const std::string text =
      "net (float[64, 64] x, float[64, 64] v) => (float[64, 64] z) <float hundred = {100}> { [product] h = MatMul(x, "
      "v) "
      "[scale] s = Mul(h, hundred) [squash] y = Tanh(s) [last] z = Relu(y) }";
  const Json json = AddedCompiler::json(
      searched(text, "difference", {"--precision", "bf16", "--tol-rms", "0.05", "--against", "abacus"}));
  EXPECT_EQ(json["minimal"]["nodes"], Json({"product", "scale", "squash"}));
  EXPECT_EQ(json["minimal"]["against"], "abacus");
  const auto what = json["minimal"]["what"].get<std::string>();
  EXPECT_NE(what.find("; by abacus: max|Δ| of "), std::string::npos) << what;
  const ProcessResult both =
      command(searched(text, "difference", {"--precision", "f16", "--tol-rms", "0.05", "--against", "abacus"}));
  EXPECT_EQ(both.status, 1) << both.out << both.err;
  EXPECT_NE(both.err.find("do not show a difference that abacus does not show"), std::string::npos) << both.err;
}

TEST_F(MinimalAgainst, ARefusalThatTheOtherDoesNotShow) {
  const Json json = AddedCompiler::json(searched(
      "net (float[4, 4] x) => (float[4, 4] y) { [before] a = Tanh(x) [soft] b = Softmax(a) [last] y = Relu(b) }",
      "refusal", {"--compiler", "abacus", "--against", "fusescope"}));
  EXPECT_EQ(json["minimal"]["nodes"], Json({"soft"}));
  EXPECT_EQ(json["minimal"]["what"], "refused: soft; by fusescope: nothing is refused");
}

/// Abacus strings nodes in pairs. The two ends of three are in one kernel of ours where the node between them is there.
TEST_F(MinimalAgainst, AFusionThatTheOtherMakes) {
  const Json json = AddedCompiler::json(
      searched("net (float[4, 4] x) => (float[4, 4] y) { [one] a = Tanh(x) [two] b = Relu(a) [three] c = Exp(b) "
               "[last] y = Softmax(c) }",
               "unfused", {"--compiler", "abacus", "--against", "fusescope", "--nodes", "one", "--nodes", "three"}));
  EXPECT_EQ(json["minimal"]["nodes"], Json({"one", "two", "three"}));
  const auto what = json["minimal"]["what"].get<std::string>();
  EXPECT_NE(what.find("; by fusescope: both are in one kernel"), std::string::npos) << what;
}

}  // namespace
}  // namespace fusescope::test
