// `replace`: what each rule makes of what, that the numbers stay, and that its inverse undoes it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "frontends/importers.h"
#include "interchange/substitutions/substitution.h"
#include "onnxlib/onnx_text.h"
#include "onnxlib/onnxlib.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

/// How many nodes of each operator a file's main graph has.
using Operators = std::map<std::string, int>;

class Replace : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (m_folder / name).string(); }

  std::string network(const std::string& text, int opset = 18) {
    const auto bytes =
        onnxlib::onnxTextToBytes("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + "]>\n" + text);
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    return m_folder.write("model.onnx", bytes.value()).string();
  }

  ProcessResult replaced(const std::string& model, std::vector<std::string> more, const std::string& out = "new.onnx") {
    std::vector<std::string> arguments{"replace", model, "-o", path(out), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusescopeCommand(arguments);
  }

  static Operators operatorsOf(const std::string& file) {
    const auto model = onnxlib::readModel(file);
    EXPECT_TRUE(model.ok()) << model.error().text();
    EXPECT_EQ(onnxlib::checkerComplaint(file), std::nullopt);
    Operators operators;
    for (const auto& node : model.value().graph.nodes) ++operators[node.op];
    return operators;
  }

  /// Applies `rule`, holds the operators against `wanted`, and undoes it: the operators are those of the beginning.
  void check(const std::string& model, const std::string& rule, const Operators& wanted) {
    const Operators before = operatorsOf(model);
    const Json json = jsonOf(replaced(model, {rule}));
    EXPECT_TRUE(json["ok"]);
    EXPECT_EQ(operatorsOf(path("new.onnx")), wanted);
    std::vector<std::string> undo;
    for (const Json& replacement : json["replacements"])
      if (!replacement["undo"].is_null()) undo.push_back(replacement["undo"]);
    if (undo.empty()) return;
    jsonOf(replaced(path("new.onnx"), undo, "undone.onnx"));
    EXPECT_EQ(operatorsOf(path("undone.onnx")), before) << rule << " is not undone";
  }

  TemporaryFolder m_folder;
};

constexpr const char* kErfGelu =
    "net (float[2, 8] x) => (float[2, 8] y) <float root = {1.4142135}, float one = {1}, float half = {0.5}> "
    "{ [scale] a = Div(x, root) [erf] e = Erf(a) [up] p = Add(e, one) [product] m = Mul(x, p) [last] y = Mul(m, half) "
    "}";

TEST_F(Replace, ErfGeluBecomesGeluAndBack) {
  check(network(kErfGelu, 20), "gelu", {{"Gelu", 1}});
  check(network(kErfGelu, 17), "gelu", {{"Gelu", 1}});
}

TEST_F(Replace, ErfGeluMultipliedInOtherOrders) {
  for (const char* product :
       {"[product] m = Mul(half, p) [last] y = Mul(x, m) }", "[product] m = Mul(x, half) [last] y = Mul(p, m) }"}) {
    const std::string text = kErfGelu;
    jsonOf(replaced(network(text.substr(0, text.find("[product]")) + product, 20), {"gelu"}));
    EXPECT_EQ(operatorsOf(path("new.onnx")), (Operators{{"Gelu", 1}})) << product;
  }
}

/// What others read of the middle stays, and so does a number that is another.
TEST_F(Replace, WhatIsNoGeluStays) {
  std::string used = kErfGelu;
  used.replace(used.find("(float[2, 8] y)"), 15, "(float[2, 8] y, float[2, 8] e)");
  EXPECT_EQ(replaced(network(used, 20), {"gelu"}).status, 2);
  std::string other = kErfGelu;
  other.replace(other.find("{1.4142135}"), 11, "{1.5}");
  const auto result = replaced(network(other, 20), {"gelu"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("no place for the rule gelu"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(path("new.onnx")));
}

TEST_F(Replace, GeluByTanhIsSpelledOut) {
  const std::string model =
      network("net (float[2, 8] x) => (float[2, 8] y) { [g] y = Gelu <approximate = \"tanh\">(x) }", 20);
  check(model, "gelu-spelled-out", {{"Pow", 1}, {"Mul", 4}, {"Add", 2}, {"Tanh", 1}});
}

constexpr const char* kNorm =
    "net (float[2, 8] x) => (float[2, 8] y) <int64[1] axes = {-1}, float two = {2}, float epsilon = {0.00001}, "
    "float[8] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[8] b = {1, 0, 1, 0, 1, 0, 1, 0}> "
    "{ [mean] m = ReduceMean(x, axes) [off] d = Sub(x, m) [square] q = Pow(d, two) [variance] v = ReduceMean(q, axes) "
    "[more] s = Add(v, epsilon) [root] r = Sqrt(s) [scaled] n = Div(d, r) [weighted] z = Mul(n, w) [last] y = Add(z, "
    "b) }";

TEST_F(Replace, LayerNormalizationSpelledOutAndBack) {
  const std::string model = network(kNorm);
  const Json json = jsonOf(replaced(model, {"layer-norm"}));
  EXPECT_EQ(operatorsOf(path("new.onnx")), (Operators{{"LayerNormalization", 1}}));
  EXPECT_EQ(json["replacements"][0]["gone"].size(), 9U);
  jsonOf(replaced(path("new.onnx"), {json["replacements"][0]["undo"]}, "undone.onnx"));
  EXPECT_EQ(operatorsOf(path("undone.onnx")),
            (Operators{{"ReduceMean", 2}, {"Sub", 1}, {"Mul", 2}, {"Add", 2}, {"Sqrt", 1}, {"Div", 1}}));
  jsonOf(replaced(path("undone.onnx"), {"layer-norm"}, "again.onnx"));
  EXPECT_EQ(operatorsOf(path("again.onnx")), (Operators{{"LayerNormalization", 1}}));
}

TEST_F(Replace, ChainsOfViewsAreOne) {
  check(
      network("net (float[2, 3, 4] x) => (float[4, 6] y) <int64[2] a = {6, 4}, int64[3] b = {1, 6, 4}, int64[1] axis = "
              "{0}, int64[2] c = {4, 6}> { [r] h = Relu(x) [one] p = Reshape(h, a) [two] q = Unsqueeze(p, axis) "
              "[three] y = Reshape(q, c) }"),
      "reshapes", {{"Relu", 1}, {"Reshape", 1}});
  check(network("net (float[2, 3, 4] x) => (float[4, 2, 3] y) { [one] p = Transpose <perm = [1, 2, 0]>(x) "
                "[two] q = Transpose <perm = [1, 2, 0]>(p) [three] y = Transpose <perm = [0, 1, 2]>(q) }"),
        "transposes", {{"Transpose", 1}});
  check(network("net (float[2, 3] x) => (float[2, 3] y) { [one] p = Transpose(x) [two] q = Transpose(p) "
                "[last] y = Relu(q) }"),
        "transposes", {{"Identity", 1}, {"Relu", 1}});
}

/// An output is what keeps a kernel from holding a value: the plan says so, too.
TEST_F(Replace, ABarrierIsAnOutput) {
  const std::string model = network("net (float[2, 8] x) => (float[2, 8] y) { [a] h = Exp(x) [b] y = Tanh(h) }");
  const Json json = jsonOf(replaced(model, {"barrier@h"}));
  const auto made = importModel(path("new.onnx"));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().graph->outputs().size(), 2U);
  EXPECT_EQ(json["replacements"][0]["undo"], "barrier-removed@h");
  jsonOf(replaced(path("new.onnx"), {"barrier-removed@h"}, "undone.onnx"));
  EXPECT_EQ(importModel(path("undone.onnx")).value().graph->outputs().size(), 1U);
  for (const char* wrong : {"barrier@y", "barrier@x", "barrier@nothing", "barrier-removed@h", "barrier"})
    EXPECT_EQ(replaced(model, {wrong}).status, 2) << wrong;
}

TEST_F(Replace, PadGoesIntoConvAndPool) {
  const std::string conv =
      "net (float[1, 1, 5, 5] x) => (float[1, 1, 5, 5] y) <int64[8] around = {0, 0, 1, 0, 0, 0, 0, 1}, "
      "float[1, 1, 3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}> "
      "{ [pad] p = Pad(x, around) [conv] y = Conv <pads = [0, 1, 1, 0]>(p, w) }";
  check(network(conv), "pad-into", {{"Conv", 1}});
  const std::string pool =
      "net (float[1, 1, 5, 5] x) => (float[1, 1, 5, 5] y) <int64[8] around = {0, 0, 1, 1, 0, 0, 1, 1}> "
      "{ [pad] p = Pad(x, around) [pool] y = AveragePool <kernel_shape = [3, 3]>(p) }";
  check(network(pool), "pad-into", {{"AveragePool", 1}});
}

TEST_F(Replace, BoundsAreOperandsOrNodes) {
  check(network("net (float[8] x) => (float[8] y) <float low = {-1}, float six = {6}> "
                "{ [max] h = Max(x, low) [min] y = Min(h, six) }"),
        "clip", {{"Clip", 1}});
  jsonOf(replaced(
      network("net (float[8] x) => (float[8] y) <float six = {6}> { [relu] h = Relu(x) [min] y = Min(h, six) }"),
      {"clip"}));
  EXPECT_EQ(operatorsOf(path("new.onnx")), (Operators{{"Clip", 1}}));
  check(
      network(
          "net (float[8] x) => (float[8] y) <float low = {-0.5}, float high = {0.75}> { [c] y = Clip(x, low, high) }"),
      "clip-spelled-out", {{"Max", 1}, {"Min", 1}});
  check(network("net (float[8] x) => (float[8] y) { [c] y = Clip <min = -0.5, max = 0.75>(x) }", 10),
        "clip-spelled-out", {{"Max", 1}, {"Min", 1}});
}

TEST_F(Replace, AnInputIsHandedOverInAnotherOrder) {
  const std::string model = network(
      "net (float[1, 3, 4, 5] x) => (float[1, 2, 4, 5] y) <float[2, 3, 1, 1] w = {1, 2, 3, 4, 5, 6}> "
      "{ [conv] y = Conv(x, w) }");
  const Json json = jsonOf(replaced(model, {"nhwc-input@x", "--time", "0.1"}));
  for (const char* when : {"before", "after"}) EXPECT_TRUE(json["median_ms"][when].is_number()) << json["median_ms"];
  const auto made = importModel(path("new.onnx"));
  ASSERT_TRUE(made.ok());
  const Value& input = made.value().graph->value(made.value().graph->inputs()[0]);
  EXPECT_EQ(input.name, "x_nhwc");
  EXPECT_EQ(input.type.shape.fixed(), (Dims{1, 4, 5, 3}));
  jsonOf(replaced(path("new.onnx"), {json["replacements"][0]["undo"]}, "undone.onnx"));
  const auto undone = importModel(path("undone.onnx"));
  EXPECT_EQ(undone.value().graph->value(undone.value().graph->inputs()[0]).name, "x");
  EXPECT_EQ(operatorsOf(path("undone.onnx")), (Operators{{"Conv", 1}}));
}

/// Ids in int64 are calculated with in int32; extents stay as they are.
TEST_F(Replace, IdsAreCalculatedWithInInt32) {
  const std::string model = network(
      "net (int64[2, 3] ids) => (float[2, 3, 4] y, int64[2, 3] out) <int64 one = {1}, float[8, 4] table = {0, 1, 2, 3, "
      "4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}, "
      "int64 low = {0}, int64 high = {7}> "
      "{ [next] a = Add(ids, one) [bound] b = Min(a, high) [least] out = Max(b, low) [look] y = Gather(table, out) }");
  const Json json = jsonOf(replaced(model, {"int32"}));
  EXPECT_EQ(json["replacements"][0]["gone"].size(), 3U);
  EXPECT_EQ(operatorsOf(path("new.onnx")), (Operators{{"Add", 1}, {"Min", 1}, {"Max", 1}, {"Gather", 1}, {"Cast", 2}}));
  const auto made = importModel(path("new.onnx"));
  ASSERT_TRUE(made.ok());
  const Graph& graph = *made.value().graph;
  EXPECT_EQ(graph.value(graph.node(*graph.findNode("bound")).outputs[0]).type.dtype, DataType::I32);
}

/// Only where it is asked for; names are the nearest where a rule is not known.
TEST_F(Replace, RulesAreNamedWithPlaces) {
  const std::string model = network(
      "net (float[8] x) => (float[8] y) <float six = {6}> { [one] a = Relu(x) [two] b = Min(a, six) [three] c = "
      "Relu(b) "
      "[four] y = Min(c, six) }");
  jsonOf(replaced(model, {"clip@four"}));
  EXPECT_EQ(operatorsOf(path("new.onnx")), (Operators{{"Relu", 1}, {"Min", 1}, {"Clip", 1}}));
  const auto wrong = replaced(model, {"clop"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("clip"), std::string::npos) << wrong.err;
}

TEST_F(Replace, TheListNamesAllRulesAndTheirInverses) {
  const Json list = jsonOf(fusescopeCommand({"replace", "--list", "--json"}));
  EXPECT_EQ(list["format"], "fusescope.rules");
  const Json& rules = list["rules"];
  ASSERT_EQ(rules.size(), substitutions().size());
  for (const Substitution& rule : substitutions()) {
    if (rule.inverse.empty()) continue;
    const Substitution* inverse = findSubstitution(rule.inverse);
    ASSERT_NE(inverse, nullptr) << rule.name;
    EXPECT_EQ(inverse->inverse, rule.name);
  }
}

TEST_F(Replace, NodesThatARaisedOpsetHasNotAreWrittenAnew) {
  const auto upsample = network(
      "net (float[1, 2, 4, 4] x) => (float[1, 2, 8, 8] y) <float[4] scales = {1, 1, 2, 2}, float six = {6}> "
      "{ a = Relu(x) b = Min(a, six) y = Upsample <mode = \"nearest\"> (b, scales) }",
      9);
  jsonOf(replaced(upsample, {"clip"}));
  EXPECT_EQ(operatorsOf(path("new.onnx")), (Operators{{"Clip", 1}, {"Resize", 1}}));
  // Over all axes from 1 on, as it was before opset 13.
  const auto softmax = network(
      "net (float[2, 3, 4] x) => (float[2, 3, 4] y) <float r = {1.4142135}, float one = {1}, float half = {0.5}> "
      "{ s = Softmax <axis = 1> (x) d = Div(s, r) e = Erf(d) p = Add(e, one) m = Mul(s, p) y = Mul(m, half) }",
      11);
  EXPECT_TRUE(jsonOf(replaced(softmax, {"gelu"}))["ok"]);
  EXPECT_EQ(operatorsOf(path("new.onnx"))["Gelu"], 1);
}

TEST_F(Replace, WhatIsComparedWithNothingIsNotEqual) {
  const auto model = network(
      "net (float[2, 3] x) => (float[2, 3] y) "
      "{ a = Transpose(x) b = Transpose(a) c = Mul(b, b) d = Neg(c) e = Sqrt(d) y = Log(e) }");
  const auto result = replaced(model, {"transposes"});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("no output contains a finite number"), std::string::npos) << result.err;
  EXPECT_EQ(Json::parse(result.out)["ok"], false);
  EXPECT_FALSE(std::filesystem::exists(path("new.onnx")));
}

TEST_F(Replace, TypesOfWhatNormalisationRemovesAreThoseOfTheFile) {
  const auto between = network(
      "net (int64[4] ids) => (float[4] y) <int64 one = {1}> "
      "{ a = Add(ids, one) b = Identity(a) c = Add(b, one) y = Cast <to = 1> (c) }");
  EXPECT_TRUE(jsonOf(replaced(between, {"int32"}))["ok"]);
  const auto output =
      network("net (int64[4] ids) => (int64[4] y) <int64 one = {1}> { a = Add(ids, one) y = Identity(a) }");
  EXPECT_TRUE(jsonOf(replaced(output, {"int32"}))["ok"]);
}

TEST_F(Replace, ExtentsThatTheUserGivesAreNoExtentsOfTheFile) {
  const auto model = network(
      "net (float[N, 3, 4] x) => (float[N, 1, 12] y) <int64[1] axes = {1}> "
      "{ a = Flatten(x) y = Unsqueeze(a, axes) }");
  const auto result = replaced(model, {"reshapes", "--input", "x=2x3x4"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("no place for the rule"), std::string::npos) << result.err;
}

TEST_F(Replace, OldMaxAndMinDoNotBroadcast) {
  const auto model = network("net (float[2, 3] x) => (float[2, 3] y) { y = Clip <min = -1.0, max = 1.0> (x) }", 7);
  const Json json = jsonOf(replaced(model, {"clip-spelled-out"}));
  EXPECT_EQ(json["opset"], Json({{"before", 7}, {"after", 8}}));
}

TEST_F(Replace, APoolIsNotPaddedByAsMuchAsItsKernel) {
  const auto model = network(
      "net (float[1, 1, 6, 6] x) => (float[1, 1, 9, 9] y) <int64[8] around = {0, 0, 2, 2, 0, 0, 2, 2}> "
      "{ a = Pad(x, around) y = AveragePool <kernel_shape = [2, 2]> (a) }");
  const auto result = replaced(model, {"pad-into"});
  EXPECT_NE(result.err.find("no place for the rule"), std::string::npos) << result.err;
}

TEST_F(Replace, AnExtentOfZeroIsNotOneToCopy) {
  const auto model = network(
      "net (float[0, 4] x) => (float[2, 0] y) <int64[1] axes = {0}, int64[2] to = {2, 0}> "
      "{ a = Unsqueeze(x, axes) y = Reshape <allowzero = 1> (a, to) }");
  const auto result = replaced(model, {"reshapes"});
  EXPECT_NE(result.err.find("no place for the rule"), std::string::npos) << result.err;
}

TEST_F(Replace, ABoundThatAddsAxesIsNoneOfAClip) {
  const auto model = network(
      "net (float[4] x) => (float[1, 1, 4] y) <float[1, 1, 1] low = {0}, float high = {6}> "
      "{ a = Max(x, low) y = Min(a, high) }");
  const auto result = replaced(model, {"clip"});
  EXPECT_NE(result.err.find("no place for the rule"), std::string::npos) << result.err;
}

TEST_F(Replace, InputsAreTurnedInTheOrderOfTheRules) {
  const auto model = network(
      "net (float[1, 4, 4, 2] z) => (float[1, 2, 4, 4] y) "
      "{ a = Transpose <perm = [0, 3, 1, 2]> (z) y = Relu(a) }");
  EXPECT_TRUE(jsonOf(replaced(model, {"nchw-input@z", "nhwc-input@a"}))["ok"]);
}

TEST_F(Replace, NodesOfOneNameAreToldApart) {
  const std::string gelu =
      "[n] d{0} = Div(x{0}, r) [n] e{0} = Erf(d{0}) [n] p{0} = Add(e{0}, one) [n] m{0} = Mul(x{0}, p{0}) "
      "[n] x{1} = Mul(m{0}, half) ";
  std::string nodes;
  for (int i = 0; i < 2; ++i) nodes += fmt::format(fmt::runtime(gelu), i, i + 1);
  const auto model =
      network("net (float[4] x0) => (float[4] x2) <float r = {1.4142135}, float one = {1}, float half = {0.5}> { " +
                  nodes + "}",
              20);
  const Json json = jsonOf(replaced(model, {"gelu"}));
  ASSERT_EQ(json["replacements"].size(), 2U);
  EXPECT_NE(json["replacements"][0]["undo"], json["replacements"][1]["undo"]);
}

}  // namespace
}  // namespace fusescope::test
