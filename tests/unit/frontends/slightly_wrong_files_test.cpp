#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/json.h"
#include "base/part_hashes.h"
#include "frontends/onnx/network_findings.h"
#include "passes/pipelines.h"
#include "tests/support/paths.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/frontends/run_graph.h"

namespace fusescope::test {
namespace {

std::string withoutHeader(const std::string& header, const std::string& graph) {
  const auto bytes = onnxlib::onnxTextToBytes(header + "\n" + graph);
  EXPECT_TRUE(bytes.ok()) << bytes.error().text();
  return bytes.ok() ? bytes.value() : std::string();
}

Model prepared(const std::string& bytes) {
  auto imported = importBytes(bytes);
  EXPECT_TRUE(imported.ok()) << imported.error().text();
  if (!imported.ok()) return {};
  auto model = prepareModel(std::move(imported).value());
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? std::move(model).value() : Model();
}

const Decision* decisionOf(const Model& model, std::string_view code) {
  const auto found = std::ranges::find(model.decisions, code, &Decision::code);
  return found == model.decisions.end() ? nullptr : &*found;
}

/// A type float[extent] of a value, as a file's value_info.
std::string typed(const std::string& value, char extent) {
  const std::string dim = wireField(1, std::string{'\x08', extent});
  const std::string tensor = std::string("\x08\x01") + wireField(2, dim);
  return wireField(7, wireField(13, wireField(1, value) + wireField(2, wireField(1, tensor))));
}

struct SlightlyWrong {
  const char* name;
  std::string bytes;
  const char* code;
  const char* says;              ///< part of the decision's sentence
  std::vector<double> result{};  ///< for x = -1, 2, 0.5; ONNX Runtime's where it accepts the file
};

const std::string kHeader = R"(<ir_version: 8, opset_import: ["" : 18]>)";

std::vector<SlightlyWrong> slightlyWrongFiles() {
  const std::string negated = "g (float[3] x) => (float[3] y) { [first] y = Neg (x) }";
  const std::string ghost = wireField(7, wireField(13, wireField(1, "ghost")));
  const std::string graph = wireField(2, wireField(2, "algorithm"));
  const std::string trainingInfo = std::string("\xA2\x01", 2) + static_cast<char>(graph.size()) + graph;
  const std::string repeated = "float[3] w = {1, 2, 3}, float[3] w = {1, 2, 3}";
  const std::vector<double> minus{1, -2, -0.5};
  return {
      {"extent of an output", onnxBytes("g (float[3] x) => (float[4] y) { [first] y = Neg (x) }"),
       "infer.output_contradicted", "declares f32[4] for output y, but f32[3] is computed", minus},
      {"rank of an output", onnxBytes("g (float[3] x) => (float[n, 1] y) { [first] y = Neg (x) }"),
       "infer.output_contradicted", "declares f32[n, 1] for output y, but f32[3] is computed", minus},
      {"type of an output", onnxBytes("g (float[3] x) => (float16[3] y) { [first] y = Neg (x) }"),
       "infer.output_contradicted", "declares f16[3] for output y, but f32[3] is computed", minus},
      {"extent of a value",
       onnxBytes("g (float[3] x) => (float[3] y) <float[7] a> { a = Relu (x) y = Neg (a) }"),
       "infer.value_contradicted",
       "declares f32[7] for a, but f32[3] is computed",
       {0, -2, -0.5}},
      {"type of a value",
       onnxBytes("g (float[3] x) => (float[3] y) <int64[3] a> { a = Relu (x) y = Neg (a) }"),
       "infer.value_contradicted",
       "declares int64[3] for a, but f32[3] is computed",
       {0, -2, -0.5}},
      {"extent of a value in a body",
       onnxBytes("g (float[3] x, bool c) => (float[3] y) { [branch] y = If (c) <then_branch = t () => (float[5] p) { p "
                 "= Neg (x) }, else_branch = e () => (float[3] q) { q = Relu (x) }> }"),
       "infer.value_contradicted",
       "declares f32[5] for branch/p, but f32[3] is computed",
       {}},
      {"types of values that are not there", onnxBytes(negated) + ghost, "import.types_of_nothing",
       "1 value that it does not contain", minus},
      {"types of an input and an output that contradict it", onnxBytes(negated) + typed("x", 9) + typed("y", 9),
       "import.type_repeated", "the type of x twice, as f32[3] and as f32[9]; f32[3] is used", minus},
      {"a type of a constant that contradicts it",
       onnxBytes("g (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> { y = Add (x, w) }") + typed("w", 4),
       "import.type_repeated",
       "declares the type of w twice, as f32[3] and as f32[4]",
       {0, 4, 3.5}},
      {"an initializer without a name",
       onnxBytes(negated) +
           wireField(7, wireField(5, std::string("\x08\x01\x10\x01") + wireField(9, std::string(4, '\0')))),
       "import.initializers_unused", "1 of its initializers (4 B)", minus},
      {"initializers that nothing reads",
       onnxBytes("g (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}, float[2] u = {1, 2}> { y = Add (x, w) }"),
       "import.initializers_unused",
       "1 of its initializers (8 B)",
       {0, 4, 3.5}},
      {"an initializer twice",
       onnxBytes("g (float[3] x) => (float[3] y) <" + repeated + "> { y = Add (x, w) }"),
       "import.initializer_repeated",
       "w is in the file twice",
       {0, 4, 3.5}},
      {"a node's name twice",
       onnxBytes("g (float[3] x) => (float[3] y) { [n] a = Relu (x) [n] y = Neg (a) }"),
       "import.node_renamed",
       "this one is renamed to n#2",
       {0, -2, -0.5}},
      {"a value's name in a body and outside",
       onnxBytes("g (float[3] x, bool c) => (float[3] y) { a = Neg (x) [branch] y = If (c) <then_branch = t () => "
                 "(float[3] p) { a = Abs (x) p = Identity (a) }, else_branch = e () => (float[3] q) { q = Identity (a) "
                 "}> }"),
       "import.name_shadowed",
       "the name a means one value inside this body",
       {}},
      {"nodes in any order",
       onnxBytes("g (float[3] x) => (float[3] y) { [last] y = Neg (a) [first] a = Relu (x) }"),
       "import.sorted",
       "lists 1 node before",
       {0, -2, -0.5}},
      {"an opset that is not named",
       withoutHeader(kHeader, "g (float[3] x) => (float[3] y) { a = Neg (x) y = vendor.Odd (a) }"),
       "import.opset_missing",
       "which opset of vendor",
       {}},
      {"a format of tomorrow", withoutHeader(R"(<ir_version: 99, opset_import: ["" : 18]>)", negated),
       "import.newer_ir_version", "version 99", minus},
      {"a format of long ago", withoutHeader(R"(<ir_version: 1, opset_import: ["" : 18]>)", negated),
       "import.older_ir_version", "version 1", minus},
      {"steps of training", onnxBytes(negated) + trainingInfo, "import.training_dropped", "only the network", minus},
      {"Dropout outside training", onnxBytes("g (float[3] x) => (float[3] y) { [drop] a = Dropout (x) y = Neg (a) }"),
       "normalise.dropout_removed", "drops nothing", minus},
      {"Dropout that trains",
       onnxBytes("g (float[3] x) => (float[3] y) <bool t = {1}> { [drop] y = Dropout (x, , t) }"),
       "import.trains",
       "drops elements at random",
       {}},
      {"Dropout that may train",
       onnxBytes("g (float[3] x, bool t) => (float[3] y) { [drop] y = Dropout (x, , t) }"),
       "import.trains",
       "decided at run time",
       {}},
      {"BatchNormalization that trains",
       onnxBytes("g (float[1,3] x) => (float[1,3] y) <float[3] s = {1, 1, 1}, float[3] b = {0, 0, 0}> "
                 "{ y, m, v = BatchNormalization <training_mode = 1> (x, s, b, b, s) }"),
       "import.trains",
       "mean and variance from each batch",
       {}},
      {"a denormal number",
       onnxBytes("g (float[3] x) => (float[3] y) <float[3] w = {1e-40, 2, 3}> { y = Add (x, w) }"),
       "import.constant_denormal",
       "1 of the 3 elements of w are denormal numbers",
       {-1, 4, 3.5}},
  };
}

TEST(SlightlyWrongFiles, EachOpensAndSaysWhatIsWrong) {
  const auto files = slightlyWrongFiles();
  for (const SlightlyWrong& file : files) {
    SCOPED_TRACE(file.name);
    const Model model = prepared(file.bytes);
    const Decision* decision = decisionOf(model, file.code);
    ASSERT_NE(decision, nullptr);
    EXPECT_NE(message(*decision).find(file.says), std::string::npos) << message(*decision);
    EXPECT_TRUE(decision->allowed);
    if (file.result.empty()) continue;
    const auto results = runGraph(*model.graph, {f32({3}, {-1, 2, 0.5})});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0].type(), DataType::F32);
    const auto numbers = numbersOf(results[0]);
    ASSERT_EQ(numbers.size(), file.result.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_FLOAT_EQ(numbers[i], file.result[i]) << i;
  }
  EXPECT_EQ(files.size(), 24U);
}

TEST(SlightlyWrongFiles, WhatIsRightSaysNothing) {
  const Model model = prepared(
      onnxBytes("g (float[3] x) => (float[3] y) <float[3] w = {1, 0, 3}, float[3] a> { a = Add (x, w) y = Neg (a) }"));
  EXPECT_TRUE(model.decisions.empty()) << message(model.decisions.front());
  EXPECT_EQ(model.graph->nodeCount(), 2U);
}

TEST(SlightlyWrongFiles, AnUnusedDomainMayHaveAnyOpsetOrNone) {
  const std::string graph = "g (float[3] x) => (float[3] y) { y = Neg (x) }";
  EXPECT_TRUE(prepared(onnxBytes(graph, 18, ", \"com.odd\" : 7, \"ai.onnx.ml\" : 99")).decisions.empty());
  const Model none = prepared(withoutHeader(R"(<ir_version: 8, opset_import: ["vendor" : 1]>)",
                                            "g (float[3] x) => (float[3] y) { y = vendor.Odd (x) }"));
  EXPECT_TRUE(none.decisions.empty());
}

TEST(SlightlyWrongFiles, TheComputedTypeHoldsForWhatFollows) {
  const Model model = prepared(
      onnxBytes("g (float[2,3] x) => (float[6] y) <float[3,2] a, float[5] b> { a = Neg (x) b = Flatten <axis = 0> (a) "
                "s = Constant <value = int64[1] {-1}> () y = Reshape (b, s) }"));
  const Graph& graph = *model.graph;
  EXPECT_EQ(graph.value(*graph.findValue("a")).type.text(), "f32[2, 3]");
  EXPECT_EQ(graph.value(*graph.findValue("b")).type.text(), "f32[1, 6]");
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.text(), "f32[6]");
  EXPECT_EQ(countCode(model, "infer.value_contradicted"), 2U) << "each is said once";
}

TEST(SlightlyWrongFiles, AFoldedValueIsSaidToo) {
  const Model model = prepared(
      onnxBytes("g (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}, float[4] n> { n = Neg (w) y = Add (x, "
                "n) }"));
  EXPECT_EQ(countCode(model, "infer.value_contradicted"), 1U);
  EXPECT_EQ(numbersOf(runGraph(*model.graph, {f32({3}, {0, 0, 0})}).at(0)), (std::vector<double>{-1, -2, -3}));
}

TEST(SlightlyWrongFiles, ElementsThatAreNotANumberAreCounted) {
  std::string bytes = onnxBytes("g (float[3] x) => (float[3] y) { y = Add (x, w) }");
  std::string elements(12, '\0');
  const float numbers[]{std::numeric_limits<float>::quiet_NaN(), 1, std::numeric_limits<float>::infinity()};
  std::memcpy(elements.data(), numbers, sizeof numbers);
  bytes += wireField(7, wireField(5, std::string("\x08\x03\x10\x01") + wireField(8, "w") + wireField(9, elements)));
  const Model model = prepared(bytes);
  const Decision* decision = decisionOf(model, "import.constant_not_a_number");
  ASSERT_NE(decision, nullptr);
  EXPECT_EQ(decision->arguments["count"], 1);
  EXPECT_EQ(decision->arguments["elements"], 3);
  const Decision* infinite = decisionOf(model, "import.constant_infinite");
  ASSERT_NE(infinite, nullptr);
  EXPECT_EQ(message(*infinite), "1 of the 3 elements of w are infinite");
}

/// Bits of a float type.
struct FloatBits {
  DataType type;
  std::vector<std::uint64_t> usual;  ///< zeros, the smallest and largest that are normal
  std::uint64_t notNumber, infinite, denormal;
};

Tensor ofBits(const FloatBits& bits, std::int64_t count, std::int64_t place, std::uint64_t odd) {
  Tensor tensor = Tensor::zeros(bits.type, {count});
  const std::size_t width = tensor.byteSize() / static_cast<std::size_t>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t element = i == place ? odd : bits.usual[static_cast<std::size_t>(i) % bits.usual.size()];
    std::memcpy(tensor.mutableBytes() + static_cast<std::size_t>(i) * width, &element, width);  // little endian
  }
  return tensor;
}

/// What is said of a constant, as "CODE COUNT" each.
std::vector<std::string> saidOf(Tensor tensor) {
  GraphEditor editor;
  editor.addOutput(editor.addConstant("w", std::move(tensor)));
  std::vector<Decision> decisions;
  recordNetworkFindings(editor.current(), decisions);
  std::vector<std::string> said;
  for (const Decision& decision : decisions)
    said.push_back(decision.code + " " + decision.arguments["count"].toJson().dump());
  return said;
}

/// A long constant is read from its file piece by piece, and hashed in the same pass.
TEST(SlightlyWrongFiles, OddElementsOfLongConstantsInFilesAreFoundInEveryPlace) {
  const FloatBits bits{DataType::F32, {0, 0x80000000, 0x00800000, 0x3f800000}, 0xffc00000, 0xff800000, 0x807fffff};
  constexpr std::int64_t kCount = 200'000, kPiece = 65'536;  // elements
  const test::TemporaryFolder folder;
  for (const std::int64_t place : {std::int64_t{0}, kPiece - 1, kPiece, 3 * kPiece, kCount - 1}) {
    SCOPED_TRACE(place);
    const Tensor made = ofBits(bits, kCount, place, bits.notNumber);
    // It begins in the middle of an element's place.
    const std::string text = "12" + std::string(reinterpret_cast<const char*>(made.bytes()), made.byteSize());
    const MappedFiles files{MappedFile::open(folder.write("w" + std::to_string(place), text)).value()};
    const std::byte* const begin = files[0]->bytes().data() + 2;
    GraphEditor editor;
    editor.addOutput(editor.addConstant("w", Tensor::view(DataType::F32, {kCount}, files[0], begin)));
    const PartHashesWanted wanted;
    std::vector<Decision> decisions;
    recordNetworkFindings(editor.current(), decisions, files);
    ASSERT_EQ(decisions.size(), 1U);
    EXPECT_EQ(decisions[0].code, "import.constant_not_a_number");
    EXPECT_EQ(decisions[0].arguments["count"].toJson(), 1);
    const std::span<const std::byte> all(made.bytes(), made.byteSize());
    EXPECT_EQ(partHash(files, {begin, made.byteSize()}), hashBytes(all));
  }
}

TEST(SlightlyWrongFiles, OddElementsAreFoundInEveryPlaceAndType) {
  using Said = std::vector<std::string>;
  const std::vector<FloatBits> types{
      {DataType::F32, {0, 0x80000000, 0x00800000, 0xff7fffff, 0x3f800000}, 0xffc00000, 0xff800000, 0x807fffff},
      {DataType::F64,
       {0, 0x8000000000000000, 0x0010000000000000, 0xffefffffffffffff},
       0x7ff0000000000001,
       0x7ff0000000000000,
       1},
      {DataType::F16, {0, 0x8000, 0x0400, 0xfbff}, 0x7c01, 0xfc00, 0x03ff},
      {DataType::BF16, {0, 0x8000, 0x0080, 0xff7f}, 0xff81, 0x7f80, 0x0001}};
  for (const FloatBits& bits : types) {
    SCOPED_TRACE(name(bits.type));
    const bool isNarrow = bits.type == DataType::F16 || bits.type == DataType::BF16;
    EXPECT_EQ(saidOf(ofBits(bits, 3000, -1, 0)), Said());
    for (const std::int64_t place : {0, 1, 1022, 1023, 1024, 2047, 2048, 2999}) {
      SCOPED_TRACE(place);
      EXPECT_EQ(saidOf(ofBits(bits, 3000, place, bits.notNumber)), Said{"import.constant_not_a_number 1"});
      EXPECT_EQ(saidOf(ofBits(bits, 3000, place, bits.infinite)), Said{"import.constant_infinite 1"});
      EXPECT_EQ(saidOf(ofBits(bits, 3000, place, bits.denormal)),
                isNarrow ? Said() : Said{"import.constant_denormal 1"});
    }
  }
}

TEST(SlightlyWrongFiles, AnOlderOperatorMayReadAConstantThatComesLater) {
  const Model model = prepared(onnxBytes(
      "g (float[1,1,1,2] x) => (float[1,1,1,4] y) { y = Upsample <mode = \"nearest\"> (x, s) s = Constant <value = "
      "float[4] {1, 1, 1, 2}> () }",
      9));
  EXPECT_EQ(numbersOf(runGraph(*model.graph, {f32({1, 1, 1, 2}, {5, 6})}).at(0)), (std::vector<double>{5, 5, 6, 6}));
}

TEST(Parameters, AreInitializersAndWeightsInConstantNodes) {
  const auto counted = [](const std::string& graph) {
    const auto model = importText(graph);
    EXPECT_TRUE(model.ok()) << model.error().text();
    return std::pair(model.value().parameters, model.value().weightBytes);
  };
  using Counts = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(counted("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }"), Counts(2, 8));
  EXPECT_EQ(counted("g (float[2] x) => (float[2] y) { w = Constant <value = float[2] {1, 2}> () y = Add (x, w) }"),
            Counts(2, 8));
  EXPECT_EQ(
      counted("g (float[2] x) => (float[2,1] y) { s = Constant <value = int64[2] {2, 1}> () e = Constant <value = "
              "float {0.5}> () z = Mul (x, e) y = Reshape (z, s) }"),
      Counts(0, 0))
      << "neither extents nor a number";
  EXPECT_EQ(counted("g (float[2] x, bool c) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] p) { w = "
                    "Constant <value = float[2] {1, 2}> () p = Add (x, w) }, else_branch = e () => (float[2] q) { q = "
                    "Neg (x) }> }"),
            Counts(2, 8))
      << "in a body";
  EXPECT_EQ(counted("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float[9] u> { y = Add (x, w) }").first, 2);
}

}  // namespace
}  // namespace fusescope::test
