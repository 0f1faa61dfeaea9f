// What Torch-TensorRT's dry run answered on a machine without a GPU (recordings/README.md), through every command.
#include <algorithm>

#include "tests/torch/torch_fixture.h"

namespace fusescope::test {
namespace {

class RecordedPartition : public RecordedProgramAnswers {
 protected:
  using Arguments = std::vector<std::string>;

  ProcessResult pack(const std::string& network, const Arguments& more = {}) const {
    return packFor("torch-tensorrt", sampleFolder(network) / "model.onnx", more);
  }
  /// The plan that was read back from a recording.
  Json planOf(const std::string& network, const std::string& recording, const Arguments& more = {}) const {
    const ProcessResult packed = pack(network, more);
    EXPECT_EQ(packed.status, 0) << packed.err;
    replay(recording);
    return json({"probe", "open", result()})["plan"];
  }
  /// "_run_on_acc_0: 7", "relu: 1", …: kernels with the number of their nodes, engines in front of what is in torch.
  static Arguments kernelsOf(const Json& plan, bool areEngines) {
    Arguments kernels;
    for (const Json& kernel : plan["kernels"])
      if ((kernel["kind"] == "engine") == areEngines)
        kernels.push_back(kernel["name"].get<std::string>() + ": " + std::to_string(kernel["nodes"].size()));
    return kernels;
  }
  /// "d: cast_in_front made_narrow", …: each value of a type that the target lacks.
  static Arguments fatesBeside(const Json& beside) {
    Arguments fates;
    for (const Json& each : beside["values"])
      fates.push_back(each["value"].get<std::string>() + ": " + each["a"]["fate"].get<std::string>() + " " +
                      each["b"]["fate"].get<std::string>());
    return fates;
  }
  /// Nodes that decisions of a code are about, each decision's by itself.
  static Arguments nodesOf(const Json& plan, const std::string& code) {
    Arguments nodes;
    for (const Json& decision : plan["decisions"]) {
      if (decision["code"] != code) continue;
      std::string names;
      for (const Json& subject : decision["subjects"])
        names += (names.empty() ? "" : " ") + subject.value("node", subject.value("value", ""));
      nodes.push_back(names);
    }
    return nodes;
  }
};

TEST_F(RecordedPartition, AProgramThatIsTakenAsAWholeIsOneEngine) {
  const Json plan = planOf("bert_tiny", "bert_tiny.dryrun.cpu");
  EXPECT_EQ(plan["compiler"]["name"], "torch-tensorrt");
  EXPECT_EQ(plan["compiler"]["version"], "2.14.0");
  EXPECT_EQ(plan["compiler"]["options"]["used_flavour"], "rtx");
  EXPECT_EQ(plan["compiler"]["options"]["used_tensorrt"], "1.6.1.120");
  EXPECT_EQ(kernelsOf(plan, true), (Arguments{"_run_on_acc_0: 86"}));
  EXPECT_EQ(kernelsOf(plan, false), Arguments());
  EXPECT_EQ(plan["regions"].size(), 1U) << "the engine is told as a whole";
  EXPECT_TRUE(plan["agreement"].is_null()) << "an engine is no kernel, so that nothing was predicted of it";
  const Json divided = decisionOf(plan, "build.program_divided")["arguments"];
  EXPECT_EQ(divided["total"], 53);
  EXPECT_EQ(divided["supported"], 53);
  EXPECT_EQ(divided["engines"], 1);
  EXPECT_EQ(divided["in_torch"], 0);
  EXPECT_EQ(decisionOf(plan, "build.engine_as_a_whole")["arguments"]["operators"], 53);
  EXPECT_EQ(fates(plan), (std::map<std::string, int>{{"kernel", 86}, {"not_disclosed", 2}}));
  EXPECT_TRUE(has(decisionOf(plan, "build.without_gpu")["message"], "CPU, not supported by upstream"));
  EXPECT_TRUE(decisionOf(plan, "build.dry_run_untried").empty()) << "this is what was tried";
}

TEST_F(RecordedPartition, OpenExtentsAreThoseOfTheProgram) {
  const Json plan = planOf("tiny_resnet_dynbatch", "tiny_resnet_dynbatch.dryrun.cpu");
  EXPECT_EQ(kernelsOf(plan, true), (Arguments{"_run_on_acc_0: 31"}));
  EXPECT_EQ(decisionOf(plan, "build.program_divided")["arguments"]["supported"], 57);
}

TEST_F(RecordedPartition, WhatStaysInTorchSaysWhy) {
  const Json plan = planOf("squeezenet1_1", "squeezenet1_1.dryrun.cpu");
  EXPECT_EQ(kernelsOf(plan, true), (Arguments{"_run_on_acc_1: 14", "_run_on_acc_3: 14", "_run_on_acc_5: 32"}));
  EXPECT_EQ(kernelsOf(plan, false), (Arguments{"convolution: 1", "relu: 1", "max_pool2d_default: 1",
                                               "max_pool2d_default_1: 1", "max_pool2d_default_2: 1"}));
  const Json divided = decisionOf(plan, "build.program_divided")["arguments"];
  EXPECT_EQ(divided["supported"], 62);
  EXPECT_EQ(divided["total"], 65);
  EXPECT_EQ(divided["in_torch"], 5);
  EXPECT_EQ(nodesOf(plan, "build.torch_small_block"), (Arguments{"node_Conv_7", "node_relu"}));
  EXPECT_EQ(decisionOf(plan, "build.torch_small_block")["arguments"]["operators"], 2);
  EXPECT_EQ(decisionOf(plan, "build.torch_small_block")["arguments"]["least"], 5);
  const Arguments pools{"node_max_pool2d", "node_max_pool2d_1", "node_max_pool2d_2"};
  EXPECT_EQ(nodesOf(plan, "build.torch_validator"), pools);
  EXPECT_EQ(decisionOf(plan, "build.torch_validator")["arguments"]["validators"], "max_pool_param_validator");
  EXPECT_EQ(nodesOf(plan, "build.torch_compares_list"), pools) << "what upstream has wrong is told beside it";
  const std::string compared = decisionOf(plan, "build.torch_compares_list")["message"];
  EXPECT_TRUE(has(compared, "compares the dilation [1, 1], which is a list, with the number 1")) << compared;
  EXPECT_TRUE(has(compared, "still rejects the operator: Currently we don't support specifying ceil_mode")) << compared;
}

TEST_F(RecordedPartition, AnEngineOfDoublesIsToldAtItsNodes) {
  const Json plan = planOf("long_double", "long_double.dryrun.cpu");
  EXPECT_EQ(kernelsOf(plan, true), (Arguments{"_run_on_acc_0: 7", "_run_on_acc_2: 6"}));
  EXPECT_EQ(kernelsOf(plan, false), (Arguments{"_to_copy: 1"}));
  EXPECT_EQ(decisionOf(plan, "build.program_divided")["arguments"]["supported"], 12);
  EXPECT_EQ(nodesOf(plan, "build.torch_validator"), (Arguments{"node__to_copy"}));
  EXPECT_EQ(nodesOf(plan, "build.engine_of_doubles"),
            (Arguments{"node_mul", "node_add_1", "node__to_copy_1", "node_sum_1", "node_gt"}));
  EXPECT_EQ(nodesOf(plan, "build.engine_reads_double"), (Arguments{"_to_copy", "d"})) << "inputs of the engine";
  EXPECT_EQ(plan["conversions"], Json::array());
}

/// What the dry run does with doubles, beside what our own plan for the target of its engines does.
TEST_F(RecordedPartition, TruncationStandsBesideOurs) {
  planOf("long_double", "long_double.dryrun.truncated.cpu", {"--compiler-option", "truncate-double=on"});
  const std::string model = m_folder / "model.onnx";
  const Arguments theirs{"--compiler", "torch-tensorrt@" + result(), "--compiler-option", "truncate-double=on"};
  const auto beside = [&](const Arguments& more) {
    Arguments arguments{"plan", model};
    arguments.insert(arguments.end(), theirs.begin(), theirs.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const Json plan = json(beside({"--truncate", "double"}));
  EXPECT_EQ(plan["compiler"]["options"]["engines_for"], "tensorrt-rtx");
  EXPECT_EQ(plan["compiler"]["options"]["engines_narrow"], "f64");
  EXPECT_EQ(plan["truncation_beside"]["a"], "torch-tensorrt 2.14.0");
  EXPECT_EQ(plan["truncation_beside"]["b"], "fusescope for tensorrt-rtx");
  EXPECT_EQ(fatesBeside(plan["truncation_beside"]),
            (Arguments{"scale: held_narrow held_narrow", "scalar_tensor_default: held_narrow held_narrow",
                       "d: cast_in_front cast_in_front", "_to_copy: cast_in_front made_narrow",
                       "mul: not_told made_narrow", "add_1: not_told made_narrow", "sum_1: not_told made_narrow"}));
  const Json apart = json(beside({"--truncate-inputs", "double", "--truncate-constants", "none"}));
  EXPECT_EQ(fatesBeside(apart["truncation_beside"])[0], "scale: held_narrow stays_wide");
  EXPECT_EQ(fatesBeside(apart["truncation_beside"])[2].substr(0, 16), "d: cast_in_front");
  const ProcessResult text = fusescopeCommand(beside({"--truncate", "double"}));
  EXPECT_TRUE(has(text.out, "Truncation by torch-tensorrt 2.14.0, beside fusescope for tensorrt-rtx")) << text.out;
  EXPECT_TRUE(has(text.out, "cast to f32 before _run_on_acc_2")) << text.out;
  EXPECT_TRUE(has(text.out, "cast to f32 before segment_0")) << text.out;
  const std::string options = "--compiler torch-tensorrt@" + result() + " --compiler-option truncate-double=on";
  const Arguments diff{
      "diff", model, model, "--plan-a", options, "--plan-b", "--target tensorrt-rtx --truncate double", "--json"};
  EXPECT_EQ(json(diff)["truncation"]["values"], plan["truncation_beside"]["values"]);
  const ProcessResult said = fusescopeCommand(Arguments(diff.begin(), diff.end() - 1));
  EXPECT_TRUE(has(said.out, "@@ truncation, − torch-tensorrt 2.14.0, + fusescope for tensorrt-rtx @@")) << said.out;
}

TEST_F(RecordedPartition, DoublesThatAnEngineIsSaidToTakeAreMarkedBesideOurs) {
  planOf("long_double", "long_double.dryrun.cpu");
  const Json plan = json({"plan", m_folder / "model.onnx", "--compiler", "torch-tensorrt@" + result()});
  EXPECT_FALSE(plan["compiler"]["options"].contains("engines_narrow"));
  for (const std::string& value : fatesBeside(plan["truncation_beside"]))
    EXPECT_TRUE(has(value, ": wide_in_engine stays_wide")) << value;
  EXPECT_EQ(kernelOf(plan, "_run_on_acc_2")["inputs"][0]["type"], "f64");
}

TEST_F(RecordedPartition, WithoutWideTypesNothingStandsBeside) {
  EXPECT_FALSE(planOf("bert_tiny", "bert_tiny.dryrun.cpu").contains("truncation_beside"));
  const Json plan = json({"plan", m_folder / "model.onnx", "--compiler", "torch-tensorrt@" + result()});
  EXPECT_FALSE(plan.contains("truncation_beside"));
}

TEST_F(RecordedPartition, TruncationIsToldAtWhatIsCast) {
  const Json plan =
      planOf("long_double", "long_double.dryrun.truncated.cpu", {"--compiler-option", "truncate-double=on"});
  EXPECT_EQ(nodesOf(plan, "build.truncates_double"), (Arguments{"_to_copy", "d"}));
  EXPECT_EQ(nodesOf(plan, "build.engine_of_doubles"), Arguments()) << "it reads floats then";
  ASSERT_EQ(plan["conversions"].size(), 2U);
  for (const Json& conversion : plan["conversions"]) {
    EXPECT_EQ(conversion["from"], "f64");
    EXPECT_EQ(conversion["to"], "f32");
    EXPECT_EQ(conversion["kernel"], "_run_on_acc_2");
  }
}

TEST_F(RecordedPartition, WhatTheUserKeepsInTorchSaysSo) {
  const Json plan = planOf("long_double", "long_double.dryrun.kept.cpu",
                           {"--compiler-option", "torch-executed-ops=torch.ops.aten.linear.default"});
  EXPECT_EQ(kernelsOf(plan, false), (Arguments{"linear: 2", "_to_copy: 1"}));
  EXPECT_EQ(nodesOf(plan, "build.torch_asked"), (Arguments{"node_MatMul_2 node_linear"}));
}

TEST_F(RecordedPartition, AnOperatorThatTheProgramHasNotIsRefusedWithTheNearest) {
  ASSERT_EQ(pack("long_double", {"--compiler-option", "torch-executed-ops=torch.ops.aten.matmul.default"}).status, 0);
  replay("long_double.dryrun.refused.cpu");
  const std::string why = problem({"probe", "open", result()});
  EXPECT_TRUE(has(why, "The program has no operator torch.ops.aten.matmul.default")) << why;
  EXPECT_TRUE(has(why, "torch.ops.aten.linear.default")) << why;
}

TEST_F(RecordedPartition, AProgramThatIsNoSingleEngineIsRefusedWhereThatWasAsked) {
  ASSERT_EQ(pack("long_double", {"--compiler-option", "require-full-compilation=on"}).status, 0);
  replay("long_double.dryrun.whole.cpu");
  const std::string why = problem({"probe", "open", result()});
  EXPECT_TRUE(has(why, "1 of 13 operators stay in torch: _to_copy (validator)")) << why;
}

TEST_F(RecordedPartition, EveryVerbThatLooksAtAPlanTakesItAndNoOtherDoes) {
  planOf("squeezenet1_1", "squeezenet1_1.dryrun.cpu");
  const std::string model = m_folder / "model.onnx", compiler = "torch-tensorrt@" + result();
  const ProcessResult plan = fusescopeCommand({"plan", model, "--compiler", compiler});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_TRUE(has(plan.out, "Torch-TensorRT counts 62 of 65 operators of the lowered program as supported"))
      << plan.out;
  EXPECT_TRUE(has(plan.out, "but its validator max_pool_param_validator rejects the operator")) << plan.out;
  const Json explained = json({"explain", model, "node_relu", "--compiler", compiler});
  EXPECT_TRUE(std::ranges::any_of(explained["decisions"], [](const Json& decision) {
    return decision["code"] == "build.torch_small_block";
  })) << explained["decisions"];
  const Json diff = json({"diff", model, model, "--plan-a", "--compiler " + compiler});
  EXPECT_EQ(diff["decisions"].size(), 8U) << "why five operators stay in torch, and what is wrong of three";
  EXPECT_EQ(json({"build", model, "--compiler", compiler, "-o", m_folder / "e.fse"})["regions"], 8);
  EXPECT_EQ(json({"plan", m_folder / "e.fse"})["kernels"].size(), 8U);
  for (const char* verb : {"time", "run"}) {
    const std::string why = problem({verb, model, "--compiler", compiler});
    EXPECT_TRUE(has(why, "Torch-TensorRT is used only for its dry run")) << why;
  }
}

TEST_F(RecordedPartition, OptionsThatUpstreamWouldSwallowAreRefusedWithTheNearest) {
  const std::map<std::string, std::string> refused{
      {"min_block_size=3", "min-block-size"}, {"truncate-doubles=on", "truncate-double"},
      {"truncate-double=yes", "off, on"},     {"min-block-size=none", "1 or more"},
      {"min-block-size=0", "1 or more"},      {"enabled_precisions=f16", "require-full-compilation"}};
  for (const auto& [option, nearest] : refused) {
    const ProcessResult packed = pack("long_double", {"--compiler-option", option});
    EXPECT_EQ(packed.status, 2) << option;
    EXPECT_TRUE(has(packed.err, nearest)) << option << ": " << packed.err;
  }
}

/// A Python that has these packages, as far as their metadata and this torch go.
class StandInForTorchTensorrt : public RecordedPartition {
 protected:
  /// The compiler in that Python.
  std::string environment(const std::string& distribution, const std::string& version) const {
    const std::filesystem::path there = m_folder / "there";
    const std::string facts = distribution + "-" + version + ".dist-info";
    std::filesystem::create_directories(there / "torch");
    std::filesystem::create_directories(there / facts);
    m_folder.write("there/torch/__init__.py",
                   "import types\n__version__ = '2.14.1'\ncuda = types.SimpleNamespace(is_available=lambda: False)\n");
    if (!distribution.empty())
      m_folder.write("there/" + facts + "/METADATA",
                     "Metadata-Version: 2.1\nName: " + distribution + "\nVersion: " + version + "\n");
    return "torch-tensorrt@env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" + there.string() + " python3";
  }
  std::string problemOf(const std::string& compiler) const {
    std::filesystem::copy_file(sampleFolder("long_double") / "model.onnx", m_folder / "model.onnx",
                               std::filesystem::copy_options::overwrite_existing);
    m_folder.write("model.pt2", pt2Bytes(Pt2Kind::RawWeights, smallProgram()));
    return problem({"plan", m_folder / "model.onnx", "--compiler", compiler});
  }
};

TEST_F(StandInForTorchTensorrt, AnotherVersionWithoutAGpuIsASentence) {
  const std::string why = problemOf(environment("torch_tensorrt_rtx", "2.13.0"));
  EXPECT_TRUE(has(why, "Torch-TensorRT 2.13.0 cannot be imported on a machine without an NVIDIA GPU")) << why;
  EXPECT_TRUE(has(why, "-m pip install torch-tensorrt-rtx==2.14.0")) << why;
}

TEST_F(StandInForTorchTensorrt, WhereItIsNotThereItIsSaidWhatToInstall) {
  const std::string why = problemOf(environment("", ""));
  EXPECT_TRUE(has(why, "has no package torch-tensorrt-rtx")) << why;
}

TEST_F(StandInForTorchTensorrt, MetadataWithoutThePackageIsNotThere) {
  const std::string why = problemOf(environment("torch_tensorrt_rtx", "2.14.0"));
  EXPECT_TRUE(has(why, "has no package torch-tensorrt-rtx")) << why;
}

TEST_F(RecordedPartition, AProgramThatCannotBeReadIsToBlameItself) {
  planOf("long_double", "long_double.dryrun.cpu");
  for (const char* program : {"no archive", "PK"}) {
    m_folder.write("model.pt2", program);
    const std::string why = problem({"plan", m_folder / "model.onnx", "--compiler", "torch-tensorrt@" + result()});
    EXPECT_TRUE(has(why, "model.pt2")) << why;
    EXPECT_TRUE(has(why, "cannot be read as a zip archive")) << why;
  }
}

TEST_F(RecordedPartition, PinsAreNotAskedOfIt) {
  const Json plan = planOf("long_double", "long_double.dryrun.cpu", {"--pin", "node_linear=f16"});
  ASSERT_EQ(plan["pins"].size(), 1U);
  EXPECT_NE(plan["pins"][0]["result"], "obeyed");
  EXPECT_TRUE(has(plan["pins"][0]["why"], "Torch-TensorRT uses the types of the exported program")) << plan["pins"];
}

}  // namespace
}  // namespace fusescope::test
