// The kind of TensorRT for servers if only its program trtexec is installed. The probe starts it for each question, and
// its output is read like files of engines that were built elsewhere.
#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "compilers/probed/handed_names.h"
#include "compilers/tensorrt/family_answers.h"
#include "compilers/tensorrt/kernel_names.h"
#include "compilers/tensorrt/read_built_engine.h"
#include "compilers/tensorrt/server_kind.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

class TrtexecKind final : public ServerKind {
 public:
  std::string_view name() const override { return "trtexec"; }
  std::string_view title() const override { return "trtexec"; }
  std::string untried() const override {
    return "Nobody has run trtexec through Fusescope yet: this part was written from its help text, and tried with "
           "logs and files that others have published.";
  }
  bool saysSupport() const override { return false; }
  std::string whyNot(Ability ability, const Json& opened) const override {
    if (ability == Ability::Support) return kNoSupport;
    return ServerKind::whyNot(ability, opened);
  }
  Result<CompilerSupport> support(const CompilerInput& /*network*/, const ProbeAnswer& /*answer*/) const override {
    return Diagnostic{.message = kNoSupport};
  }

  /// Adds the types of the outputs, because trtexec writes numbers without their types.
  Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options) const override {
    Json json = TRY(ServerKind::requestOptions(network, options));
    json.erase("threads");  // trtexec has no such option
    for (const onnxlib::FileValue& output : network.file.graph.outputs)
      json["outputs"][output.name] = fusescope::name(output.type.dtype);
    return json;
  }

  Result<ReadBack> readBack(const CompilerInput& network, const ProbeAnswer& compiled) const override {
    EngineFiles files{.layers = TRY(parsed(compiled, kLayers, parseEngineLayers))};
    files.log = TRY(parsed(compiled, kLog, parseEngineLog));
    ReadBack readBack = readBuiltEngine(network, files);
    keepAnswers(compiled, {"device"}, readBack);
    warnOfNodes(network, compiled, "calculation_set_in_part",
                "the parser made several layers of the node, and the type was set only for the first one: before "
                "version 9, trtexec cannot name the others",
                readBack);
    warnOfNodes(network, compiled, "output_set_in_part",
                "the parser made several layers of the node, and the type was set only for the output of the first "
                "one, which is not the output of the node: trtexec cannot name the others",
                readBack);
    std::vector<std::string> words;
    for (const Json& word : memberOf(compiled.json, "command"))
      if (word.is_string()) words.push_back(word.get<std::string>());
    if (!words.empty()) readBack.compiler.options["command"] = joined(words, " ");
    return readBack;
  }

  std::string_view kernelTimesAre(const CompilerOptions& /*options*/) const override {
    return "medians over all runs, or means if no medians are reported; the time of a whole run is the sum of the "
           "means";
  }
  Result<std::map<std::string, double>> kernelTimes(const CompilerInput& network,
                                                    const ProbeAnswer& profile) const override {
    std::map<std::string, double> times;
    KernelNames names;
    for (const ProfiledLayer& layer : TRY(parsed(profile, kProfile, parseEngineProfile)).layers) {
      std::string kernel = names.next(inNamesOfNetwork(network, layer.name));
      if (const auto ms = layer.ms()) times.emplace(std::move(kernel), *ms);
    }
    return times;
  }

 private:
  static constexpr const char* kLog = "build.log";
  static constexpr const char* kLayers = "layers.json";
  static constexpr const char* kProfile = "profile.json";
  static constexpr const char* kNoSupport =
      "trtexec reports what it refuses only when it builds an engine, so only a build shows this.";
};

}  // namespace

const ProbedKind& trtexecKind() {
  static const TrtexecKind kKind;
  return kKind;
}

}  // namespace fusescope
