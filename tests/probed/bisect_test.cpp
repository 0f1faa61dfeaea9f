// `errors --bisect`: what makes outputs wrong, by a compiler with an optimiser that is wrong, and by ONNX Runtime; and
// `errors` tensor by tensor.
#include <algorithm>

#include "tests/probed/real_compilers_fixture.h"
#include "tests/probed/tally_fixture.h"

namespace fusescope::test {
namespace {

class Bisect : public Tally {
 protected:
  /// Of the fault that is planted; `status`: what the command ends with.
  Json bisected(const std::vector<std::string>& more = {}, int status = 0) {
    std::vector<std::string> arguments{"errors", network(), "--compiler", "tally", "--bisect", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = command(arguments);
    EXPECT_EQ(result.status, status) << result.out << result.err;
    Json json = Json::parse(result.out, nullptr, false);
    EXPECT_TRUE(json.is_object()) << result.out << result.err;
    return json;
  }
};

TEST_F(Bisect, NamesTheOneOptimiserThatIsWrong) {
  plant("wrong reorder");
  const Json found = bisected();
  EXPECT_EQ(found["end"], "found");
  EXPECT_EQ(found["what"], "optimisers");
  EXPECT_EQ(found["culprits"], Json{"reorder"});
  EXPECT_GT(found["before"].get<double>(), 1e-2);
  EXPECT_LT(found["after"].get<double>(), 1e-6);
  EXPECT_EQ(found["honoured"], true);
  EXPECT_EQ(found["options"], (Json{"--compiler-option", "without=reorder"}));
  EXPECT_EQ(found["levels"][0]["level"], "low");
  EXPECT_LT(found["levels"][0]["error"].get<double>(), 1e-6);
  EXPECT_EQ(found["stages"][0]["switches"], (Json{"tidy", "fold", "reorder", "round", "join"}))
      << "what changed something";
  EXPECT_TRUE(found["stages"][0]["minimal"].get<bool>());
  EXPECT_EQ(bisected()["builds"], found["builds"]) << "the same each time";
  // What is offered holds.
  const ProcessResult mended =
      command({"errors", network(), "--compiler", "tally", "--compiler-option", "without=reorder", "--bisect"});
  EXPECT_EQ(mended.status, 0);
  EXPECT_NE(mended.out.find("nothing is wrong"), std::string::npos) << mended.out;
}

TEST_F(Bisect, OneOfTwoThatAreWrongTogetherIsEnough) {
  plant("wrong fold join");  // while both are taken
  const Json found = bisected();
  EXPECT_EQ(found["end"], "found");
  EXPECT_EQ(found["culprits"].size(), 1U) << found["culprits"];
}

TEST_F(Bisect, WhatIsWrongWithoutOptimisersIsNotTheirs) {
  plant("wrong tidy");  // taken at every level
  const Json found = bisected({}, 1);
  EXPECT_EQ(found["end"], "no_culprit");
  EXPECT_EQ(found["culprits"], Json::array());
  EXPECT_GT(found["levels"][0]["error"].get<double>(), 1e-2);
}

TEST_F(Bisect, NothingWrongIsSaid) {
  const Json found = bisected();
  EXPECT_EQ(found["end"], "not_wrong");
  EXPECT_EQ(found["builds"], 1);
}

TEST_F(Bisect, ABudgetEndsIt) {
  plant("wrong reorder");
  const Json found = bisected({"--builds", "3"}, 1);
  EXPECT_EQ(found["end"], "out_of_budget");
  EXPECT_EQ(found["builds"], 3);
}

/// Its results say that the step was left out, and its own words that it was not: both are told.
TEST_F(Bisect, ACompilerThatSaysThatItTakesAStepAllTheSameIsFoundOut) {
  plant("boasts reorder");
  const Json found = bisected();
  EXPECT_EQ(found["end"], "found");
  EXPECT_EQ(found["culprits"], Json{"reorder"});
  EXPECT_EQ(found["honoured"], false);
  const ProcessResult told = command({"errors", network(), "--compiler", "tally", "--bisect"});
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_NE(told.out.find("but the compiler reports that it used them all the same"), std::string::npos) << told.out;
}

TEST_F(Bisect, OurOwnPinsAreSearched) {
  const std::string model = (sampleFolder("fp16_overflow") / "model.onnx").string();
  const std::string io = sampleInputs("fp16_overflow");
  const Json found = json({"errors", model, "--precision", "f16", "--inputs", io, "--bisect"});
  EXPECT_EQ(found["end"], "found");
  EXPECT_EQ(found["what"], "types of nodes");
  EXPECT_EQ(found["before"], "inf");
  EXPECT_LE(found["after"].get<double>(), 1e-2);
  EXPECT_GE(found["culprits"].size(), 1U);
  EXPECT_EQ(found["options"][0], "--pin");
}

class RealBisect : public Bisect {
 protected:
  void SetUp() override { useRealCompilers(); }
};

/// MatMul and Add are calculated as one Gemm in f16, which costs half of the accuracy.
TEST_F(RealBisect, OnnxRuntimesMatMulAddFusionIsNamed) {
  const std::string model = (sampleFolder("bert_tiny") / "model.onnx").string();
  const std::string io = sampleInputs("bert_tiny");
  const Json found = json({"errors", model, "--compiler", "onnxruntime", "--precision", "f16", "--inputs", io,
                           "--tol-rms", "3e-3", "--bisect"});
  EXPECT_EQ(found["end"], "found");
  EXPECT_EQ(found["what"], "optimisers");
  EXPECT_EQ(found["culprits"], Json{"MatMulAddFusion"});
  EXPECT_EQ(found["honoured"], true);
  EXPECT_LT(found["after"].get<double>(), found["before"].get<double>());
}

TEST_F(RealBisect, OnnxRuntimesOverflowIsATypes) {
  const std::string model = (sampleFolder("fp16_overflow") / "model.onnx").string();
  const std::string io = sampleInputs("fp16_overflow");
  const Json found =
      json({"errors", model, "--compiler", "onnxruntime", "--precision", "f16", "--inputs", io, "--bisect"});
  EXPECT_EQ(found["end"], "found");
  EXPECT_EQ(found["what"], "types of nodes") << "no level of its optimisation makes it right";
  EXPECT_EQ(found["before"], "inf");
  EXPECT_LE(found["after"].get<double>(), 1e-2);
}

TEST_F(RealBisect, OpenvinosHintIsATypeOfNodes) {
  const std::string model = (sampleFolder("bert_tiny") / "model.onnx").string();
  const std::string io = sampleInputs("bert_tiny");
  const ProcessResult result = command({"errors", model, "--compiler", "openvino", "--compiler-option", "hint=bf16",
                                        "--inputs", io, "--tol-rms", "1e-5", "--bisect", "--json"});
  const Json found = Json::parse(result.out, nullptr, false);
  ASSERT_TRUE(found.is_object()) << result.err;
  if (found["end"] == "not_wrong") GTEST_SKIP() << "OpenVINO has no bf16 on this processor";
  EXPECT_EQ(found["end"], "found") << result.out;
  EXPECT_LE(found["after"].get<double>(), 1e-5);
}

TEST_F(Bisect, TensorsInsideAreToldWhereKernelsStayAsTheyAre) {
  const Json errors = json({"errors", network(), "--compiler", "tally"});
  EXPECT_EQ(errors["outputs_alone"], Json());
  std::vector<std::string> names;
  for (const Json& tensor : errors["tensors"]) names.push_back(tensor["name"]);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"c", "d", "y"})) << "what stands between kernels";
  for (const Json& tensor : errors["tensors"]) EXPECT_LT(tensor["carried"]["max_over_rms"].get<double>(), 1e-6);
  EXPECT_EQ(errors["inside"].get<std::string>().find("the errors of 2 tensors inside are known"), 0U)
      << errors["inside"];
  ASSERT_EQ(errors["fused_nodes"].size(), 3U) << "tally's kernels, not those of our plan";
  for (const Json& kernel : errors["fused_nodes"]) {
    EXPECT_EQ(kernel["kind"], "tally");
    EXPECT_TRUE(kernel["local"].is_null()) << "nobody can hand another compiler's kernel exact inputs";
    EXPECT_LT(kernel["carried"]["max_over_rms"].get<double>(), 1e-6) << kernel["name"];
  }
}

TEST_F(Bisect, WhatChangesKernelsIsToldByOutputsWithTheReason) {
  plant("marks");
  const Json errors = json({"errors", network(), "--compiler", "tally"});
  EXPECT_TRUE(errors["outputs_alone"].is_string());
  EXPECT_EQ(errors["tensors"].size(), 1U) << errors["tensors"];
  EXPECT_EQ(entryOf(errors["not_measured"], "name", "c")["why"], "other kernels run if it is made an output");
  EXPECT_EQ(errors["inside"],
            "errors are known of outputs, and of values between segments: Tally forgets what it counted on the way");
}

TEST_F(RealBisect, OnnxRuntimesTensorsInsideAreTold) {
  const std::string model = (sampleFolder("bert_tiny") / "model.onnx").string();
  const std::string io = sampleInputs("bert_tiny");
  const Json errors = json({"errors", model, "--compiler", "onnxruntime", "--precision", "f16", "--inputs", io});
  EXPECT_EQ(errors["outputs_alone"], Json());
  std::size_t inside = 0;
  for (const Json& tensor : errors["tensors"]) inside += tensor["is_output"] == false && tensor["carried"].is_object();
  EXPECT_GT(inside, 10U);
}

}  // namespace
}  // namespace fusescope::test
