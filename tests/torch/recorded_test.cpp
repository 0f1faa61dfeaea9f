// Answers of torch that were recorded, on a CPU and on a card (recordings/README.md), through every command.
#include <filesystem>

#include "tests/torch/torch_fixture.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class RecordedTorch : public RecordedProgramAnswers {
 protected:
  ProcessResult pack(const fs::path& model, const Words& more = {}) const { return packFor("torch", model, more); }
  /// What `probe open` tells of a recording of bert_tiny.
  Json opened(const std::string& recording, const Words& more = {}, const std::string& questions = "run,time,profile") {
    Words asked{"--do", "plan," + questions, "--inputs", sampleFolder("bert_tiny") / "io.npz"};
    asked.insert(asked.end(), more.begin(), more.end());
    const ProcessResult packed = pack(sampleFolder("bert_tiny") / "model.onnx", asked);
    EXPECT_EQ(packed.status, 0) << packed.err;
    replay(recording);
    return json({"probe", "open", result()});
  }
  static Json layerOf(const Json& time, const std::string& name) {
    for (const Json& layer : time["layers"][0]["layers"])
      if (layer["name"].get<std::string>().ends_with(name)) return layer;
    return Json::object();
  }
  static Words nodesOf(const Json& kernel) {
    Words nodes;
    for (const Json& node : kernel["nodes"]) nodes.push_back(node["node"]);
    return nodes;
  }
};

TEST_F(RecordedTorch, EagerNodesAreKernelsAndViews) {
  const Json told = opened("bert_tiny.eager.f32.cpu");
  EXPECT_EQ(told["failed"], Json::array());
  const Json& plan = told["plan"];
  EXPECT_EQ(plan["compiler"]["name"], "torch");
  EXPECT_EQ(plan["compiler"]["options"]["used_device"], "cpu");
  EXPECT_EQ(plan["options"]["target"], "torch");
  EXPECT_EQ(plan["kernels"].size(), 45U);
  EXPECT_EQ(fates(plan), (std::map<std::string, int>{{"kernel", 70}, {"not_disclosed", 2}, {"view", 16}}));
  EXPECT_EQ(certainties(plan), (std::map<std::string, int>{{"named", 70}}));
  const Json attention = kernelOf(plan, "scaled_dot_product_attention");
  EXPECT_EQ(attention["kind"], "scaled_dot_product_attention");
  EXPECT_EQ(attention["compute"], "f32");
  EXPECT_FALSE(nodesOf(attention).empty());
  EXPECT_TRUE(nodesOf(kernelOf(plan, "linear_12")).empty()) << "nobody reads it, so that the network has no such node";
  EXPECT_LT(told["errors"]["outputs"][0]["max_over_rms"].get<double>(), 1e-5);
  EXPECT_EQ(timedKernels(told["time"]), 45);
  EXPECT_EQ(layerOf(told["time"], "linear_3")["device"], "cpu");
  EXPECT_EQ(layerOf(told["time"], "linear_3")["tactic"], "torch");
}

TEST_F(RecordedTorch, WhatIsTiedIsToldAndWhatIsNotAsWell) {
  const Json plan = opened("bert_tiny.eager.f32.cpu", {}, "run")["plan"];
  const Json tied = decisionOf(plan, "build.program_tied");
  EXPECT_EQ(tied["arguments"]["tied"], 86);
  EXPECT_EQ(tied["arguments"]["nodes"], 88);
  EXPECT_EQ(tied["arguments"]["equal"], 19);
  const Json untied = decisionOf(plan, "build.not_in_program");
  ASSERT_FALSE(untied.empty());
  EXPECT_EQ(untied["subjects"].size(), 1U);
}

TEST_F(RecordedTorch, InductorsKernelsHaveOriginsThatShareInThem) {
  const Json told = opened("bert_tiny.inductor.f32.cpu", {"--compiler-option", "mode=inductor"});
  const Json& plan = told["plan"];
  EXPECT_EQ(plan["kernels"].size(), 22U);
  EXPECT_EQ(fates(plan), (std::map<std::string, int>{{"kernel", 82}, {"not_disclosed", 2}, {"view", 4}}));
  EXPECT_EQ(certainties(plan), (std::map<std::string, int>{{"derived", 133}, {"named", 22}}));
  EXPECT_EQ(kernelOf(plan, "extern_kernels.addmm:2")["kind"], "addmm");
  EXPECT_EQ(kernelOf(plan, "cpp_fused_gelu_view_3:10")["kind"], "cpp_fused");
  EXPECT_TRUE(kernelOf(plan, "extern_kernels.addmm:2")["compute"].is_null()) << "it does not tell types";
  std::map<std::string, int> holders;
  for (const Json& kernel : plan["kernels"])
    for (const std::string& node : nodesOf(kernel)) ++holders[node];
  int shared = 0;
  for (const Json& decision : plan["decisions"]) {
    if (decision["code"] != "build.shares_kernels") continue;
    ++shared;
    EXPECT_EQ(decision["arguments"]["kernels"], holders[decision["subjects"][0]["node"]]) << decision.dump();
  }
  EXPECT_EQ(shared, std::ranges::count_if(holders, [](const auto& node) { return node.second > 1; }));
  EXPECT_EQ(timedKernels(told["time"]), 22);
}

/// The same networks on a card.
struct OnCard {
  const char* name;
  const char* network;
  int kernels, inKernels, views;
};
class RecordedTorchOnCard : public RecordedTorch, public ::testing::WithParamInterface<OnCard> {};

TEST_P(RecordedTorchOnCard, EveryKernelIsTimed) {
  const std::string recording = GetParam().name;
  const auto model = std::string_view(GetParam().network) == "bert_tiny"
                         ? std::optional(sampleFolder("bert_tiny") / "model.onnx")
                         : zooModel(GetParam().network);
  if (!model) GTEST_SKIP() << "no shared test material; set FUSESCOPE_SHARED to its folder";
  Words asked{"--do", "plan,time,profile", "--inputs", model->parent_path() / "io.npz"};
  const bool isHalf = recording.find(".f16") != std::string::npos;
  const bool isInductor = recording.find(".inductor.") != std::string::npos;
  if (isHalf) asked.insert(asked.end(), {"--precision", "f16"});
  if (isInductor) asked.insert(asked.end(), {"--compiler-option", "mode=inductor"});
  const ProcessResult packed = pack(*model, asked);
  ASSERT_EQ(packed.status, 0) << packed.err;
  replay(recording);
  const Json told = json({"probe", "open", result()});
  EXPECT_EQ(told["failed"], Json::array());
  const Json& plan = told["plan"];
  EXPECT_EQ(plan["compiler"]["options"]["used_card"], "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(plan["compiler"]["options"].contains("floats"), isHalf);
  EXPECT_EQ(plan["kernels"].size(), static_cast<std::size_t>(GetParam().kernels));
  EXPECT_EQ(fates(plan)["kernel"], GetParam().inKernels);
  EXPECT_EQ(fates(plan)["view"], GetParam().views);
  EXPECT_EQ(timedKernels(told["time"]), GetParam().kernels);
  EXPECT_TRUE(has(told["time"]["remark"], "no transfers are counted")) << told["time"]["remark"];
  double ms = 0;
  for (const Json& layer : told["time"]["layers"][0]["layers"]) {
    EXPECT_EQ(layer["device"], "NVIDIA H100 80GB HBM3");
    ms += layer["median_ms"].get<double>();
  }
  EXPECT_GT(ms, 0.05);
  EXPECT_LT(ms, told["time"]["median_ms"].get<double>()) << "these networks are too small for the card";
}

INSTANTIATE_TEST_SUITE_P(Networks, RecordedTorchOnCard,
                         ::testing::Values(OnCard{"bert_tiny.eager.f32.h100", "bert_tiny", 45, 70, 16},
                                           OnCard{"bert_tiny.eager.f16.h100", "bert_tiny", 45, 70, 16},
                                           OnCard{"bert_tiny.inductor.f32.h100", "bert_tiny", 22, 82, 4},
                                           OnCard{"bert_tiny.inductor.f16.h100", "bert_tiny", 46, 82, 4},
                                           OnCard{"bert_tiny.inductor.f16whole.h100", "bert_tiny", 22, 82, 4},
                                           OnCard{"unet_small.eager.f32.h100", "unet_small", 38, 88, 0},
                                           OnCard{"unet_small.eager.f16.h100", "unet_small", 38, 88, 0},
                                           OnCard{"unet_small.inductor.f32.h100", "unet_small", 50, 88, 0},
                                           OnCard{"unet_small.inductor.f16.h100", "unet_small", 51, 88, 0},
                                           OnCard{"llama_tiny.eager.f32.h100", "llama_tiny", 96, 102, 30},
                                           OnCard{"llama_tiny.eager.f16.h100", "llama_tiny", 96, 102, 30},
                                           OnCard{"llama_tiny.inductor.f32.h100", "llama_tiny", 32, 128, 4},
                                           OnCard{"llama_tiny.inductor.f16.h100", "llama_tiny", 48, 128, 4},
                                           OnCard{"diffusion_block.eager.f32.h100", "diffusion_block", 33, 69, 36},
                                           OnCard{"diffusion_block.eager.f16.h100", "diffusion_block", 33, 69, 36},
                                           OnCard{"diffusion_block.inductor.f32.h100", "diffusion_block", 33, 99, 6},
                                           OnCard{"diffusion_block.inductor.f16.h100", "diffusion_block", 54, 102, 3}),
                         [](const auto& each) {
                           std::string name = each.param.name;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST_F(RecordedTorch, AutocastRoundsWhatItCalculatesInF16) {
  const Json told = opened("bert_tiny.eager.f16.h100", {"--precision", "f16"});
  EXPECT_EQ(told["plan"]["compiler"]["options"]["floats"], "f16");
  EXPECT_EQ(kernelOf(told["plan"], "linear_3")["compute"], "f16");
  EXPECT_EQ(kernelOf(told["plan"], "layer_norm_1")["compute"], "f32") << "autocast keeps norms";
  const double error = told["errors"]["outputs"][0]["max_over_rms"];
  EXPECT_GT(error, 1e-5);
  EXPECT_LT(error, 1e-2);
}

TEST_F(RecordedTorch, WhatACardMultipliesInTf32IsSaid) {
  const fs::path model = sampleFolder("tiny_resnet_dynbatch") / "model.onnx";
  std::map<std::string, double> errors;
  for (const std::string tf32 : {"default", "off"}) {
    const bool isOff = tf32 == "off";
    const ProcessResult packed = pack(
        model, {"--compiler-option", "tf32=" + tf32, "--do", "plan,run", "--inputs", model.parent_path() / "io.npz"});
    ASSERT_EQ(packed.status, 0) << packed.err;
    replay(std::string("tiny_resnet_dynbatch.eager.f32.") + (isOff ? "tf32off" : "tf32") + ".h100");
    const Json told = json({"probe", "open", result()});
    errors[tf32] = told["errors"]["outputs"][0]["max_over_rms"];
    const Json decision = decisionOf(told["plan"], "build.multiplies_tf32");
    EXPECT_EQ(decision.empty() ? Json() : decision["arguments"]["where"], isOff ? Json() : Json("convolutions"));
  }
  EXPECT_GT(errors["default"], 1e-5);
  EXPECT_LT(errors["off"], 1e-6);
}

TEST_F(RecordedTorch, WhatItRefusedThereIsSaidInItsWords) {
  ASSERT_EQ(pack(sampleFolder("bert_tiny") / "model.onnx", {"--compiler-option", "mode=inductor"}).status, 0);
  replay("bert_tiny.inductor.f32.refused.h100");
  const std::string why = problem({"probe", "open", result()});
  EXPECT_TRUE(has(why, "torch could not compile the exported program. TorchRuntimeError")) << why;
  EXPECT_TRUE(has(why, "_assert_tensor_metadata")) << why;
  replay("llama_tiny.eager.f16whole.refused.h100");
  const std::string halved = problem({"probe", "open", result()});
  EXPECT_TRUE(has(halved, "expected mat1 and mat2 to have the same dtype, but got: float != c10::Half")) << halved;
}

TEST_F(RecordedTorch, EveryVerbTakesAResultAsTheCompiler) {
  opened("bert_tiny.eager.f32.cpu");
  const std::string model = m_folder / "model.onnx", compiler = "torch@" + result();
  const Json plan = json({"plan", model, "--compiler", compiler});
  EXPECT_EQ(plan["kernels"].size(), 45U);
  const Json diff = json({"diff", model, model, "--plan-b", "--compiler " + compiler});
  EXPECT_FALSE(diff.empty());
  const ProcessResult run =
      fusescopeCommand({"run", model, "--compiler", compiler, "--inputs", sampleFolder("bert_tiny") / "io.npz",
                        "--expect", sampleFolder("bert_tiny") / "io.npz"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(RecordedTorch, ANetworkWithoutAProgramIsRefused) {
  fs::copy_file(sampleFolder("bert_tiny") / "model.onnx", m_folder / "model.onnx");
  const Words asked{"probe", "pack", m_folder / "model.onnx", "--compiler", "torch", "-o", m_folder / "job.pyz"};
  const std::string why = problem(asked);
  EXPECT_TRUE(has(why, "model.pt2")) << why;
  EXPECT_TRUE(has(why, "there is none beside the network")) << why;
  Words named = asked;
  named.insert(named.end(), {"--compiler-option", "program=weights/other.pt2"});
  const std::string gone = problem(named);
  EXPECT_TRUE(has(gone, (m_folder / "weights/other.pt2").string())) << gone;
  EXPECT_TRUE(has(gone, "there is no exported program at this path")) << gone;
}

TEST_F(RecordedTorch, PartsOfNetworksAreRefused) {
  const ProcessResult parted = pack(sampleFolder("bert_tiny") / "model.onnx", {"--fallback", "node_linear_3"});
  EXPECT_EQ(parted.status, 2);
  EXPECT_TRUE(has(parted.err, "a part of a network has no exported program")) << parted.err;
}

TEST_F(RecordedTorch, OptionsThatItHasNotAreRefused) {
  for (const char* option : {"mode=fast", "device=tpu", "half=both", "speed=high"}) {
    const ProcessResult refused = pack(sampleFolder("bert_tiny") / "model.onnx", {"--compiler-option", option});
    EXPECT_EQ(refused.status, 2) << option;
  }
}

}  // namespace
}  // namespace fusescope::test
