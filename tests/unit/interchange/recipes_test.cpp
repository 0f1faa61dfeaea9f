// What old recipes of TensorRT and of others ask for, read as directives; what is not taken over is named.
#include "interchange/recipes/read_recipe.h"

#include <gtest/gtest.h>

#include "interchange/recipes/python_values.h"
#include "interchange/recipes/shell_words.h"
#include "tests/support/paths.h"
#include "tests/unit/interchange/holds.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::holds;
using testing::ModelBuilder;

/// conv1, relu1 and a view, then 'fc,1' (a name with a comma) and a Split of two outputs.
std::shared_ptr<const Model> network() {
  ModelBuilder b;
  const ValueId conv = b.node("MatMul", "conv1", {b.input("x", {4, 4}), b.weight("w", {4, 4})}, {4, 4});
  const ValueId relu = b.node("Relu", "relu1", {conv}, {4, 4});
  const ValueId view = b.node("Transpose", "turn", {relu}, {4, 4});
  const ValueId fc = b.node("MatMul", "fc,1", {view, b.weight("v", {4, 4})}, {4, 4});
  b.output(b.node("Softmax", "softmax*", {fc}, {4, 4}));
  b.output(b.node("Not", "places", {b.input("mask", {4}, DataType::Bool)}, {4}, DataType::Bool));
  return b.build();
}

Recipe recipeFrom(const std::string& text, const RecipeOptions& options = {}) {
  static const auto model = network();
  auto recipe = readRecipe(text, *model, options);
  EXPECT_TRUE(recipe.ok()) << (recipe.ok() ? "" : recipe.error().text());
  return recipe.ok() ? recipe.value() : Recipe{};
}

std::string directivesIn(const Recipe& recipe) {
  std::string text;
  for (const DataType type : recipe.precisions) text += (text.empty() ? "" : "; ") + std::string(name(type));
  for (const Directive& directive : recipe.directives) text += (text.empty() ? "" : "; ") + inWords(directive);
  return text;
}

/// "entry: why" of each, on a line.
std::string unmapped(const Recipe& recipe) {
  std::string text;
  for (const UnmappedEntry& entry : recipe.unmapped) text += entry.entry + ": " + entry.why + "\n";
  return text;
}

TEST(Recipes, ACommandLineOfTrtexecIsReadAsTrtexecReadsIt) {
  const Recipe recipe = recipeFrom(
      "#!/bin/sh\n# build it\ntrtexec --onnx=m.onnx --fp16 --memPoolSize=workspace:64M,dlaSRAM:1 \\\n"
      "  --precisionConstraints=obey --layerPrecisions=conv1:fp32,relu1:fp16,conv1:fp16 \\\n"
      "  --layerOutputTypes=conv1:fp32 --saveEngine=e.plan && echo done\n");
  EXPECT_EQ(directivesIn(recipe),
            "f16; pin relu1 to f16 (obey); pin conv1 to f16 (obey); output of conv1 as f32 (obey)")
      << "the last of two words on a layer counts";
  EXPECT_EQ(recipe.workspaceBytes, 64 << 20);
  EXPECT_EQ(unmapped(recipe), "");
  EXPECT_EQ(recipe.kept, (std::vector<std::string>{"--memPoolSize=workspace:64M,dlaSRAM:1", "--saveEngine=e.plan"}));
}

TEST(Recipes, WithoutConstraintsTrtexecAppliesNothingAndThatIsSaid) {
  const Recipe recipe = recipeFrom("trtexec --onnx=m.onnx --fp16 --layerPrecisions=conv1:fp32");
  EXPECT_EQ(directivesIn(recipe), "f16");
  EXPECT_TRUE(holds(unmapped(recipe), "conv1:fp32: with --precisionConstraints=none trtexec does not apply it"));
}

TEST(Recipes, AnExactNameGoesBeforeAWildcardAndWildcardsThatContradictAreNamed) {
  const std::string start = "trtexec --fp16 --precisionConstraints=prefer ";
  EXPECT_EQ(directivesIn(recipeFrom(start + "'--layerPrecisions=*1:fp32,conv1:fp16'")),
            "f16; pin relu1 to f32; pin fc,1 to f32; pin conv1 to f16");
  const Recipe recipe = recipeFrom(start + "'--layerPrecisions=*:fp32,*1:fp16'");
  EXPECT_EQ(directivesIn(recipe), "f16; pin softmax* to f32") << "the only node that one wildcard alone matches";
  EXPECT_TRUE(holds(unmapped(recipe), "--layerPrecisions=*1:fp16: 3 nodes match wildcards of other types too"));
  EXPECT_TRUE(
      holds(unmapped(recipeFrom(start + "'--layerPrecisions=zz*:fp32'")), "no node that calculates with floats"));
  EXPECT_TRUE(holds(unmapped(recipeFrom(start + "'--layerOutputTypes=conv*:fp16'")), "in the type of the wildcard"));
}

TEST(Recipes, WhatNamesNoNodeIsNamedWithTheReason) {
  const std::string start = "trtexec --fp16 --precisionConstraints=obey ";
  EXPECT_TRUE(
      holds(unmapped(recipeFrom(start + "'--layerPrecisions=conv1 + relu1:fp32'")), "a layer of a built engine"));
  EXPECT_TRUE(holds(unmapped(recipeFrom(start + "--layerPrecisions=conv1_2:fp32")), "another layer of node 'conv1'"));
  EXPECT_TRUE(holds(unmapped(recipeFrom(start + "'--layerPrecisions=(Unnamed Layer* 3) [ElementWise]:fp32'")),
                    "TensorRT's parser made this layer"));
  EXPECT_TRUE(holds(unmapped(recipeFrom(start + "--layerPrecisions=relu2:fp32")), "the nearest is 'relu1'"));
  EXPECT_TRUE(holds(unmapped(recipeFrom(start + "--layerPrecisions=fc,1:fp32")), "lists are split at every comma"));
  EXPECT_TRUE(holds(unmapped(recipeFrom(start + "--layerPrecisions=places:fp32")), "the node has no floats"));
  EXPECT_TRUE(holds(unmapped(recipeFrom(start + "--layerPrecisions=conv1:int8")), "they come from ranges"));
  EXPECT_TRUE(holds(unmapped(recipeFrom(start + "--layerPrecisions=conv1:fp8")), "which a quantiser writes"));
  EXPECT_TRUE(holds(unmapped(recipeFrom(start + "--layerOutputTypes=conv1:fp16+fp32")), "the node has 1 output"));
  EXPECT_TRUE(holds(unmapped(recipeFrom(start + "--int8")), "names no calibration cache"));
  EXPECT_TRUE(holds(unmapped(recipeFrom(start + "--inputIOFormats=fp16:chw")), "--io plan"));
  const auto typed = readRecipe(start + "--stronglyTyped", *network());
  ASSERT_FALSE(typed.ok());
  EXPECT_TRUE(holds(typed.error().text(), "--fp16: with --stronglyTyped TensorRT ignores it"));
}

TEST(Recipes, ALogOfTheBuildSaysWhichNodeALayerIsOf) {
  const RecipeOptions log{.folder = {},
                          .layerNames =
                              "[V] Registering layer: conv1_7 for ONNX node: conv1\n"
                              "[V] Registering layer: (Unnamed Layer* 2) [Shuffle] for ONNX node: fc,1\n"};
  const Recipe recipe = recipeFrom(
      "trtexec --precisionConstraints=obey '--layerPrecisions=conv1_7:fp16,(Unnamed Layer* 2) "
      "[Shuffle]:fp32,relu1:fp32'",
      log);
  EXPECT_EQ(directivesIn(recipe), "pin conv1 to f16 (obey); pin fc,1 to f32 (obey)");
  EXPECT_TRUE(holds(unmapped(recipe), "relu1:fp32: the log registers no such layer"));
}

TEST(Recipes, ACommandLineOfPolygraphyIsRead) {
  const Recipe recipe = recipeFrom(
      "polygraphy convert m.onnx --fp16 --bf16 --layer-precisions conv1:float32 'fc,1:float16' zz:float16 "
      "--precision-constraints obey -o e.plan");
  EXPECT_EQ(directivesIn(recipe), "f16; bf16; pin conv1 to f32 (obey); pin fc,1 to f16 (obey)");
  EXPECT_TRUE(holds(unmapped(recipe), "--layer-precisions zz:float16: no node"));
}

TEST(Recipes, TablesOfPythonAreReadAndCodeIsNotRun) {
  const Recipe script = recipeFrom(
      "import tensorrt as trt\n"
      "# polygraphy convert m --fp16 --precision-constraints obey\n"
      "LAYERS = {'conv1': trt.float32, \"fc,1\": trt.DataType.HALF, # a comment\n 'turn': trt.float32, 'places': "
      "trt.float32}\n"
      "OUTPUT_TYPES = dict({r'conv1': trt.float16})\n"
      "def postprocess(network):\n    for layer in network: pass\n");
  EXPECT_EQ(
      directivesIn(script),
      "f16; pin conv1 to f32 (obey); pin fc,1 to f16 (obey); pin turn to f32 (obey); output of conv1 as f16 (obey)");
  EXPECT_TRUE(holds(unmapped(script), "LAYERS[\"places\"] = trt.float32: the node has no floats"));

  const Recipe autocast = recipeFrom(
      "from modelopt.onnx.autocast import convert_to_mixed_precision\n"
      "m = convert_to_mixed_precision(onnx_path='m.onnx', low_precision_type='bf16',\n"
      "                               nodes_to_exclude=['conv', r'.*max\\*$', 'zz'])\n");
  EXPECT_EQ(directivesIn(autocast), "bf16; pin conv1 to f32; pin softmax* to f32")
      << "AutoCast matches from the beginning";
  EXPECT_TRUE(holds(unmapped(autocast), "zz: no node that calculates with floats matches it"));

  const Recipe blocks = recipeFrom(
      "import onnx\nmodel16 = float16.convert_float_to_float16(model, op_block_list=['Softmax'],\n"
      "    node_block_list=[\"fc\" \",1\"])\n");
  EXPECT_EQ(directivesIn(blocks), "f16; pin fc,1 to f32; pin softmax* to f32");

  const auto none = readRecipe("import tensorrt\nfor layer in network: layer.precision = f(layer)\n", *network());
  ASSERT_FALSE(none.ok());
  EXPECT_TRUE(holds(none.error().text(), "the script itself is not run"));
}

TEST(Recipes, ATacticReplaySaysTheTypesOfFusedLayers) {
  const Recipe recipe = recipeFrom(
      R"({"replay": {"conv1 + relu1": {"inputs": [{"dtype": "DataType.HALF"}], "outputs": []},
          "fc,1": {"inputs": [{"dtype": "DataType.FLOAT"}]}, "old": {"inputs": [{"dtype": "DataType.HALF"}]},
          "softmax*": {"tactic": 1}}, "polygraphy_class": "TacticReplayData"})");
  EXPECT_EQ(directivesIn(recipe), "f16; pin conv1 to f16; pin relu1 to f16; pin fc,1 to f32");
  EXPECT_TRUE(holds(unmapped(recipe), "old: no node"));
  EXPECT_TRUE(holds(unmapped(recipe), "softmax*: the replay does not say in which type"));
}

TEST(Recipes, AReplayOfAnotherNetworkAsksForNothing) {
  std::string layers;
  for (const char* layer : {"stem", "body.0", "body.1", "head"})
    layers += std::string(layers.empty() ? "" : ", ") + "\"" + layer + R"(": {"inputs": [{"dtype": "DataType.HALF"}]})";
  const auto recipe =
      readRecipe(R"({"replay": {)" + layers + R"(}, "polygraphy_class": "TacticReplayData"})", *network());
  ASSERT_FALSE(recipe.ok()) << "its types are of layers that are none of this network's: "
                            << directivesIn(recipe.value());
  EXPECT_TRUE(holds(recipe.error().message, "contains no request that can be taken over"));
  EXPECT_TRUE(holds(recipe.error().help, "The same is true of 1 more")) << recipe.error().help;
}

TEST(Recipes, WhatIsNoneIsRefused) {
  for (const char* text : {"", "hello", "{\"a\": 1}", "{", "TRT-8204-Entropy\nno scale"}) {
    const auto recipe = readRecipe(text, *network());
    ASSERT_FALSE(recipe.ok()) << text;
    EXPECT_FALSE(recipe.error().help.empty()) << recipe.error().text();
  }
  const auto nothing = readRecipe("trtexec --onnx=m.onnx --fp8", *network());
  ASSERT_FALSE(nothing.ok());
  EXPECT_TRUE(holds(nothing.error().text(), "--fp8: codes of fp8 come from"));
}

TEST(Recipes, ACalibrationCacheGivesRangesOfValuesThatTheModelHas) {
  const Recipe recipe = recipeFrom("TRT-8601-EntropyCalibration2\nx: 3f4014c9\n(Unnamed Layer* 0): 3f4014c9\n");
  EXPECT_EQ(directivesIn(recipe), "int8");
  ASSERT_NE(recipe.ranges, nullptr);
  EXPECT_EQ(recipe.ranges->edges.size(), 1U);
  EXPECT_TRUE(holds(unmapped(recipe), "the scale of '(Unnamed Layer* 0)': no value of the model has this name"));
}

TEST(Recipes, RealFilesAreReadForTheirNetworks) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto data = *test::sharedFolder() / "data" / "tensorrt";
  ModelBuilder b;
  ValueId x = b.input("inputT0", {1, 8});
  for (const char* node : {"A-N-0-Conv", "A-N-1-Relu", "A-N-2-MaxPool", "A-N-3-Conv"})
    x = b.node("Relu", node, {x}, {1, 8});
  b.output(x);
  const auto model = b.build();
  const auto replay = readRecipeFile(data / "polygraphy" / "tactic-replay.json", *model);
  ASSERT_TRUE(replay.ok()) << replay.error().text();
  EXPECT_TRUE(directivesIn(replay.value()).starts_with("f16; pin A-N-0-Conv to f16; pin A-N-1-Relu to f16"))
      << directivesIn(replay.value());
  const auto counted = readRecipeFile(data / "polygraphy" / "debug-replay.json", *model);
  ASSERT_FALSE(counted.ok());
  EXPECT_TRUE(holds(counted.error().text(), "names none"));
  const auto cache = readRecipeFile(data / "calibration" / "int8-8204.cache", *model);
  ASSERT_TRUE(cache.ok()) << cache.error().text();
  EXPECT_EQ(cache.value().ranges->edges.size(), 1U);
}

TEST(Recipes, WordsOfAShellAreReadAsItReadsThem) {
  using Commands = std::vector<std::vector<std::string>>;
  EXPECT_EQ(shellCommands("a 'b c' \"d \\\" $E\" f\\ g # h\ni; j &&k|l \\\r\n m\\\nn"),
            (Commands{{"a", "b c", "d \" $E", "f g"}, {"i"}, {"j"}, {"k"}, {"l", "mn"}}));
  EXPECT_EQ(shellCommands("x'"), (Commands{{"x"}}));
  EXPECT_EQ(shellCommands(""), Commands{});
}

TEST(Recipes, LiteralsOfPythonAreReadAsItReadsThem) {
  const auto values = pythonValues(
      "A = ['a' \"b\", r'\\n', '\\x41\\u00e9\\\n', '''c\n\"d''',]\nB == ['no']\nC = f(x)\nD = {'k': v.w, }\nE = "
      "-1.5e3\n"
      "# F = 'no'\nG = \"# H = 'no'\"\ndef f(I=('i',)): J = set(['j'])\nL = A\nf(L=L)\nM = A[0]\nx.N = A + B\nK = "
      "['open'\n");
  EXPECT_EQ(values.at("A").texts(), (std::vector<std::string>{"ab", "\\n", "Aé", "c\n\"d"}));
  EXPECT_EQ(values.at("D").entries.at(0).second.text, "v.w");
  EXPECT_EQ(values.at("E").text, "-1.5e3");
  EXPECT_EQ(values.at("G").text, "# H = 'no'");
  EXPECT_EQ(values.at("I").texts(), std::vector<std::string>{"i"});
  EXPECT_EQ(values.at("J").texts(), std::vector<std::string>{"j"});
  EXPECT_EQ(values.at("L").texts(), values.at("A").texts());
  for (const char* absent : {"B", "C", "F", "H", "K", "M", "N"}) EXPECT_FALSE(values.contains(absent)) << absent;
}

}  // namespace
}  // namespace fusescope
