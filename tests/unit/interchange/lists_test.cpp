// What exports for AutoCast, onnxconverter-common, OpenVINO, Torch-TensorRT and TensorRT's calibration say, and what
// they refuse to say.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "base/files.h"
#include "calibration/ranges.h"
#include "interchange/exports.h"
#include "interchange/python_text.h"
#include "tests/support/paths.h"
#include "tests/unit/interchange/holds.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::holds;
using testing::ModelBuilder;
using testing::pin;
using testing::planned;

/// Two products with an activation each, in the modules "stem" and "head".
std::shared_ptr<const Model> twoModules(const std::string& ofFirst = "stem") {
  ModelBuilder b;
  const ValueId first = b.node("MatMul", "one", {b.input("x", {4, 4}), b.weight("w", {4, 4})}, {4, 4});
  const ValueId act = b.node("Relu", "act", {first}, {4, 4});
  b.output(b.node("MatMul", "two", {act, b.weight("v", {4, 4})}, {4, 4}));
  Model model = *b.build();
  model.origins[0].module = model.origins[1].module = ofFirst;
  model.origins[2].module = "head.layer.0";
  return std::make_shared<const Model>(std::move(model));
}

Result<Exported> listed(const char* format, const std::vector<std::string>& pins, std::vector<DataType> precisions,
                        const std::shared_ptr<const Model>& model = twoModules(), const char* version = "") {
  PlanOptions options{.target = "tensorrt-10", .precisions = std::move(precisions)};
  for (const std::string& text : pins) options.directives.push_back(pin(text));
  return findExporter(format)->write(*planned(model, options), {.own = {{"trt-version", version}}});
}

std::string textOf(const Result<Exported>& exported) {
  return exported.ok() ? exported.value().text : "error: " + exported.error().text();
}

TEST(Lists, EachFormatNamesJustWhatStaysInFloat32) {
  const std::vector<DataType> f16{DataType::F16};
  EXPECT_TRUE(holds(textOf(listed("modelopt", {"two=f32"}, f16)), "NODES_TO_EXCLUDE = [\n    \"^two\\\\Z\",\n]"));
  EXPECT_TRUE(holds(textOf(listed("onnxruntime", {"two=f32"}, f16)), "NODE_BLOCK_LIST = [\n    \"two\",\n]"));
  EXPECT_TRUE(holds(textOf(listed("openvino", {"two=f32"}, f16)), "KEPT_VALUES = [\n    \"two_out\",\n]"));
  EXPECT_TRUE(holds(textOf(listed("torch-tensorrt", {"two=f32"}, f16)),
                    "EXCLUDED_MODULES = [\n    \"^head\\\\.layer\\\\.0\\\\Z\",\n]"));
  EXPECT_TRUE(holds(textOf(listed("modelopt", {"two=bf16"}, {})), "LOW_PRECISION_TYPE = \"bf16\""));
  EXPECT_TRUE(holds(textOf(listed("modelopt", {"two=bf16"}, {})), "\"^one\\\\Z\",\n    \"^act\\\\Z\""))
      << "what is not pinned to bf16 stays in float32";
}

TEST(Lists, WhatAFormatCannotSayIsRefusedWithWhatToDo) {
  const std::vector<DataType> f16{DataType::F16};
  for (const char* format : {"modelopt", "onnxruntime", "openvino", "torch-tensorrt"}) {
    EXPECT_TRUE(holds(textOf(listed(format, {"two=f32"}, {})), "nothing below float32")) << format;
    const std::string both = textOf(listed(format, {"two=bf16"}, f16));
    EXPECT_TRUE(holds(both, "node 'two'") && holds(both, "one type below float32") && holds(both, "--to onnx")) << both;
  }
  EXPECT_TRUE(holds(textOf(listed("onnxruntime", {"two=f32"}, {DataType::BF16})), "can convert to float16 only"));
  const std::string divided = textOf(listed("torch-tensorrt", {"one=f32"}, f16));
  EXPECT_TRUE(holds(divided, "in the module 'stem' some nodes stay in float32 (one) and others do not (act)"))
      << divided;
  EXPECT_TRUE(holds(divided, "--pin module:stem=f32")) << divided;
  const std::string outside = textOf(listed("torch-tensorrt", {"one=f32", "act=f32"}, f16, twoModules("")));
  EXPECT_TRUE(holds(outside, "the file does not name the module of 2 nodes")) << outside;
}

TEST(Lists, AScriptDoesNotHideThePackageThatItImports) {
  const PlanOptions options{.target = "tensorrt-10", .precisions = {DataType::F16}};
  const auto plan = planned(twoModules(), options);
  for (const auto& [format, file] : {std::pair("openvino", "nncf.py"), std::pair("modelopt", "modelopt.py")}) {
    const auto hidden = findExporter(format)->write(*plan, {.path = file});
    ASSERT_FALSE(hidden.ok());
    EXPECT_TRUE(holds(hidden.error().message, "instead of the package")) << hidden.error().text();
    EXPECT_TRUE(findExporter(format)->write(*plan, {.path = "pins.py"}).ok());
  }
}

Tensor scaleNumbers() {
  Tensor scales = Tensor::zeros(DataType::F32, {4});
  const std::array<float, 4> numbers{1, 1, 2, 2};
  std::ranges::copy(numbers, scales.mutableData<float>().begin());
  return scales;
}

TEST(Lists, WhatTheConverterWouldGetWrongIsRefusedOrStaysInFloat32) {
  ModelBuilder shared;
  const ValueId w = shared.weight("w", {4, 4});
  const ValueId one = shared.node("MatMul", "one", {shared.input("x", {4, 4}), w}, {4, 4});
  shared.output(shared.node("MatMul", "two", {one, w}, {4, 4}));
  const std::string tied = textOf(listed("onnxruntime", {"two=f32"}, {DataType::F16}, shared.build()));
  EXPECT_TRUE(holds(tied, "'w'") && holds(tied, "read by 'two' in float32 and by 'one' in float16")) << tied;
  EXPECT_TRUE(listed("modelopt", {"two=f32"}, {DataType::F16}, shared.build()).ok()) << "AutoCast makes a copy";

  ModelBuilder resized;
  const ValueId product = resized.node("Sigmoid", "act", {resized.input("x", {1, 1, 2, 2})}, {1, 1, 2, 2});
  const ValueId scales = resized.constant("scales", scaleNumbers());
  const ValueId larger = resized.node("Resize", "larger", {product, ValueId(), scales}, {1, 1, 4, 4}, DataType::F32,
                                      {{"mode", std::string("linear")}});
  resized.output(resized.node("Sigmoid", "last", {larger}, {1, 1, 4, 4}));
  const auto blocked = listed("onnxruntime", {"last=f32"}, {DataType::F16}, resized.build());
  ASSERT_TRUE(blocked.ok()) << blocked.error().text();
  EXPECT_TRUE(holds(blocked.value().text, "NODE_BLOCK_LIST = [\n    \"last\",\n    \"larger\",\n]"))
      << blocked.value().text;
  EXPECT_TRUE(holds(blocked.value().notes.at(0).text, "ONNX allows an operand of theirs only in float32"));
}

TEST(Lists, OutputTypesAreSaidToBeLeftOut) {
  PlanOptions options{.target = "tensorrt-10", .precisions = {DataType::F16}};
  options.directives.push_back(parseOutputType("one=f32:obey").value());
  const auto file = findExporter("modelopt")->write(*planned(twoModules(), options), {});
  ASSERT_TRUE(file.ok()) << file.error().text();
  ASSERT_EQ(file.value().notes.size(), 1U);
  EXPECT_TRUE(holds(file.value().notes[0].text, "--output-type is left out")) << file.value().notes[0].text;
}

TEST(Lists, ExpressionsMatchOneNameAlone) {
  EXPECT_EQ(exactExpression("a.b*c\\d$\n"), "^a\\.b\\*c\\\\d\\$\n\\Z");
  EXPECT_EQ(exactExpression("(x)[0]{2}|y^?+"), "^\\(x\\)\\[0\\]\\{2\\}\\|y\\^\\?\\+\\Z");
  EXPECT_EQ(pythonText("a\"b\\\n\x1f π"), "\"a\\\"b\\\\\\n\\u001f π\"");
}

TEST(Lists, ACalibrationCacheHasOneScaleAnEdge) {
  const auto ranges = std::make_shared<Ranges>();
  ranges->edges.emplace("x", EdgeRange{.range = {-127, 127}});
  ranges->edges.emplace("one: out", EdgeRange{.range = {0, 254}});
  PlanOptions options{.target = "tensorrt-10", .precisions = {DataType::I8}, .ranges = ranges};
  const auto write = [&](const char* version) {
    return findExporter("tensorrt-calibration")
        ->write(*planned(twoModules(), options), {.own = {{"trt-version", version}}});
  };
  EXPECT_EQ(textOf(write("8.6.1")), "TRT-8601-MinMaxCalibration\none: out: 40000000\nx: 3f800000\n");
  EXPECT_TRUE(textOf(write("10.3")).starts_with("TRT-100300-"));
  ASSERT_FALSE(write("10.3").value().notes.empty());
  EXPECT_TRUE(holds(write("10.3").value().notes[0].text, "the ranges of 1 edge become"));
  EXPECT_TRUE(holds(textOf(write("11.0")), "reads no calibration cache"));
  EXPECT_TRUE(holds(textOf(write("")), "the version of TensorRT must be known"));
  options.ranges = nullptr;
  options.precisions = {DataType::F16};
  EXPECT_TRUE(holds(textOf(write("8.6.1")), "the plan has no ranges"));
}

TEST(Lists, RealCalibrationCachesAreWrittenAsTheyWereRead) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto folder = *test::sharedFolder() / "data" / "tensorrt" / "calibration";
  const auto linesOf = [](const std::string& text) {
    std::istringstream lines(text);
    std::multiset<std::string> all;
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) all.insert(line);
    return all;
  };
  for (const auto& [file, version] : {std::pair("int8-8204.cache", 8204), std::pair("int8-8601-large.cache", 8601)}) {
    const std::string text = readTextFile(folder / file).value();
    const auto ranges = rangesFromTensorRtCache(text);
    ASSERT_TRUE(ranges.ok()) << ranges.error().text();
    EXPECT_EQ(linesOf(tensorRtCacheText(ranges.value(), version).value()), linesOf(text)) << file;
  }
}

TEST(Lists, DirectivesSayWhatIsNoPartOfThem) {
  PlanOptions options{.compiler = "onnxruntime",
                      .compilerOptions = {{"level", "all"}},
                      .target = "tensorrt-10",
                      .precisions = {DataType::F16},
                      .workspaceBytes = 4096};
  const auto file = findExporter("directives")->write(*planned(twoModules(), options), {});
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(holds(file.value().text, "\"workspace_bytes\": 4096"));
  ASSERT_EQ(file.value().notes.size(), 1U);
  EXPECT_TRUE(holds(file.value().notes[0].text, "--compiler onnxruntime --compiler-option level=all"))
      << file.value().notes[0].text;
}

}  // namespace
}  // namespace fusescope
