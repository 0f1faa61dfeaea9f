// The kind of Torch-TensorRT: reports which parts of an exported program (.pt2) would become TensorRT engines, and what
// would stay in torch. Only its dry run is used, which converts nothing.
#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "compilers/probed/probed_kind.h"
#include "compilers/tensorrt/family_answers.h"
#include "compilers/torch/handed_program.h"
#include "compilers/torch_tensorrt/partition_read_back.h"
#include "planning/read_back/compiled_engines.h"

namespace fusescope {
namespace {

constexpr const char* kMinBlockSize = "min-block-size";
constexpr const char* kTruncateDouble = "truncate-double";
constexpr const char* kTorchExecutedOps = "torch-executed-ops";
constexpr const char* kRequireFull = "require-full-compilation";
constexpr const char* kOn = "on";
constexpr const char* kOff = "off";

// The target whose types the engines of its RTX flavour have.
constexpr const char* kRtxTarget = "tensorrt-rtx";
constexpr const char* kServerTarget = "tensorrt-10";

constexpr const char* kOnlyADryRun =
    "Torch-TensorRT is used only for its dry run, which reports how it divides a program and makes no engine that "
    "could be run. Its engines are engines of TensorRT, which --compiler tensorrt-rtx builds from the network; torch "
    "itself runs the program with --compiler torch.";
constexpr const char* kSaysInADryRun =
    "Torch-TensorRT reports what it supports only in a dry run of the whole program, and only a build starts this dry "
    "run.";

std::vector<CompilerOption> dryRunOptions() {
  return {
      {.name = kMinBlockSize,
       .values = {},
       .initial = "5",
       .help = "the least number of operators in an engine; a block with fewer stays in torch"},
      {.name = kTruncateDouble,
       .values = {kOff, kOn},
       .initial = kOff,
       .help = "on: float64 inputs of an engine are cast to float32 before the engine"},
      {.name = kTorchExecutedOps,
       .values = {},
       .initial = {},
       .help = "operators that stay in torch, separated by commas, by the names that they have when Torch-TensorRT has "
               "lowered the program: torch.ops.aten.linear.default"},
      {.name = kRequireFull,
       .values = {kOff, kOn},
       .initial = kOff,
       .help = "on: a program that does not become one engine as a whole is refused"},
      torch_compiler::programOption(torch_compiler::kTorch)};
}

std::string asked(const Plan& plan, std::string_view option) {
  return torch_compiler::optionOf(plan, dryRunOptions(), option);
}

Result<std::int64_t> leastOperators(const Plan& plan) {
  const std::string text = asked(plan, kMinBlockSize);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number > 0) return number;
  return Diagnostic{.message = fmt::format("option '{}' of torch-tensorrt cannot be '{}'", kMinBlockSize, text),
                    .where = {.attribute = "--compiler-option"},
                    .help = "Give a number of operators, 1 or more."};
}

Json keptInTorch(const Plan& plan) {
  Json names = Json::array();
  for (std::string name : split(asked(plan, kTorchExecutedOps), ',')) {
    std::erase(name, ' ');
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

LoweredPin notAsked(const PrecisionGrant& grant) {
  return {
      .node = grant.node,
      .type = grant.asked,
      .isExpressible = false,
      .how =
          "Torch-TensorRT uses the types of the exported program, and none of its options changes them node by node."};
}

class TorchTensorrtKind final : public ProbedKind {
 public:
  std::string_view name() const override { return "torch-tensorrt"; }
  std::string_view title() const override { return torch_tensorrt::kTitle; }
  /// It accepts whole programs: nodes without an engine stay in torch, which has all operators.
  std::string_view target() const override { return torch_compiler::kTorch; }
  CompilerInputTypes inputTypes() const override { return CompilerInputTypes::AsInFile; }
  std::vector<CompilerOption> options() const override { return dryRunOptions(); }

  std::string whyNot(Ability ability, const Json& /*opened*/) const override {
    switch (ability) {
      case Ability::Compile:
      case Ability::ReadBack:
        return {};
      case Ability::Support:
        return kSaysInADryRun;
      case Ability::Run:
      case Ability::Time:
      case Ability::Profile:
      case Ability::InnerValues:
        return kOnlyADryRun;
      case Ability::Keep:
        return "A dry run makes nothing that could be kept, but it can be repeated.";
    }
    return {};
  }

  bool saysSupport() const override { return false; }

  Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options) const override {
    const Plan& plan = *network.plan;
    const std::int64_t least = TRY(leastOperators(plan));
    Json json = TRY(torch_compiler::handProgram(network, options, title()));
    network.pins.clear();
    for (const PrecisionGrant& grant : plan.precisionMap)
      if (grant.asked != DataType::Undefined) network.pins.push_back(notAsked(grant));
    json["min_block_size"] = least;
    json["truncate_double"] = asked(plan, kTruncateDouble) == kOn;
    json["torch_executed_ops"] = keptInTorch(plan);
    json["require_full_compilation"] = asked(plan, kRequireFull) == kOn;
    return json;
  }

  Result<CompilerSupport> support(const CompilerInput& /*network*/, const ProbeAnswer& /*answer*/) const override {
    return Diagnostic{.message = kSaysInADryRun};
  }

  Result<ReadBack> readBack(const CompilerInput& network, const ProbeAnswer& compiled) const override {
    const Plan& plan = *network.plan;
    const auto program = TRY(torch_compiler::programFacts(TRY(fileText(compiled, "program.json", title()))));
    const auto tied = TRY(torch_compiler::programNetwork(network, program));
    const auto partition = TRY(torch_tensorrt::programPartition(TRY(fileText(compiled, "partition.json", title()))));
    ReadBack readBack = torch_tensorrt::partitionReadBack(
        network, program, tied, partition,
        {.leastOperators = TRY(leastOperators(plan)), .truncatesDouble = asked(plan, kTruncateDouble) == kOn});
    for (const char* key : {"flavour", torch_compiler::kTorch, "tensorrt"})
      if (std::string text = textMember(compiled.json, key); !text.empty())
        readBack.compiler.options.emplace(std::string("used_") + key, std::move(text));
    readBack.compiler.options.emplace(kEnginesFor, isForRtx(compiled.json) ? kRtxTarget : kServerTarget);
    if (asked(plan, kTruncateDouble) == kOn)
      readBack.compiler.options.emplace(kEnginesNarrow, std::string(fusescope::name(DataType::F64)));
    addTargetDecisions(compiled.json, plan.options.compiler, readBack);
    return readBack;
  }

  std::string_view kernelTimesAre(const CompilerOptions& /*options*/) const override { return "not measured"; }
  Result<std::map<std::string, double>> kernelTimes(const CompilerInput& /*network*/,
                                                    const ProbeAnswer& /*profile*/) const override {
    return Diagnostic{.message = kOnlyADryRun};
  }

  /// It does not know the numbers of nodes.
  NodeId failedAt(const CompilerInput& /*network*/, const Diagnostic& /*error*/) const override { return {}; }

 private:
  static bool isForRtx(const Json& compiled) { return textMember(compiled, "flavour") == "rtx"; }

  /// Reports which parts of it are not supported by its authors, and which have not been tried.
  static void addTargetDecisions(const Json& compiled, const Cause& by, ReadBack& readBack) {
    const bool isWithoutGpu = memberOf(compiled, "without_gpu") == true;
    if (isWithoutGpu)
      readBack.decisions.push_back(decide("build.without_gpu", {}, by, {{"compiler", torch_tensorrt::kTitle}}));
    if (!isWithoutGpu)
      readBack.decisions.push_back(
          decide("build.dry_run_untried", {}, by, {{"compiler", torch_tensorrt::kTitle}, {"where", "with a GPU"}}));
    if (!isForRtx(compiled))
      readBack.decisions.push_back(
          decide("build.dry_run_untried", {}, by,
                 {{"compiler", torch_tensorrt::kTitle}, {"where", "in its flavour for servers"}}));
  }
};

}  // namespace

const ProbedKind& torchTensorrtKind() {
  static const TorchTensorrtKind kKind;
  return kKind;
}

}  // namespace fusescope
