// Extents of inputs that exports carry, and what of them is read back.
#include "interchange/recipes/recipe_inputs.h"

#include <gtest/gtest.h>

#include "interchange/exports.h"
#include "ir/extent_ranges.h"
#include "tests/unit/interchange/holds.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::holds;
using testing::ModelBuilder;
using testing::planned;

/// A network of two inputs, of which `x` has this spec.
std::shared_ptr<const Model> modelWith(const std::string& name, const std::string& source) {
  ModelBuilder b;
  const ValueId x = b.input(name, {4, 3}), z = b.input("z", {3});
  b.output(b.node("Add", "add", {x, z}, {4, 3}));
  Model model = *b.build();
  model.inputSpecs = {
      {.name = name, .dtype = DataType::F32, .min = {1, 3}, .opt = {4, 3}, .max = {8, 3}, .source = source},
      {.name = "z", .dtype = DataType::F32, .min = {3}, .opt = {3}, .max = {3}, .source = "file"}};
  return std::make_shared<const Model>(std::move(model));
}

Result<Exported> exportedAs(const char* format, const std::string& name, const std::string& source = "metadata") {
  const PlanOptions options{.target = "tensorrt-10", .precisions = {DataType::F16}};
  return findExporter(format)->write(*planned(modelWith(name, source), options), {.own = {{"trt-version", "10.3"}}});
}

TEST(ExportedInputs, ATensorRtProfileIsWrittenAndReadBack) {
  for (const char* format : {"trtexec", "polygraphy"})
    for (const char* name : {"x", "x:0", "pixel values", "it$\"x\"", "é名"}) {
      const auto file = exportedAs(format, name);
      ASSERT_TRUE(file.ok()) << file.error().text();
      const auto read = recipeInputs(file.value().text);
      ASSERT_TRUE(read.ok()) << read.error().text();
      ASSERT_EQ(read.value().size(), 1U) << file.value().text;
      EXPECT_EQ(read.value()[0], (RecipeInput{.name = name, .min = {1, 3}, .opt = {4, 3}, .max = {8, 3}}))
          << file.value().text;
    }
  EXPECT_TRUE(holds(exportedAs("trtexec", "x").value().text, "--minShapes=x:1x3 \\\n  --optShapes=x:4x3"));
  EXPECT_TRUE(holds(exportedAs("polygraphy", "x").value().text, "--trt-min-shapes x:[1,3]") ||
              holds(exportedAs("polygraphy", "x").value().text, "--trt-min-shapes 'x:[1,3]'"));
}

TEST(ExportedInputs, ANameThatTrtexecCannotBeToldIsRefusedWithItsPlace) {
  for (const char* name : {"a,b", "it's", "a\nb"}) {
    const auto file = exportedAs("trtexec", name);
    ASSERT_FALSE(file.ok()) << name;
    EXPECT_EQ(file.error().where.value, name);
    EXPECT_TRUE(exportedAs("trtexec", name, "file").ok()) << "what the file fixes needs no profile";
  }
}

TEST(ExportedInputs, WhatNobodySaidIsNotSaidButNoted) {
  for (const char* format : {"trtexec", "polygraphy"}) {
    const auto file = exportedAs(format, "x", "assumed");
    ASSERT_TRUE(file.ok()) << file.error().text();
    EXPECT_TRUE(recipeInputs(file.value().text).value().empty()) << file.value().text;
    ASSERT_EQ(file.value().notes.size(), 1U);
    EXPECT_TRUE(holds(file.value().notes[0].text, "the extents of 'x' were not given") ||
                holds(file.value().notes[0].text, "the extents of x were not given"))
        << file.value().notes[0].text;
  }
}

TEST(RecipeInputs, AreReadFromWhatPeopleHave) {
  const auto of = [](std::string_view text) {
    const auto inputs = recipeInputs(text);
    EXPECT_TRUE(inputs.ok()) << inputs.error().text();
    return inputs.ok() ? inputs.value() : std::vector<RecipeInput>();
  };
  const RecipeInput x{.name = "x", .min = {1, 3}, .opt = {4, 3}, .max = {8, 3}};
  EXPECT_EQ(of("trtexec --onnx=m.onnx --minShapes=x:1x3 --optShapes=x:4x3 --maxShapes=x:8x3"), (std::vector{x}));
  EXPECT_EQ(of("#!/bin/sh\ntrtexec \"--optShapes='x':4x3,y:2\" \\\n  --fp16")[0].opt, (Dims{4, 3}));
  EXPECT_EQ(of("trtexec --shapes=x:4x3 --maxShapes=x:8x3"),
            (std::vector{RecipeInput{.name = "x", .min = {4, 3}, .opt = {4, 3}, .max = {8, 3}}}));
  EXPECT_EQ(
      of("polygraphy run m.onnx --trt --trt-min-shapes x:[1,3] --trt-opt-shapes x:[4,3] --trt-max-shapes x:[8,3]"),
      (std::vector{x}));
  EXPECT_EQ(
      of("&&&& RUNNING TensorRT.trtexec [TensorRT v101601] # trtexec --onnx=m --minShapes=x:1x3 --optShapes=x:4x3 "
         "--maxShapes=x:8x3\n[I] done\n"),
      (std::vector{x}));
  EXPECT_EQ(of("INPUT_EXTENTS = {\n    \"x\": \"1..4..8,3\",\n}\n"), (std::vector{x}));
  EXPECT_TRUE(of("trtexec --fp16").empty());
  EXPECT_FALSE(recipeInputs("trtexec --minShapes=x:1xtwo").ok());
  EXPECT_FALSE(recipeInputs("trtexec --minShapes=x").ok());
}

TEST(ExtentRanges, AreReadAndWritten) {
  const auto ranges = parseExtentRanges("1..8..32, 3,224x224");
  ASSERT_TRUE(ranges.ok());
  EXPECT_EQ(ranges.value(), (std::vector<ExtentRange>{{1, 8, 32}, {3, 3, 3}, {224, 224, 224}, {224, 224, 224}}));
  EXPECT_EQ(parseExtentRanges("1..32").value(), (std::vector<ExtentRange>{{1, std::nullopt, 32}}));
  EXPECT_TRUE(parseExtentRanges("").value().empty());
  EXPECT_TRUE(parseExtentRanges("scalar").value().empty());
  for (const char* bad :
       {"1..", "..2", "3..2", "1..5..4", "1..2..3..4", "a", "-1", "1,,2", "1.5", "99999999999999999999"})
    EXPECT_FALSE(parseExtentRanges(bad).ok()) << bad;
  EXPECT_EQ(extentRangesText({.name = "x", .min = {1, 3}, .opt = {8, 3}, .max = {32, 3}}), "1..8..32,3");
}

}  // namespace
}  // namespace fusescope
