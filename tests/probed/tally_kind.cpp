// Tally: a compiler behind the probe that is added by this file, a line of the list, and its part of the probe
// (python/fusescope_compiler_tally.py).
#include <fmt/format.h>

#include "base/json_fields.h"
#include "cache/store_clock.h"
#include "compilers/probed/probed_kind.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

class TallyKind final : public ProbedKind {
 public:
  std::string_view name() const override { return "tally"; }
  std::string_view title() const override { return "Tally"; }
  std::string_view target() const override { return "onnxruntime"; }
  CompilerInputTypes inputTypes() const override { return CompilerInputTypes::AsPlanned; }
  std::vector<CompilerOption> options() const override {
    return {{.name = "hands", .values = {"one", "two"}, .initial = "two", .help = "what it counts on"},
            {.name = "effort", .values = {"low", "high"}, .initial = "high", .help = "how far it optimises"},
            {.name = "without", .values = {}, .initial = "", .help = "steps that it leaves out"}};
  }
  std::string whyNot(Ability ability, const Json&) const override {
    return ability == Ability::InnerValues ? "Tally forgets what it counted on the way." : "";
  }

  Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options) const override {
    const auto& given = network.plan->options.compilerOptions;
    const auto hands = given.find("hands");
    const auto effort = given.find("effort"), without = given.find("without");
    return Json{{"threads", options.threads},
                {"hands", hands == given.end() ? "two" : hands->second},
                {"effort", effort == given.end() ? "high" : effort->second},
                {"without", without == given.end() ? "" : without->second}};
  }

  std::optional<OptimiserSwitches> optimiserSwitches() const override {
    return OptimiserSwitches{.level = "effort", .levels = {"low", "high"}, .disable = "without"};
  }
  Result<std::vector<OptimiserStep>> optimiserSteps(const ProbeAnswer& answer) const override {
    std::vector<std::pair<std::string, bool>> told;
    JsonFields fields(answer.json);
    fields.require("steps").read("steps", told);
    if (fields.error()) return *fields.error();
    std::vector<OptimiserStep> steps;
    for (const auto& [name, changed] : told) steps.push_back({.name = name, .changed = changed});
    return steps;
  }

  Result<CompilerSupport> support(const CompilerInput& network, const ProbeAnswer& answer) const override {
    CompilerSupport support;
    std::vector<std::string> refused;
    JsonFields fields(answer.json);
    fields.require("refused").read("refused", refused);
    for (const std::string& name : refused)
      for (const NodeId id : nodesOf(network, name)) {
        const Node& node = network.plan->graph().node(id);
        support.nodes.push_back({.node = node.name,
                                 .isAccepted = false,
                                 .code = "validate.compiler_refused",
                                 .message = "Tally does not count " + node.op});
      }
    return fields.result(std::move(support));
  }

  Result<ReadBack> readBack(const CompilerInput& network, const ProbeAnswer& compiled) const override {
    ReadBack told;
    std::vector<std::pair<std::string, std::vector<std::string>>> kernels;
    JsonFields fields(compiled.json);
    fields.require("kernels").read("kernels", kernels);
    for (const auto& [name, nodes] : kernels) {
      ReadBackKernel kernel{.name = name, .kind = "tally", .compute = DataType::F32};
      for (const std::string& node : nodes)
        for (const NodeId id : nodesOf(network, node)) kernel.nodes.emplace_back(id, Certainty::Named);
      if (!nodes.empty()) addOutputs(network, nodes.back(), kernel);
      told.kernels.push_back(std::move(kernel));
    }
    told.decisions.push_back(decide("build.compiler_warns", {}, network.plan->options.compiler,
                                    {{"compiler", "Tally"}, {"message", "counted on fingers"}}));
    return fields.result(std::move(told));
  }

  std::string_view kernelTimesAre(const CompilerOptions& /*options*/) const override { return "the same in every run"; }
  Result<std::map<std::string, double>> kernelTimes(const CompilerInput&, const ProbeAnswer& profile) const override {
    std::map<std::string, double> times;
    JsonFields fields(profile.json);
    fields.require("kernels").read("kernels", times);
    return fields.result(std::move(times));
  }

 private:
  static void addOutputs(const CompilerInput& network, const std::string& last, ReadBackKernel& kernel) {
    for (const onnxlib::FileNode& node : network.file.graph.nodes)
      for (const std::string& output : node.outputs)
        if (const auto value = network.values.find(output); node.name == last && value != network.values.end())
          kernel.outputs.push_back({.value = value->second, .type = DataType::F32, .format = {}});
  }
  static std::vector<NodeId> nodesOf(const CompilerInput& network, const std::string& name) {
    const auto known = network.nodes.find(name);
    return known == network.nodes.end() ? std::vector<NodeId>() : known->second;
  }
};

}  // namespace

/// Whether an answer is kept depends on how long loading one takes, which on a busy machine may be longer than tally
/// takes to answer. In tests of what is kept no time passes while something is loaded.
[[maybe_unused]] const bool isStoreTimeless = [] {
  setStoreClock([] { return 0.0; });
  return true;
}();

const ProbedKind& tallyKind() {
  static const TallyKind kind;
  return kind;
}

}  // namespace fusescope
