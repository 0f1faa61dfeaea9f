// The kind of OpenVINO, with its CPU plugin.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "compilers/openvino/openvino_options.h"
#include "compilers/openvino/openvino_read_back.h"
#include "compilers/openvino/openvino_support.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Reads the file `name` of an answer with `read`. Errors name this file.
template <class Read>
auto readWritten(const ProbeAnswer& answer, const std::string& name, Read read) -> decltype(read(std::string_view())) {
  const auto found = answer.files.find(name);
  if (found == answer.files.end())
    return Diagnostic{.message = fmt::format("the probe for OpenVINO did not send the file {}", name), .where = {}};
  const std::string text = TRY(readTextFile(found->second));
  auto result = read(std::string_view(text));
  if (result.ok()) return result;
  Diagnostic error = std::move(result).error();
  error.where.file = name;
  return error;
}

class OpenvinoKind : public ProbedKind {
 public:
  std::string_view name() const override { return "openvino"; }
  std::string_view title() const override { return "OpenVINO"; }
  std::string_view target() const override { return "openvino"; }
  CompilerInputTypes inputTypes() const override { return CompilerInputTypes::AsInFile; }

  std::vector<CompilerOption> options() const override {
    return {{.name = "hint",
             .values = {kHintAsPlanned, "f32", "bf16", "f16"},
             .initial = kHintAsPlanned,
             .help = "the type in which it may calculate floats; as planned: the type below f32 of most nodes of the "
                     "plan, else f32"}};
  }

  std::string whyNot(Ability ability, const Json& opened) const override {
    if (ability == Ability::InnerValues)
      return "OpenVINO returns only outputs, and other kernels run if an inner value is made an output.";
    if (ability == Ability::Keep) return "What OpenVINO compiled is not kept in an engine file.";
    const Json devices = opened.value("devices", Json::array());
    const bool hasCpu = std::ranges::any_of(
        devices, [](const Json& device) { return device.is_object() && device.value("name", Json()) == "CPU"; });
    return hasCpu ? "" : "This OpenVINO has no plugin for the CPU.";
  }

  Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options) const override {
    return openvinoOptions(network, options);
  }

  Result<CompilerSupport> support(const CompilerInput& network, const ProbeAnswer& answer) const override {
    const ImportedNetwork imported = TRY(readWritten(answer, "model.json", importedNetwork));
    return openvinoSupport(network, imported, answer.json);
  }

  Result<ReadBack> readBack(const CompilerInput& network, const ProbeAnswer& compiled) const override {
    const ImportedNetwork imported = TRY(readWritten(compiled, "model.json", importedNetwork));
    const ExecutionGraph graph = TRY(readWritten(compiled, "execution.xml", executionGraph));
    ReadBack readBack = openvinoReadBack(network, graph, imported);
    readBack.compiler.name = name();
    const Json hint = compiled.json.value("hint", Json());
    if (!hint.is_string()) return readBack;
    const std::string granted = hint.get<std::string>();
    readBack.compiler.options.emplace("granted_hint", granted);
    const DataType asked = openvinoHint(*network.plan);
    if (dataTypeFromName(granted) && granted != fusescope::name(asked))
      readBack.decisions.push_back(
          decide("build.hint_granted", {}, network.plan->options.compiler,
                 {{"compiler", title()}, {"asked", fusescope::name(asked)}, {"granted", granted}}));
    return readBack;
  }

  std::string_view kernelTimesAre(const CompilerOptions& /*options*/) const override {
    return "means over all runs, the first included, in whole microseconds";
  }
  Result<std::map<std::string, double>> kernelTimes(const CompilerInput&, const ProbeAnswer& profile) const override {
    return openvinoTimes(TRY(readWritten(profile, "execution.xml", executionGraph)));
  }

  NodeId failedAt(const CompilerInput& network, const Diagnostic& error) const override {
    const std::string called = nodeInError(error.message);
    for (const onnxlib::FileNode& node : network.file.graph.nodes) {
      if (called.empty() || (node.name != called && std::ranges::count(node.outputs, called) == 0)) continue;
      const auto known = network.nodes.find(node.name);
      if (known != network.nodes.end() && !known->second.empty()) return known->second.front();
    }
    return ProbedKind::failedAt(network, error);
  }
};

}  // namespace

const ProbedKind& openvinoKind() {
  static const OpenvinoKind kKind;
  return kKind;
}

}  // namespace fusescope
